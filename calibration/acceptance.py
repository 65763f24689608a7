"""The acceptance bars of verdicts, changes and BBQ scores, each beside its measured value.

python -m calibration.acceptance --studies 400

Prints the share of studies, its Wilson interval of 95 %, and the bar; then the interval of one
score on recorded answers, if they are there. Ends with 1 where a bar is missed.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

import biaswatch as bw
from biaswatch.readers.suites import load_suite
from biaswatch.shared.analysis.changes.matched_changes import compare_runs
from biaswatch.shared.analysis.changes.matched_prompts import matched_prompts
from biaswatch.shared.analysis.changes.run_changes import ChangePlan, ChangeVerdict, RunChange
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from calibration.bbq_coverage import UNIFIEDQA, bbq_coverage, misses_unifiedqa

Rng = np.random.Generator
SUITES = Path(__file__).parents[1] / "suites"
RATINGS = {"rating": (1.0, 5.0)}
ALPHA = 0.05
RESIDUAL_SD = 0.5
CHANGE_SD = 0.84
"""Residual SD with which a t test of differences of differences finds a change of 0.4 in 0.667 of
studies, as in the study that the bar of 0.60 is from."""


@dataclass(frozen=True)
class Bar:
    """Promises of one study: it returns whether each was kept, and the share it must have."""

    names: tuple[str, ...]
    happens: Callable[[Rng], bool | tuple[bool, ...]]
    share: float
    at_least: bool


def main() -> int:
    """Print every bar with its measured share."""
    parser = argparse.ArgumentParser(prog="python -m calibration.acceptance")
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--only", default="", help="bars whose name contains it")
    parser.add_argument("--first", type=int, default=0, help="the number of the first study")
    parser.add_argument("--data", type=Path, default=SUITES.parents[1] / "shared" / "data")
    options = parser.parse_args()
    missed = 0
    for bar in (bar for bar in bars() if any(options.only in name for name in bar.names)):
        studies = range(options.first, options.first + options.studies)
        seeds = ([crc32(bar.names[0].encode()), number] for number in studies)
        kept = [np.atleast_1d(bar.happens(np.random.default_rng(seed))) for seed in seeds]
        for name, count in zip(bar.names, np.sum(kept, axis=0).tolist(), strict=True):
            missed += _misses(name, count, options.studies, bar)
    if options.only in UNIFIEDQA:
        missed += misses_unifiedqa(options.data)
    return 1 if missed else 0


def _misses(name: str, count: int, studies: int, bar: Bar) -> bool:
    """Print the measured share of a bar, and return whether it misses."""
    low, high = proportion_confint(count, studies, method="wilson")
    misses = bool(high < bar.share if bar.at_least else low > bar.share)
    print(
        f"{name:64} {count / studies:.3f} [{low:.3f}, {high:.3f}]"
        f" {'>=' if bar.at_least else '<='} {bar.share:.3f}{'  MISSED' if misses else ''}",
        flush=True,
    )
    return misses


def bars() -> Iterator[Bar]:
    """Yield all bars."""
    detection = (("same_treatment", "differs"),)
    rows = (
        ("12 twins, gap 0.6", 12, (0.70, 0.25, 0.05), 0.70, True),
        ("20 twins, gap 0.42", 20, (0.50, 0.45, 0.05), 0.72, True),
        ("null twins, 12 sets", 12, (0.25, 0.50, 0.25), ALPHA, False),
    )
    for name, sets, shares, share, at_least in rows:
        yield Bar(
            (name,), partial(_says, partial(_ternary, sets, shares), detection), share, at_least
        )
    yield Bar(
        ("6 sets, gap 2.0",), partial(_says, partial(_family, 2, 1, 2.0), detection), 0.95, True
    )
    four = partial(_family, 2, 4, 2.0)
    yield Bar(("4 features of 6 sets, gap 2.0",), partial(_says, four, detection), 0.95, True)
    three = partial(_family, 3, 1, 2.0)
    yield Bar(("3 groups, 6 sets, gap 2.0",), partial(_says, three, detection), 0.95, True)
    crossed = partial(_says, partial(_two_dimensions, 2.0), detection)
    yield Bar(("6 sets of race and gender, gap 2.0 of one",), crossed, 0.95, True)
    crossed = partial(_says, partial(_two_dimensions, 0.0), detection)
    yield Bar(("6 sets of race and gender, null",), crossed, ALPHA, False)
    yield from _bars_of_random_factors()
    yield from _bars_of_changes_and_scores()


def _bars_of_random_factors() -> Iterator[Bar]:
    for suite in ("lending", "hiring-cvs", "hiring-demo.yaml"):
        for sds in ((0.1, 0.0), (0.35, 0.3)):
            draw = partial(_suite, _probes(suite), *sds, 0.0)
            yield _null_of_groups(f"{suite}, SDs {sds[0]} and {sds[1]}", draw)
    for gap, share in ((0.3, 0.93), (0.5, 0.99)):
        draw = partial(_suite, _probes("lending"), 0.1, 0.1, gap)
        happens = partial(_says, draw, (("group_effect", "differs"),), of_shifted=True)
        yield Bar((f"lending, gap {gap}, SDs 0.1: group_effect",), happens, share, True)
    for names, texts, name_sd, text_sd in ((8, 30, 0.15, 0.4), (20, 36, 0.1, 0.3)):
        draw = partial(_crossed, names, texts, name_sd, text_sd)
        yield _null_of_groups(f"every name with every text, {names} x {texts}", draw)


def _null_of_groups(name: str, draw: Callable[[Rng], "Table"]) -> Bar:
    """Return the bar of a table without an effect of the group, for both words about it."""
    words = (("group_effect", "differs"), ("verdict", "disparity"))
    names = tuple(f"{name}, no effect: {column}" for column, _ in words)
    return Bar(names, partial(_says, draw, words), ALPHA, False)


def _bars_of_changes_and_scores() -> Iterator[Bar]:
    for change, share in ((0.4, 0.60), (0.0, ALPHA)):
        name = f"gap that changes by {change}, 60 sets x 2 repeats: verdict of the gap"
        yield Bar((name,), partial(_gap_changed, 60, 2, change), share, at_least=change > 0)
    yield Bar(("no change: verdict of any mean or share",), _level_changed, ALPHA, at_least=False)
    for name, covers in bbq_coverage():
        yield Bar((name,), covers, 0.93, True)


@dataclass(frozen=True)
class Table:
    """A simulated table, and how it is diagnosed."""

    frame: pd.DataFrame
    random: tuple[str, ...] = ()
    features: tuple[str, ...] = ("rating",)
    shifted: str | None = None
    groups: tuple[str, ...] = ("group",)
    ranges: dict[str, tuple[float, float]] | None = None


def _says(
    draw: Callable[[Rng], Table],
    words: tuple[tuple[str, str], ...],
    rng: Rng,
    *,
    of_shifted: bool = False,
) -> tuple[bool, ...]:
    """Return whether any comparison, or any with the shifted group, has each word."""
    table = draw(rng)
    rows = bw.diagnose(
        table.frame, group=list(table.groups), feature=list(table.features), unit="unit", set="set",
        random=list(table.random), permutations=0,
        ranges=table.ranges,
    ).comparisons  # fmt: skip
    if of_shifted:
        rows = rows[(rows["a"] == table.shifted) | (rows["b"] == table.shifted)]
    return tuple(bool((rows[column] == word).any()) for column, word in words)


def _ternary(sets: int, shares: tuple[float, ...], rng: Rng) -> Table:
    differences = rng.choice([1.0, 0.0, -1.0], sets, p=shares)
    values = np.stack([3 + differences, np.full(sets, 3.0)], axis=1)[:, :, None]
    return Table(_frame(values), ranges=RATINGS)


def _family(groups: int, features: int, gap: float, rng: Rng) -> Table:
    """Return 6 sets; the first group has the gap on every feature, SD of differences 0.7."""
    values = 3 + rng.normal(0, 0.7 / 2**0.5, (6, groups, features))
    values[:, 0] += gap
    names = tuple(f"f{place}" for place in range(features))
    return Table(_frame(values, names), features=names)


def _two_dimensions(gap: float, rng: Rng) -> Table:
    """Return 6 sets of two races and two genders; races have the gap."""
    frame = pd.DataFrame(product("012345", "ab", "mf"), columns=["set", "race", "gender"])
    frame["unit"] = frame["set"] + frame["race"] + frame["gender"]
    frame["rating"] = 3 + gap * (frame["race"] == "a") + rng.normal(0, RESIDUAL_SD, len(frame))
    return Table(frame, groups=("race", "gender"))


def _frame(values: np.ndarray, names: tuple[str, ...] = ("rating",)) -> pd.DataFrame:
    sets, groups, _ = values.shape
    place, group = np.divmod(np.arange(sets * groups), groups)
    frame = pd.DataFrame({"set": place.astype(str), "group": np.array(list("abc"))[group]})
    frame["unit"] = frame["set"] + frame["group"]
    for feature, name in enumerate(names):
        frame[name] = values[:, :, feature].ravel()
    return frame


def _probes(suite: str) -> pd.DataFrame:
    """Return the probes of a suite with names and texts, grouped by race."""
    probes = [probe for probe in load_suite(SUITES / suite).probes if "race" in probe.groups]
    return pd.DataFrame(
        {
            "unit": [probe.key for probe in probes],
            "set": [probe.set for probe in probes],
            "group": [probe.groups["race"] for probe in probes],
            "name": [probe.stimuli["name"] for probe in probes],
            "text": [probe.stimuli["text"] for probe in probes],
        }
    )


def _suite(probes: pd.DataFrame, name_sd: float, text_sd: float, gap: float, rng: Rng) -> Table:
    """Return ratings of a suite's probes; the first group in the alphabet has the gap."""
    frame = probes.copy()
    shifted = str(min(frame["group"]))
    values = 3 + gap * (frame["group"] == shifted).to_numpy()
    values = values + _effects(frame["name"], name_sd, rng) + _effects(frame["text"], 0.5, rng)
    values += _effects(frame["text"] + frame["group"], text_sd / 2**0.5, rng)
    values += rng.normal(0, RESIDUAL_SD, len(frame))
    frame["rating"] = np.clip(np.rint(values), 1, 5)
    return Table(frame, ("name", "text"), shifted=shifted, ranges=RATINGS)


