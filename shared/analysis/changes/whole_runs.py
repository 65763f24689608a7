"""Two runs whose prompts differ, as one table: every answer counts, and its run is a group."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.changes.matched_prompts import (
    common_bounds,
    joined_names,
    prompt_keys,
)
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.groupings import ComparedGroups, Grouping, grouping
from biaswatch.shared.analysis.findings.observations import Floats, Observations, Whole
from biaswatch.shared.analysis.findings.plans import ComparisonPlan
from biaswatch.shared.stats.comparisons.compared_samples import LEAST_UNITS, Bounds, ComparedSamples

AFTER, BEFORE, RUN = "after", "before", "run"
"""In this order: a gap of the two is the value after less the value before."""


@dataclass(frozen=True)
class WholeRuns:
    """All answers of both runs, one row each."""

    answers: Observations
    """With the groups that both runs have, and the range of each feature in both."""
    is_after: Floats
    """[rows]: 1 for an answer of the second run, 0 for one of the first."""
    plan: ComparisonPlan

    @classmethod
    def of(
        cls, runs: Sequence[tuple[str, Observations, Observations]], plan: ComparisonPlan
    ) -> "WholeRuns":
        """Return the answers of two runs, which are given as to `matched_prompts`.

        A prompt of both is one unit. A set is the same in both only where they share a prompt of
        it: sets of other suites are called alike by chance.
        """
        parts = [(name, side, run) for name, *both in runs for side, run in enumerate(both)]
        keys = [prompt_keys(name, run) for name, _, run in parts]
        own = [{key for part, some in zip(parts, keys, strict=True) if part[1] == side
                for key in some} for side in (0, 1)]  # fmt: skip
        shared = own[0] & own[1]
        units, sets = list[str](), list[str | None]()
        for (name, side, run), some in zip(parts, keys, strict=True):
            labels = run.sets or [None] * run.rows
            in_both = {label for key, label in zip(some, labels, strict=True) if key in shared}
            units += [f"{name}/{key[1]}" if key in shared else f"{name}/{side}/{key[1]}"
                      for key in some]  # fmt: skip
            sets += [None if label is None else f"{name}/{label}" if label in in_both
                     else f"{name}/{side}/{label}" for label in labels]  # fmt: skip
        every = [run for _, _, run in parts]
        values = np.concatenate([run.values for run in every])
        values = np.where(np.isfinite(values), values, np.nan)
        first = every[0]
        ranges = {
            feature: common_bounds(values[:, index], feature, every)
            for index, feature in enumerate(first.features)
        }
        answers = Observations(
            first.features, values,
            {name: [label for run in every for label in run.groups[name]] for name in first.groups},
            units, sets if any(sets) else None,
            [name for name, _, run in parts for _ in range(run.rows)], ranges=ranges,
        )  # fmt: skip
        is_after = np.concatenate([np.full(run.rows, float(side)) for _, side, run in parts])
        return cls(answers, is_after, plan)

    @property
    def missing(self) -> "WholeRuns":
        """The same answers, 1 where they are missing and 0 elsewhere, once where features agree."""
        lost = np.isnan(self.answers.values).astype(np.float64)
        alike: dict[bytes, list[int]] = {}
        for index in range(lost.shape[1]):
            alike.setdefault(lost[:, index].tobytes(), []).append(index)
        named = [joined_names([self.answers.features[i] for i in some]) for some in alike.values()]
        ranges: dict[str, Bounds | None] = dict.fromkeys(named, (0.0, 1.0))
        values = lost[:, [some[0] for some in alike.values()]]
        shown = replace(self.answers, features=tuple(named), values=values, ranges=ranges)
        return replace(self, answers=shown)

    def levels(self, rows: Whole) -> SampledGroups:
        """Return some rows, to compare those of one run with those of the other."""
        run = [AFTER if after else BEFORE for after in self.is_after[rows]]
        mine = replace(_only(self.answers, rows), groups={RUN: run})
        return SampledGroups(mine, grouping(mine, (RUN,)), self.plan)

    def gaps(self, one: Grouping) -> "RunGaps":
        """Return the gaps of a grouping in each run."""
        return RunGaps(self, one)

    def filled(self, one: Grouping, sides: tuple[list[int], list[int]], *, up: bool) -> "WholeRuns":
        """Return the missing answers such that the gap of two sides rises, or falls, the most."""
        values = self.answers.values.copy()
        for side, group_up in zip(sides, (up, not up), strict=True):
            for after in (0.0, 1.0):
                mine = np.isin(one.codes, side) & (self.is_after == after)
                highest = group_up == bool(after)
                for feature in range(values.shape[1]):
                    lost = mine & np.isnan(values[:, feature])
                    values[lost, feature] = self._ends(feature)[int(highest)]
        return replace(self, answers=replace(self.answers, values=values))

    def _ends(self, feature: int) -> Bounds:
        """Return the range of a feature, or else of the values that were seen."""
        bounds = self.answers.ranges[self.answers.features[feature]]
        there = self.answers.values[:, feature][np.isfinite(self.answers.values[:, feature])]
        if bounds is not None or not len(there):
            return bounds or (0.0, 0.0)
        return float(there.min()), float(there.max())


@dataclass(frozen=True)
class RunGaps:
    """The gaps of the groups of a dimension, after and before."""

    runs: WholeRuns
    grouping: Grouping

    @cached_property
    def by_run(self) -> tuple[SampledGroups, SampledGroups]:
        """The groups, ready to be compared: those of the second run, those of the first."""
        after, before = (self._of(np.flatnonzero(self.runs.is_after == run)) for run in (1.0, 0.0))
        return after, before

    def _of(self, rows: Whole) -> SampledGroups:
        groups = replace(self.grouping, codes=self.grouping.codes[rows])
        return SampledGroups(_only(self.runs.answers, rows), groups, self.runs.plan)

    def samples(
        self, pair: ComparedGroups, feature: int
    ) -> tuple[ComparedSamples, ComparedSamples]:
        """Return the units of two groups after and before, in the range of both."""
        bounds = self.runs.answers.ranges[self.runs.answers.features[feature]]
        after, before = (run.sampled(*run.pair_of(pair), feature, bounds) for run in self.by_run)
        return after, before

    def has_few_families(self, pair: ComparedGroups, feature: int) -> bool:
        """Return whether prompts come in families, of which a group has fewer than five."""
        for run, samples in zip(self.by_run, self.samples(pair, feature), strict=True):
            single = min(len(samples.only_a), len(samples.only_b))
            clustered = any(side.clustered for side in run.pair_of(pair))
            if clustered and not samples.testable and single >= LEAST_UNITS:
                return True
        return False


def _only(answers: Observations, rows: Whole) -> Observations:
    def kept(labels: Sequence[str | None]) -> list[str | None]:
        return [labels[row] for row in rows.tolist()]

    return replace(
        answers,
        values=answers.values[rows],
        groups={name: kept(labels) for name, labels in answers.groups.items()},
        units=None if answers.units is None else kept(answers.units),
        sets=None if answers.sets is None else kept(answers.sets),
        domains=None if answers.domains is None else kept(answers.domains),
    )
