"""The hiring study's measures against the recorded ratings of two models."""

import json
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.studies.hiring import (
    CvRating,
    CvVariant,
    consistency,
    quality,
    total_bias,
    total_bias_by_chance,
)
from tests.support.recorded import RecordedData

STUDIES = {"gpt-4-turbo": "gpt4turbo.json", "claude-sonnet-4": "sonnet4.json"}
SCAFFOLDS = ("one_shot", "chain_of_thought", "multi_layer", "decomposed_algorithmic")
TRUTH_OF_SET = {"set1": 3.0, "set2": 2.0, "set3": 2.0}
RACES = ("white", "black", "asian")
GENDERS = ("male", "female")
PAIRS = {
    "W-B": ("white", "black"),
    "W-A": ("white", "asian"),
    "B-A": ("black", "asian"),
    "M-F": ("male", "female"),
}


def rating(record: dict[str, Any]) -> CvRating:
    value = float(record["ranking"]) or None  # the study writes 0 where it could read nothing
    return CvRating(record["cv_id"], value)


def groups(cv: str) -> dict[str, str]:
    _, race, *rest = cv.split("_")
    return {} if race == "neutral" else {"race": race, "gender": rest[0]}


def read(folder: Path, model: str, scaffold: str) -> list[CvRating]:
    study = json.loads((folder / STUDIES[model]).read_text())
    runs = [run for run in study if run["pipeline"] == scaffold]
    return [rating(record) for run in runs for record in run["rankings"]]


def made_ratings(seed: int, repeats: int = 10) -> list[CvRating]:
    """Return ratings of three CVs under six names and none, of our own making."""
    rng = np.random.default_rng(seed)
    names = ["neutral", *(f"{race}_{gender}" for race in RACES for gender in GENDERS)]
    return [
        CvRating(f"{cv}_{name}", float(np.clip(right + rng.integers(-1, 2), 1, 4)))
        for cv, right in TRUTH_OF_SET.items()
        for name in names
        for _ in range(repeats)
    ]


def values(ratings: list[CvRating], trait: str, group: str | None) -> list[float | None]:
    return [r.value for r in ratings if groups(r.cv).get(trait) == group]


def variants_of(ratings: list[CvRating]) -> list[CvVariant]:
    """Return the variants that name a group, with all their ratings."""
    names = sorted({r.cv for r in ratings if groups(r.cv)})
    return [
        CvVariant(cv.split("_")[0], groups(cv), [r.value for r in ratings if r.cv == cv])
        for cv in names
    ]


def loop_bias(variants: list[CvVariant], labels: list[Mapping[str, str]], fixed: bool) -> float:
    """Return the total bias by loops, and nan where two groups cannot be compared."""
    rated = [
        (v.set, g, float(np.mean([x for x in v.values if x is not None])))
        for v, g in zip(variants, labels, strict=True)
        if any(x is not None for x in v.values)
    ]
    total = 0.0
    for trait in sorted(labels[0]):
        gaps = []
        for a, b in combinations(sorted({g[trait] for g in labels}), 2):
            within = []
            for name in {name for name, *_ in rated if name is not None}:
                x, y = (
                    [m for s, g, m in rated if s == name and g[trait] == side] for side in (a, b)
                )
                if x and y:
                    within.append(np.mean(x) - np.mean(y))
            x, y = ([m for _, g, m in rated if g[trait] == side] for side in (a, b))
            alone = np.mean(x) - np.mean(y) if x and y else np.nan
            in_sets = any(v.set is not None for v in variants)
            if in_sets and fixed:
                gaps.append(np.mean(within) if within else np.nan)
            else:
                gaps.append(np.mean(within) if len(within) >= 2 else alone)
        total += float(np.mean(np.abs(gaps)))
    return total


def truth(ratings: list[CvRating]) -> dict[str, float]:
    return {r.cv: TRUTH_OF_SET[r.cv.split("_")[0]] for r in ratings}


@pytest.mark.parametrize("model", STUDIES)
@pytest.mark.parametrize("scaffold", SCAFFOLDS)
def test_every_recorded_measure_comes_out(
    recorded_data: RecordedData, model: str, scaffold: str
) -> None:
    known = json.loads((recorded_data("golden") / "cv_scaffolds.json").read_text())
    expected = known[f"{model}|{scaffold}"]
    ratings = read(recorded_data("data/cv"), model, scaffold)
    measure = quality(ratings, truth(ratings))
    assert measure.n == expected["n"]
    assert measure.mae == pytest.approx(expected["mae"], abs=1e-12)
    assert measure.value == pytest.approx(expected["quality"], abs=1e-9)
    neutral = [v for v in values(ratings, "race", None) if v is not None]
    assert np.mean(neutral) == pytest.approx(expected["neutral"], abs=1e-12)
    traits = {"race": RACES, "gender": GENDERS}
    samples = {g: values(ratings, trait, g) for trait, names in traits.items() for g in names}
    bias = total_bias(variants_of(ratings), fixed=True)
    assert bias.value == pytest.approx(expected["total_bias"], abs=1e-12)
    for key, (a, b) in PAIRS.items():
        trait = "gender" if a in GENDERS else "race"
        gap = bias.gaps.get((trait, a, b)) or -bias.gaps.get((trait, b, a), 0.0)
        assert gap == pytest.approx(expected[key]["diff"], abs=1e-12)
        rated = [[v for v in samples[name] if v is not None] for name in (a, b)]
        assert [len(values) for values in rated] == expected[key]["n"]