def _crossed(names: int, texts: int, name_sd: float, text_sd: float, rng: Rng) -> Table:
    text, name = (part.ravel() for part in np.divmod(np.arange(texts * 2 * names), 2 * names))
    probes = pd.DataFrame({"name": name.astype(str), "text": text.astype(str)})
    probes["group"] = np.where(name < names, "a", "b")
    probes["set"], probes["unit"] = probes["text"], probes["name"] + "-" + probes["text"]
    return _suite(probes, name_sd, text_sd, 0.0, rng)


def _gap_changed(sets: int, repeats: int, change: float, rng: Rng) -> bool:
    """Return whether `compare` says that the gap of two runs of twins changed."""
    return any(row.subject.is_gap for row in _changed(sets, repeats, change, rng))


def _level_changed(rng: Rng) -> bool:
    return any(not row.subject.is_gap for row in _changed(60, 2, 0.0, rng))


def _changed(sets: int, repeats: int, change: float, rng: Rng) -> list[RunChange]:
    """Return the changes that are found, by the corrected p-values of the default plan."""
    level = rng.normal(3, 0.7, sets)
    place, group = np.divmod(np.arange(2 * sets * repeats) // repeats, 2)
    runs = []
    for shift in (0.0, change):
        ratings = level[place] + shift * group + rng.normal(0, CHANGE_SD, len(place))
        run = Observations(
            ("rating",),
            np.clip(np.rint(ratings), 1, 5)[:, None],
            {"group": [str(code) for code in group]},
            units=[f"{code}-{of_set}" for code, of_set in zip(group, place, strict=True)],
            sets=[str(of_set) for of_set in place],
            ranges=dict(RATINGS),
        )
        runs.append(run)
    changes = compare_runs(
        matched_prompts([("", runs[0], runs[1])]), ChangePlan(ComparisonPlan(ALPHA))
    ).changes
    return [row for row in changes if row.verdict is ChangeVerdict.CHANGED]


def _effects(labels: pd.Series, sd: float, rng: Rng) -> np.ndarray:
    codes = pd.factorize(labels)[0]
    return rng.normal(0, sd, int(codes.max()) + 1)[codes]


if __name__ == "__main__":
    sys.exit(main())
