"""The prompts that two runs have in common, with the answers of both runs to each."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.observations import Labels, Observations, Whole, ends_of
from biaswatch.shared.lookup import grouped
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, implied_bounds
from biaswatch.shared.stats.samples import FLAT_RTOL

PromptKey = tuple[str, str, tuple[str | None, ...]]
"""Its domain, its name, and its groups."""


@dataclass(frozen=True)
class RunAnswers:
    """The answers of one run to the prompts."""

    prompts: Whole
    """[answers]: the prompt of each, by its row in `MatchedPrompts`."""
    values: Floats
    """[answers, features]; nan is missing."""

    def means(self, prompts: int) -> Floats:
        """Return [prompts, features]: the mean of each prompt, nan where nothing is present."""
        present = np.isfinite(self.values)
        shape = (prompts, self.values.shape[1])
        sums, counts = np.zeros(shape), np.zeros(shape)
        np.add.at(sums, self.prompts, np.where(present, self.values, 0.0))
        np.add.at(counts, self.prompts, present)
        means: Floats = np.divide(sums, counts, out=np.full(shape, np.nan), where=counts > 0)
        return means

    def by_prompt(self, rows: Whole, feature: int) -> dict[Hashable, list[float | None]]:
        """Return the answers to some prompts, missing ones as nan."""
        answers: dict[Hashable, list[float | None]] = {int(row): [] for row in rows}
        own = np.isin(self.prompts, rows)
        values = self.values[own, feature].tolist()
        for prompt, value in zip(self.prompts[own].tolist(), values, strict=True):
            answers[prompt].append(value)
        return answers


@dataclass(frozen=True)
class MatchedPrompts:
    """The prompts of both runs, one row each, and the answers to them."""

    features: tuple[str, ...]
    bounds: tuple[Bounds | None, ...]
    """By feature, the range of the values of both runs; None where it is not known."""
    guessed: tuple[bool, ...]
    """By feature, whether the range was read from the values, since no run declares it."""
    groups: Mapping[str, Labels]
    units: Labels
    sets: Labels | None
    domains: Labels
    random: Mapping[str, Labels]
    """The value of each random factor that the first run declares."""
    before: RunAnswers
    after: RunAnswers
    only_before: int = 0
    """Prompts that the second run lacks; they are left out."""
    only_after: int = 0

    @property
    def prompts(self) -> int:
        """How many prompts both runs have."""
        return len(self.units)

    @cached_property
    def means(self) -> tuple[Floats, Floats]:
        """Each prompt's mean before and after; nan in both where one of them has no value."""
        means = [answers.means(self.prompts) for answers in (self.before, self.after)]
        both = np.isfinite(means[0]) & np.isfinite(means[1])
        before, after = (np.where(both, mean, np.nan) for mean in means)
        return before, after

    def as_means(self, values: Floats) -> Observations:
        """Return the prompts as observations with one value each, in the features' range."""
        return self._observations(values, self.bounds)

    @cached_property
    def changes(self) -> Observations:
        """The prompts as observations whose values are their changes: at most the whole range."""
        before, after = self.means
        change = after - before
        noise = np.abs(change) <= FLAT_RTOL * np.maximum(np.abs(before), np.abs(after))
        ranges = [None if b is None else (b[0] - b[1], b[1] - b[0]) for b in self.bounds]
        return self._observations(np.where(noise, 0.0, change), ranges)

    def missing_shares(self) -> "MatchedPrompts":
        """Return the same prompts with 1 for each missing answer, once where features agree."""
        lost = [np.isnan(run.values).astype(np.float64) for run in (self.before, self.after)]
        first = first_by_pattern(self.features, np.concatenate(lost))
        columns = list(first.values())
        return replace(
            self,
            features=tuple(first),
            bounds=((0.0, 1.0),) * len(first),
            guessed=(False,) * len(first),
            before=replace(self.before, values=lost[0][:, columns]),
            after=replace(self.after, values=lost[1][:, columns]),
        )

    def at_worst(self, *, raised: bool) -> "MatchedPrompts":
        """Return the prompts with missing answers such that all values rise, or fall, the most."""
        values = np.concatenate([self.before.values, self.after.values])
        ends = np.array([ends_of(*pair) for pair in zip(self.bounds, values.T, strict=True)])
        ends = ends.reshape(-1, 2)
        before, after = (ends[:, 0], ends[:, 1]) if raised else (ends[:, 1], ends[:, 0])
        return replace(self, before=_filled(self.before, before), after=_filled(self.after, after))

    def _observations(self, values: Floats, bounds: Sequence[Bounds | None]) -> Observations:
        return Observations(
            self.features, values, self.groups, self.units, self.sets, self.domains,
            random=self.random,
            ranges=dict(zip(self.features, bounds, strict=True)),
        )  # fmt: skip


