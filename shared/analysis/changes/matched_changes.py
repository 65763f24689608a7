"""Changes between two runs on the prompts that both have."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.changes.matched_prompts import MatchedPrompts
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
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.groupings import (
    ComparisonPlan,
    Grouping,
    GroupPair,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Whole
from biaswatch.shared.analysis.findings.units import SideUnits
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.changes import (
    ChangeResult,
    TwoRunsAnswers,
    change_samples,
    fixed_prompts_gap_change,
    fixed_prompts_level_change,
)
from biaswatch.shared.stats.comparisons.compared_samples import MIN_UNITS, ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import GapResult, compare_samples, mean_gap


def compare_runs(matched: MatchedPrompts, plan: ChangePlan) -> RunChanges:
    """Test every change between two runs on the prompts that both have.

    A prompt's change is one value. The gap of two groups' changes is the change of their gap, and
    is compared as gaps are: within the sets that both groups have, singly elsewhere.
    """
    runs = MatchedRuns(matched, plan.comparisons)
    shares = MatchedRuns(matched.missing_shares(), plan.comparisons)
    tests = [
        *_gap_tests(runs),
        *_level_tests(runs, ChangeOf.MEAN, plan.comparisons.tolerance),
        *_level_tests(shares, ChangeOf.MISSING, plan.missing_tolerance),
    ]
    return run_changes(tests, plan.comparisons.alpha)


def _gap_tests(runs: "MatchedRuns") -> Iterator[ChangeTest]:
    for dimension in runs.matched.groups:
        gaps = GapChanges(runs, grouping(runs.matched.changes, (dimension,)))
        for pair in gaps.sampled.compared:
            for index, feature in enumerate(runs.matched.features):
                subject = gap_subject(gaps.grouping, pair, feature)
                yield GapChange(subject, runs.plan.tolerance, gaps, pair, index)


def _level_tests(runs: "MatchedRuns", of: ChangeOf, tolerance: float) -> Iterator[ChangeTest]:
    for prompts, subject_of in level_subjects(runs.matched.changes, of):
        levels = MeanChanges(runs, prompts)
        for index, feature in enumerate(runs.matched.features):
            yield LevelChange(subject_of(feature), tolerance, levels, index)


@dataclass(frozen=True)
class MatchedRuns:
    """Two runs on the prompts that they share, and how their changes are tested."""

    matched: MatchedPrompts
    plan: ComparisonPlan

    @cached_property
    def worst(self) -> tuple["MatchedRuns", "MatchedRuns"]:
        """The same, had the missing answers made all values fall, or rise, the most."""
        lowered, raised = (self.matched.at_worst(raised=raised) for raised in (False, True))
        return MatchedRuns(lowered, self.plan), MatchedRuns(raised, self.plan)

    @property
    def is_bank(self) -> bool:
        """True if prompts are fixed and each answer is a unit."""
        return self.plan.claim is Claim.BANK

    @cached_property
    def codes(self) -> tuple[Whole, Whole]:
        """The unit and the set of each prompt, as codes."""
        changes = self.matched.changes
        return changes.unit_codes, changes.set_codes

    def answers(self, prompts: Whole, feature: int) -> TwoRunsAnswers:
        """Return the answers of both runs to some prompts."""
        runs = (self.matched.before, self.matched.after)
        return TwoRunsAnswers(*(run.by_prompt(prompts, feature) for run in runs))

    def counts(self, prompts: Whole, feature: int) -> AnswerCounts:
        """Return how many answers to some prompts each run has with and without a value."""
        numbers = list[int]()
        for run in (self.matched.before, self.matched.after):
            values = run.values[np.isin(run.prompts, prompts), feature]
            numbers += [present := int(np.isfinite(values).sum()), len(values) - present]
        before, missing_before, after, missing_after = numbers
        return AnswerCounts(len(prompts), before, after, missing_before, missing_after)

    def enough_answers(self, prompts: Whole, feature: int) -> bool:
        """Return whether each run has two answers to prompts that both answered."""
        counts = self.counts(prompts[np.isfinite(self.matched.means[0][prompts, feature])], feature)
        return min(counts.n_before, counts.n_after) >= MIN_UNITS


class MeanChanges:
    """The means over some prompts before and after: the unit is the set, or else the prompt."""

    def __init__(self, runs: MatchedRuns, prompts: Whole) -> None:
        self.runs, self.prompts = runs, prompts

    @cached_property
    def worst(self) -> tuple["MeanChanges", "MeanChanges"]:
        """With the missing answers such that all values fall, or rise, the most."""
        lowered, raised = self.runs.worst
        return MeanChanges(lowered, self.prompts), MeanChanges(raised, self.prompts)

    @cached_property
    def units(self) -> tuple[Floats, Floats]:
        """[units, features], before and after; nan where either run has no value."""
        codes = self.runs.codes
        before, after = (
            SideUnits.of(self.runs.matched.as_means(means), *codes, self.prompts)
            for means in self.runs.matched.means
        )
        return _stacked(before), _stacked(after)


@dataclass(frozen=True)
class LevelChange(ChangeTest):
    """The change of the mean of a feature over some prompts."""

    of: MeanChanges
    feature: int

    @property
    def testable(self) -> bool:
        """True if there are two units."""
        if self.of.runs.is_bank:
            return self.of.runs.enough_answers(self.of.prompts, self.feature)
        return self._samples.testable

    def counts(self) -> AnswerCounts:
        """Return the prompts and answers behind the change."""
        return self.of.runs.counts(self.of.prompts, self.feature)

    def result(self, family: int) -> ChangeResult:
        """Return the change with its tests."""
        runs = self.of.runs
        alpha, bounds = runs.plan.alpha, runs.matched.bounds[self.feature]
        if runs.is_bank:
            return fixed_prompts_level_change(
                runs.answers(self.of.prompts, self.feature),
                bounds=bounds, alpha=alpha, tolerance=self.tolerance, family=family,
                guessed=runs.matched.guessed[self.feature],
            )  # fmt: skip
        samples = self._samples
        gap = compare_samples(samples, alpha=alpha, tolerance=self.tolerance, family=family)
        return ChangeResult(gap, _mean(samples.paired_b), _mean(samples.paired_a))

    def at_worst(self) -> Iterator[GapResult]:
        """Return the change with the missing answers at either end of the range."""
        for levels in self.of.worst:
            yield replace(self, of=levels).result(1).result

    @property
    def _samples(self) -> ComparedSamples:
        """The units after and before, all in pairs."""
        before, after = (units[:, self.feature] for units in self.of.units)
        present = np.isfinite(before)
        return ComparedSamples(
            after[present], before[present], bounds=self.of.runs.matched.bounds[self.feature]
        )


class GapChanges:
    """The gaps of a grouping: after less before."""

    def __init__(self, runs: MatchedRuns, grouping: Grouping) -> None:
        self.runs, self.grouping = runs, grouping
        # Each prompt's change is one value: the gap of the changes is the change of the gap.
        declared = ComparisonPlan(runs.plan.alpha, runs.plan.tolerance, against=runs.plan.against)
        matched = runs.matched
        self.sampled = SampledGroups(matched.changes, grouping, declared)
        self.by_run = [
            SampledGroups(matched.as_means(means), grouping, declared) for means in matched.means
        ]

    @cached_property
    def worst(self) -> tuple["GapChanges", "GapChanges"]:
        """With the missing answers such that all values fall, or rise, the most."""
        lowered, raised = self.runs.worst
        return GapChanges(lowered, self.grouping), GapChanges(raised, self.grouping)

    @cached_property
    def sets(self) -> dict[Hashable, Hashable] | None:
        """The set of each prompt, where there are sets."""
        codes = enumerate(self.runs.codes[1].tolist()) if self.runs.matched.sets else ()
        return {prompt: its_set for prompt, its_set in codes if its_set >= 0} or None

    def prompts(self, pair: GroupPair) -> tuple[Whole, Whole]:
        """Return the prompts of both sides."""
        codes = self.grouping.codes
        a, b = (np.flatnonzero(np.isin(codes, side)) for side in self.sampled.members(pair))
        return a, b


@dataclass(frozen=True)
class GapChange(ChangeTest):
    """The change of the gap of two groups."""

    of: GapChanges
    pair: GroupPair
    feature: int

    @property
    def testable(self) -> bool:
        """True if each side has two units."""
        if self.of.runs.is_bank:
            sides = self.of.prompts(self.pair)
            return all(self.of.runs.enough_answers(side, self.feature) for side in sides)
        return self.of.sampled.samples(self.pair, self.feature).testable

    def counts(self) -> AnswerCounts:
        """Return the prompts and answers behind the change."""
        return self.of.runs.counts(np.concatenate(self.of.prompts(self.pair)), self.feature)

    def result(self, family: int) -> ChangeResult:
        """Return the change with its tests."""
        return self._result(self.of, self.of, family)

    def at_worst(self) -> Iterator[GapResult]:
        """Return the change with the missing answers least favourable for a, then for b."""
        low, high = self.of.worst
        for of_a, of_b in ((low, high), (high, low)):
            yield self._result(of_a, of_b, 1).result

    def _result(self, of_a: GapChanges, of_b: GapChanges, family: int) -> ChangeResult:
        if of_a.runs.is_bank:
            return self._on_fixed_prompts(of_a, of_b, family)
        a, b = of_a.sampled.pair_of(self.pair)[0], of_b.sampled.pair_of(self.pair)[1]
        bounds = of_a.sampled.bounds_of(self.pair, self.feature)
        samples = of_a.sampled.paired_samples(a, b, self.feature, bounds)
        gap = of_a.sampled.result(change_samples(samples), a.clustered or b.clustered, family)
        if (factors := self._factors(of_a, of_b)) is not None:
            gap = gap_of_factors(factors.gap(self.pair, self.feature), of_a.sampled.plan, family)
        before, after = (mean_gap(run.samples(self.pair, self.feature)) for run in of_a.by_run)
        return ChangeResult(gap, before, after)

    def _factors(self, of_a: GapChanges, of_b: GapChanges) -> RandomFactors | None:
        """Return the random factors of both sides' changes, each as in its own runs."""
        changes = of_a.sampled.observations
        if not changes.random:
            return None
        values, in_b = changes.values.copy(), self.of.prompts(self.pair)[1]
        values[in_b] = of_b.sampled.observations.values[in_b]
        return RandomFactors(replace(changes, values=values), self.of.grouping)

    def _on_fixed_prompts(self, of_a: GapChanges, of_b: GapChanges, family: int) -> ChangeResult:
        plan, (in_a, in_b) = self.of.runs.plan, self.of.prompts(self.pair)
        return fixed_prompts_gap_change(
            of_a.runs.answers(in_a, self.feature), of_b.runs.answers(in_b, self.feature),
            sets=self.of.sets, bounds=self.of.runs.matched.bounds[self.feature],
            alpha=plan.alpha, tolerance=plan.tolerance, family=family,
            guessed=self.of.runs.matched.guessed[self.feature],
        )  # fmt: skip


def _stacked(side: SideUnits) -> Floats:
    return np.concatenate([side.by_set.values, side.alone])


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