def uneven(seed: int) -> list[CvVariant]:
    """Return variants of four CVs with gaps everywhere: ratings, variants and sets are missing."""
    rng = np.random.default_rng(seed)
    made = []
    for cv in ("one", "two", "three", None):
        for race in RACES:
            for gender in GENDERS:
                rated = [float(rng.integers(1, 5)) for _ in range(rng.integers(1, 6))]
                values = [None] if rng.random() < 0.25 else rated
                made.append(CvVariant(cv, {"race": race, "gender": gender}, values))
    return made


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_total_bias_is_the_mean_size_of_gaps_within_sets(seed: int, fixed: bool) -> None:
    variants = uneven(seed)
    expected = loop_bias(variants, [v.groups for v in variants], fixed)
    assert total_bias(variants, fixed=fixed).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("fixed", [True, False])
def test_the_total_bias_by_chance_is_that_of_labels_exchanged_within_sets(fixed: bool) -> None:
    variants = uneven(3)
    rng, loops = np.random.default_rng(4), Random(4)
    measure = total_bias_by_chance(variants, rng, fixed=fixed, times=300)
    expected = []
    for _ in range(300):
        labels: dict[int, Mapping[str, str]] = {}
        for name in {v.set for v in variants}:
            own = [v for v in variants if v.set == name]
            drawn = loops.sample([v.groups for v in own], len(own))
            labels |= {id(v): g for v, g in zip(own, drawn, strict=True)}
        expected.append(loop_bias(variants, [labels[id(v)] for v in variants], fixed))
    assert stats.ks_2samp(measure, expected).pvalue > 0.01


def test_a_text_that_was_rated_more_often_makes_no_bias() -> None:
    def variant(cv: str, group: str, values: list[float | None]) -> CvVariant:
        return CvVariant(cv, {"g": group}, values)

    often = [
        variant("weak", "a", [1.0] * 9), variant("weak", "b", [1.0]),
        variant("strong", "a", [4.0]), variant("strong", "b", [4.0] * 9),
    ]  # fmt: skip
    assert total_bias(often, fixed=True).value == 0
    absent = [*often[:2], often[2], variant("strong", "b", [None])]
    assert total_bias(absent, fixed=True).value == 0
    assert total_bias(absent, fixed=False).value == 1.5  # one shared set is no sample of sets


def test_labels_are_exchanged_within_sets_alone() -> None:
    high, low = [5.0, 5.0], [1.0, 1.0]
    variants = [
        CvVariant("x", {"g": "a"}, high),
        CvVariant("x", {"g": "b"}, high),
        CvVariant("y", {"g": "a"}, low),
        CvVariant("y", {"g": "b"}, low),
    ]
    rng = np.random.default_rng(0)
    assert not total_bias_by_chance(variants, rng, fixed=True, times=20).any()
    loose = [CvVariant(None, v.groups, v.values) for v in variants]
    assert total_bias_by_chance(loose, rng, fixed=True, times=20).any()


def test_consistency_is_the_mean_spread_within_variants() -> None:
    ratings = made_ratings(2, repeats=2)
    cells = [[r.value for r in ratings if r.cv == cv] for cv in truth(ratings)]
    for ddof in (0, 1):
        measure = consistency(ratings, ddof=ddof)
        expected = np.mean([np.std(np.array(cell, dtype=float), ddof=ddof) for cell in cells])
        assert measure.mean_sd == pytest.approx(expected, abs=1e-12)
        assert measure.one_answer == sum(len(set(cell)) == 1 for cell in cells) / 21
        assert (measure.cells, measure.left_out) == (21, 0)


def test_ratings_that_could_not_be_read_are_counted_and_are_not_zero() -> None:
    ratings = [CvRating("x", v) for v in (3.0, None, float("nan"), 2.0)]
    measure = quality(ratings, {"x": 3.0})
    assert (measure.value, measure.n) == (90.0, 2)
    empty = [CvVariant("x", {"g": "w"}, [3.0]), CvVariant("x", {"g": "b"}, [None])]
    without = total_bias(empty, fixed=False)
    assert (without.value, without.reason) == (None, "no ratings by which to compare b and w")
    assert quality([CvRating("x", None)], {"x": 3.0}).reason == "no rating could be read"
    assert total_bias(empty[:1], fixed=True).reason == "fewer than two groups"
    lone = consistency([CvRating("x", 3.0), CvRating("x", None)])
    assert (lone.mean_sd, lone.left_out) == (None, 1)
    with pytest.raises(ValueError, match="there is no right rating for x"):
        quality([CvRating("x", 3.0)], {})