def matched_prompts(runs: Sequence[tuple[str, Observations, Observations]]) -> MatchedPrompts:
    """Match the prompts of two runs by name and groups.

    Parameters
    ----------
    runs
        By domain (a target and scaffold): its name, and the answers before and after. All have the
        same features and dimensions, and a unit in each row. Sets and factors are the first run's.
    """
    first = runs[0][1]
    keys = [[prompt_keys(domain, run[side]) for domain, *run in runs] for side in (0, 1)]
    keys_by_side = [[key for keys_of_run in side for key in keys_of_run] for side in keys]
    shared = sorted(set(keys_by_side[0]) & set(keys_by_side[1]), key=str)
    row_of = {key: row for row, key in enumerate(shared)}
    values = [np.concatenate([run[side].values for _, *run in runs]) for side in (0, 1)]
    before, after = (_answers(*run, row_of) for run in zip(keys_by_side, values, strict=True))
    seen = np.concatenate([before.values, after.values])
    place = {
        key: (run, row)
        for (_, run, _), run_keys in zip(runs, keys[0], strict=True)
        for row, key in enumerate(run_keys)
    }
    places = [place[key] for key in shared]
    sets = [run.sets[row] if run.sets else None for run, row in places]
    return MatchedPrompts(
        features=first.features,
        bounds=tuple(
            common_bounds(seen[:, index], name, [run for _, *both in runs for run in both])
            for index, name in enumerate(first.features)
        ),
        guessed=tuple(
            any(run.is_guessed(index) for _, *both in runs for run in both)
            for index in range(len(first.features))
        ),
        groups={name: [key[2][i] for key in shared] for i, name in enumerate(first.groups)},
        units=[unit for _, unit, _ in shared],
        sets=sets if any(sets) else None,
        domains=[domain for domain, _, _ in shared],
        random={name: [run.random[name][row] for run, row in places] for name in first.random},
        before=before,
        after=after,
        only_before=len(set(keys_by_side[0]) - set(keys_by_side[1])),
        only_after=len(set(keys_by_side[1]) - set(keys_by_side[0])),
    )


def common_bounds(values: Floats, feature: str, runs: Sequence[Observations]) -> Bounds | None:
    """Return the range that holds what every run declares, or else what the values speak of.

    None where a run declares that the range of the feature is not known.
    """
    declared = [run.ranges[feature] for run in runs if feature in run.ranges]
    ends = [bounds for bounds in declared if bounds is not None]
    if len(ends) < len(declared):
        return None
    if len(ends) < len(runs):
        return implied_bounds(values)
    return min(low for low, _ in ends), max(high for _, high in ends)


def prompt_keys(domain: str, rows: Observations) -> list[PromptKey]:
    """Return the prompt of each answer, as a key that both runs share."""
    levels = zip(*rows.groups.values(), strict=True) if rows.groups else [()] * rows.rows
    units = rows.units or ()
    return [(domain, str(unit), tuple(of)) for unit, of in zip(units, levels, strict=True)]


def _answers(
    keys: Sequence[PromptKey], values: Floats, row_of: Mapping[PromptKey, int]
) -> RunAnswers:
    prompts = np.array([row_of.get(key, -1) for key in keys], dtype=np.intp)
    finite = np.where(np.isfinite(values), values, np.nan)
    order = np.lexsort((*finite.T, prompts))  # sums differ with the order of repeats
    order = order[prompts[order] >= 0]
    return RunAnswers(prompts[order], finite[order])


def _filled(answers: RunAnswers, ends: Floats) -> RunAnswers:
    return replace(answers, values=np.where(np.isnan(answers.values), ends, answers.values))


def first_by_pattern(features: Sequence[str], lost: Floats) -> dict[str, int]:
    """Return the first feature of those missing in the same answers, by their joined names."""
    patterns = grouped((lost[:, index].tobytes(), index) for index in range(len(features)))
    return {
        _joined([features[index] for index in indices]): indices[0] for indices in patterns.values()
    }


def _joined(names: Sequence[str]) -> str:
    """Return the first three of several names, and the number of the others."""
    shown, more = ", ".join(names[:3]), len(names) - 3
    return f"{shown} and {more} more" if more > 0 else shown
