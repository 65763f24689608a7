"""Changes between two runs that share few prompts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from biaswatch.shared.analysis.changes.matched_prompts import (
    common_bounds,
    first_by_pattern,
    prompt_keys,
)
from biaswatch.shared.analysis.changes.run_changes import (
    AnswerCounts,
    ChangeOf,
    ChangePlan,
    ChangeTest,
    RunChanges,
    gap_subject,
    level_subjects,
    run_changes,
)
from biaswatch.shared.analysis.findings.factors import RandomFactors, gap_of_factors
from biaswatch.shared.analysis.findings.gap_samples import FEW_CLUSTERS, SampledGroups
from biaswatch.shared.analysis.findings.groupings import (
    ComparisonPlan,
    Grouping,
    GroupPair,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Observations, Whole, ends_of
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.changes import ChangeResult, gap_change
from biaswatch.shared.stats.comparisons.compared_samples import MIN_UNITS, Bounds, ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import GapResult, mean_gap
from biaswatch.shared.stats.comparisons.random_factors import difference_of_factor_gaps
from biaswatch.shared.stats.estimate import undefined

AFTER, BEFORE, RUN = "after", "before", "run"
"""In this order: a gap of the two is the value after minus the value before."""


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
        own = [{key for part, part_keys in zip(parts, keys, strict=True) if part[1] == side
                for key in part_keys} for side in (0, 1)]  # fmt: skip
        shared = own[0] & own[1]
        units, sets = list[str](), list[str | None]()
        for (name, side, run), part_keys in zip(parts, keys, strict=True):
            labels = run.sets or [None] * run.rows
            in_both = {label for key, label in zip(part_keys, labels, strict=True) if key in shared}
            units += [f"{name}/{key[1]}" if key in shared else f"{name}/{side}/{key[1]}"
                      for key in part_keys]  # fmt: skip
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
            random={name: [label for run in every for label in run.random[name]]
                    for name in first.random if all(name in run.random for run in every)},
        )  # fmt: skip
        is_after = np.concatenate([np.full(run.rows, float(side)) for _, side, run in parts])
        return cls(answers, is_after, plan)

    @property
    def missing(self) -> "WholeRuns":
        """The same answers, 1 where they are missing and 0 elsewhere, once where features agree."""
        lost = np.isnan(self.answers.values).astype(np.float64)
        first = first_by_pattern(self.answers.features, lost)
        ranges: dict[str, Bounds | None] = dict.fromkeys(first, (0.0, 1.0))
        values = lost[:, list(first.values())]
        shown = replace(self.answers, features=tuple(first), values=values, ranges=ranges)
        return replace(self, answers=shown)

    def levels(self, rows: Whole) -> SampledGroups:
        """Return some rows, to compare those of one run with those of the other."""
        run = [AFTER if after else BEFORE for after in self.is_after[rows]]
        selected = replace(self.answers.at(rows), groups={RUN: run})
        return SampledGroups(selected, grouping(selected, (RUN,)), self.plan)

    def filled(self, one: Grouping, sides: tuple[list[int], list[int]], *, up: bool) -> "WholeRuns":
        """Return the missing answers such that the gap of two sides rises, or falls, the most."""
        values = self.answers.values.copy()
        for side, group_up in zip(sides, (up, not up), strict=True):
            for after in (0.0, 1.0):
                own = np.isin(one.codes, side) & (self.is_after == after)
                highest = group_up == bool(after)
                for feature in range(values.shape[1]):
                    lost = own & np.isnan(values[:, feature])
                    bounds = self.answers.ranges[self.answers.features[feature]]
                    ends = ends_of(bounds, self.answers.values[:, feature])
                    values[lost, feature] = ends[int(highest)]
        return replace(self, answers=replace(self.answers, values=values))

    def counts(self, rows: Whole, feature: int) -> AnswerCounts:
        """Return how many answers among some rows each run has with and without a value."""
        present = np.isfinite(self.answers.values[rows, feature])
        after = self.is_after[rows] == 1
        units = [self.answers.units[row] for row in rows] if self.answers.units else []
        return AnswerCounts(
            prompts=len(set(units)),
            n_before=int((present & ~after).sum()),
            n_after=int((present & after).sum()),
            n_missing_before=int((~present & ~after).sum()),
            n_missing_after=int((~present & after).sum()),
        )


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
        return SampledGroups(self.runs.answers.at(rows), groups, self.runs.plan)

    def samples(self, pair: GroupPair, feature: int) -> tuple[ComparedSamples, ComparedSamples]:
        """Return the units of two groups after and before, in the range of both."""
        bounds = self.runs.answers.ranges[self.runs.answers.features[feature]]
        after, before = (
            run.paired_samples(*run.pair_of(pair), feature, bounds) for run in self.by_run
        )
        return after, before

    def has_few_families(self, pair: GroupPair, feature: int) -> bool:
        """Return whether prompts come in families and a group has fewer than five of them."""
        for run, samples in zip(self.by_run, self.samples(pair, feature), strict=True):
            single = min(len(samples.only_a), len(samples.only_b))
            clustered = any(side.clustered for side in run.pair_of(pair))
            if clustered and not samples.testable and single >= MIN_UNITS:
                return True
        return False


def compare_whole_runs(
    runs: Sequence[tuple[str, Observations, Observations]], plan: ChangePlan
) -> RunChanges:
    """Test every change between two runs by all their answers, whatever prompts they share.

    A mean after is compared with the mean before as two groups are: prompts, or sets, of both runs
    in pairs, the others singly. A gap after minus the gap before is a difference of two independent
    gaps. Families are those of `compare_runs`. Runs are given as to `matched_prompts`;
    the claim is about the population of prompts, since the runs have no common bank.
    """
    declared = replace(plan.comparisons, claim=Claim.POPULATION)
    whole = WholeRuns.of(runs, declared)
    missing = replace(whole.missing, plan=replace(declared, tolerance=plan.missing_tolerance))
    tests = [
        *_gap_tests(whole),
        *_level_tests(whole, ChangeOf.MEAN),
        *_level_tests(missing, ChangeOf.MISSING),
    ]
    return run_changes(tests, declared.alpha)


def _gap_tests(whole: WholeRuns) -> Iterator[ChangeTest]:
    for dimension in whole.answers.groups:
        groups = grouping(whole.answers, (dimension,))
        for pair in groups.compared(whole.plan.against):
            for index, feature in enumerate(whole.answers.features):
                subject = gap_subject(groups, pair, feature)
                yield IndependentGapChange(
                    subject, whole.plan.tolerance, whole, groups, pair, index
                )


@dataclass(frozen=True)
class IndependentGapChange(ChangeTest):
    """The change of the gap of two groups, as a difference of two independent gaps."""

    whole: WholeRuns
    grouping: Grouping
    pair: GroupPair
    feature: int

    def result(self, family: int) -> ChangeResult:
        """Return the change with its tests."""
        runs, plan = RunGaps(self.whole, self.grouping), self.whole.plan
        after, before = runs.samples(self.pair, self.feature)
        change = gap_change(
            after, before, alpha=plan.alpha, tolerance=plan.tolerance, family=family
        )
        if self.whole.answers.random:
            gaps = [
                RandomFactors(run.observations, run.grouping).gap(self.pair, self.feature)
                for run in runs.by_run
            ]
            change = gap_of_factors(difference_of_factor_gaps(*gaps), plan, family)
        elif runs.has_few_families(self.pair, self.feature):
            no_interval = undefined(FEW_CLUSTERS, value=change.marginal.value)
            change = GapResult(no_interval, no_interval, None, None)
        return ChangeResult(change, mean_gap(before), mean_gap(after))

    def at_worst(self) -> Iterator[GapResult]:
        """Return the change with the missing answers least favourable for either side."""
        sides = self.grouping.members(self.pair)
        for up in (True, False):
            filled = self.whole.filled(self.grouping, sides, up=up)
            yield replace(self, whole=filled).result(1).result

    def counts(self) -> AnswerCounts:
        """Return the prompts and answers behind the change."""
        groups = list(chain(*self.grouping.members(self.pair)))
        rows = np.flatnonzero(np.isin(self.grouping.codes, groups))
        return self.whole.counts(rows, self.feature)


def _level_tests(whole: WholeRuns, of: ChangeOf) -> Iterator[ChangeTest]:
    for rows, subject_of in level_subjects(whole.answers, of):
        sampled = whole.levels(rows)
        pair = next(iter(sampled.compared), None)
        if pair is None:  # only one of the runs asked this group
            continue
        for index, feature in enumerate(whole.answers.features):
            counts = whole.counts(rows, index)
            yield IndependentLevelChange(
                subject_of(feature), whole.plan.tolerance, sampled, pair, index, counts
            )


@dataclass(frozen=True)
class IndependentLevelChange(ChangeTest):
    """The change of a mean, as a comparison of the answers of one run with those of the other."""

    sampled: SampledGroups
    pair: GroupPair
    feature: int
    answers: AnswerCounts

    def result(self, family: int) -> ChangeResult:
        """Return the change with its tests."""
        result = self.sampled.compare(self.pair, self.feature, family).result
        after, before = (
            float(values.mean()) if len(values) else None
            for values in (self.sampled.units.values(group, self.feature) for group in (0, 1))
        )
        return ChangeResult(result, before, after)

    def at_worst(self) -> Iterable[GapResult]:
        """Return the change with the missing answers least favourable for either side."""
        return self.sampled.at_worst(self.pair, self.feature)

    def counts(self) -> AnswerCounts:
        """Return the prompts and answers behind the change."""
        return self.answers
