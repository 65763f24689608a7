"""Every change between two runs that hardly share a prompt, as one family."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from biaswatch.shared.analysis.changes.matched_prompts import (
    common_bounds,
    joined_names,
    prompt_keys,
)
from biaswatch.shared.analysis.changes.run_changes import (
    ChangeOf,
    ChangePlan,
    ChangeSubject,
    ChangeVerdict,
    RunChange,
    RunChanges,
    conclude_change,
    one_of,
    stands,
)
from biaswatch.shared.analysis.findings.gap_samples import FEW_CLUSTERS, SampledGroups
from biaswatch.shared.analysis.findings.groupings import (
    THE_REST,
    ComparedGroups,
    ComparisonPlan,
    Grouping,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Floats, Observations, Whole, coded
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.comparisons.changes import ChangeResult, gap_change
from biaswatch.shared.stats.comparisons.compared_samples import MIN_UNITS, Bounds, ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import GapResult, mean_gap
from biaswatch.shared.stats.estimate import undefined

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
        )  # fmt: skip
        is_after = np.concatenate([np.full(run.rows, float(side)) for _, side, run in parts])
        return cls(answers, is_after, plan)

    @property
    def missing(self) -> "WholeRuns":
        """The same answers, 1 where they are missing and 0 elsewhere, once where features agree."""
        lost = np.isnan(self.answers.values).astype(np.float64)
        patterns: dict[bytes, list[int]] = {}
        for index in range(lost.shape[1]):
            patterns.setdefault(lost[:, index].tobytes(), []).append(index)
        named = [
            joined_names([self.answers.features[i] for i in indices])
            for indices in patterns.values()
        ]
        ranges: dict[str, Bounds | None] = dict.fromkeys(named, (0.0, 1.0))
        values = lost[:, [indices[0] for indices in patterns.values()]]
        shown = replace(self.answers, features=tuple(named), values=values, ranges=ranges)
        return replace(self, answers=shown)

    def levels(self, rows: Whole) -> SampledGroups:
        """Return some rows, to compare those of one run with those of the other."""
        run = [AFTER if after else BEFORE for after in self.is_after[rows]]
        selected = replace(_only(self.answers, rows), groups={RUN: run})
        return SampledGroups(selected, grouping(selected, (RUN,)), self.plan)

    def gaps(self, one: Grouping) -> "RunGaps":
        """Return the gaps of a grouping in each run."""
        return RunGaps(self, one)

    def filled(self, one: Grouping, sides: tuple[list[int], list[int]], *, up: bool) -> "WholeRuns":
        """Return the missing answers such that the gap of two sides rises, or falls, the most."""
        values = self.answers.values.copy()
        for side, group_up in zip(sides, (up, not up), strict=True):
            for after in (0.0, 1.0):
                own = np.isin(one.codes, side) & (self.is_after == after)
                highest = group_up == bool(after)
                for feature in range(values.shape[1]):
                    lost = own & np.isnan(values[:, feature])
                    values[lost, feature] = self._ends(feature)[int(highest)]
        return replace(self, answers=replace(self.answers, values=values))

    def _ends(self, feature: int) -> Bounds:
        """Return the range of a feature, or else of the values that were seen."""
        bounds = self.answers.ranges[self.answers.features[feature]]
        present = self.answers.values[:, feature][np.isfinite(self.answers.values[:, feature])]
        if bounds is not None or not len(present):
            return bounds or (0.0, 0.0)
        return float(present.min()), float(present.max())


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
            if clustered and not samples.testable and single >= MIN_UNITS:
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


Tested = Callable[[int], ChangeResult]
"""Takes the size of the family."""


@dataclass(frozen=True)
class _Question:
    of: WholeRuns
    subject: ChangeSubject
    tested: Tested
    at_worst: Callable[[], Sequence[GapResult]]
    rows: Whole
    feature: int
    tolerance: float


def compare_whole_runs(
    runs: Sequence[tuple[str, Observations, Observations]], plan: ChangePlan
) -> RunChanges:
    """Test every change between two runs by all their answers, whatever prompts they share.

    A mean after is compared with the mean before as two groups are: prompts, or sets, of both runs
    in pairs, the others singly. A gap after less the gap before is a difference of two independent
    gaps. All tests are one family, as in `compare_runs`. Runs are given as to `matched_prompts`;
    the claim is about the population of prompts, since the runs have no common bank.
    """
    declared = plan.comparisons
    whole = WholeRuns.of(runs, _of_population(plan))
    questions = [*_gaps(whole, declared.tolerance)]
    questions += _levels(whole, ChangeOf.MEAN, declared.tolerance)
    questions += _levels(whole.missing, ChangeOf.MISSING, plan.missing_tolerance)
    family = max(
        1, sum(question.tested(1).result.p_disparity is not None for question in questions)
    )
    return RunChanges([_answered(question, whole, family) for question in questions], family)


def _of_population(plan: ChangePlan) -> ComparisonPlan:
    return replace(plan.comparisons, claim=Claim.POPULATION)


def _gaps(whole: WholeRuns, tolerance: float) -> Iterator[_Question]:
    for dimension in whole.answers.groups:
        one = grouping(whole.answers, (dimension,))
        for pair in one.compared(whole.plan.against):
            for index in range(len(whole.answers.features)):
                yield _gap(whole, one, pair, index, tolerance)


def _gap(
    whole: WholeRuns, one: Grouping, pair: ComparedGroups, feature: int, tolerance: float
) -> _Question:
    gaps = whole.gaps(one)
    sides = gaps.by_run[0].members(pair)
    a = one.groups[pair[0]]
    b = THE_REST if pair[1] is None else one.groups[pair[1]].name
    name, domain = whole.answers.features[feature], one.domains[a.domain]

    def found(of: WholeRuns, family: int) -> ChangeResult:
        runs = of.gaps(one)
        after, before = runs.samples(pair, feature)
        result = gap_change(
            after, before, alpha=whole.plan.alpha, tolerance=tolerance, family=family
        )
        if runs.has_few_families(pair, feature):
            no_interval = undefined(FEW_CLUSTERS, value=result.marginal.value)
            result = GapResult(no_interval, no_interval, None, None)
        return ChangeResult(result, mean_gap(before), mean_gap(after))

    return _Question(
        whole,
        ChangeSubject(ChangeOf.GAP, name, domain, one.name, a.name, b),
        lambda family: found(whole, family),
        lambda: [found(whole.filled(one, sides, up=up), 1).result for up in (True, False)],
        np.flatnonzero(np.isin(one.codes, list(chain(*sides)))),
        feature,
        tolerance,
    )


def _levels(whole: WholeRuns, of: ChangeOf, tolerance: float) -> Iterator[_Question]:
    for domain, dimension, group, rows in _sides(whole.answers):
        sampled = replace(whole, plan=replace(whole.plan, tolerance=tolerance)).levels(rows)
        pair = next(iter(sampled.compared), None)
        if pair is None:  # only one of the runs asked this group
            continue
        for index, feature in enumerate(whole.answers.features):
            yield _Question(
                whole,
                ChangeSubject(of, feature, domain, dimension, group),
                lambda family, s=sampled, p=pair, i=index: _level(s, p, i, family),  # type: ignore[misc]
                lambda s=sampled, p=pair, i=index: s.at_worst(p, i),  # type: ignore[misc]
                rows,
                index,
                tolerance,
            )


def _level(sampled: SampledGroups, pair: ComparedGroups, feature: int, family: int) -> ChangeResult:
    result = sampled.sides(pair, feature, family).result
    after, before = (
        float(values.mean()) if len(values) else None
        for values in (sampled.units.values(group, feature) for group in (0, 1))
    )
    return ChangeResult(result, before, after)


def _sides(answers: Observations) -> Iterator[tuple[str, str | None, str | None, Whole]]:
    """Return all rows of each domain, then those of each group: (domain, dimension, group)."""
    codes, domains = coded(answers.domains or [""] * answers.rows)
    for code, domain in enumerate(domains):
        yield domain, None, None, np.flatnonzero(codes == code)
    for dimension in answers.groups:
        one = grouping(answers, (dimension,))
        for code, group in enumerate(one.groups):
            yield (
                one.domains[group.domain],
                dimension,
                group.name,
                np.flatnonzero(one.codes == code),
            )


def _answered(question: _Question, whole: WholeRuns, family: int) -> RunChange:
    alpha, result = whole.plan.alpha, question.tested(family)
    drawn = conclude_change(result, tolerance=question.tolerance, alpha=alpha, family=family)
    present = np.isfinite(question.of.answers.values[question.rows, question.feature])
    after = whole.is_after[question.rows] == 1
    lost = int((~present).sum())
    survives, reason = None, drawn.reason
    if drawn.verdict is not ChangeVerdict.NOT_ENOUGH:
        change = result.result.marginal.value
        survives = not lost or stands(
            drawn, change, question.at_worst(), alpha=alpha, family=family
        )
        could = "cannot" if survives else "could"
        reason = f"{reason}; the {lost} missing answers {could} undo it" if lost else reason
    units = [whole.answers.units[row] for row in question.rows] if whole.answers.units else []
    return RunChange(
        subject=question.subject,
        before=result.before,
        after=result.after,
        change=one_of(result.result.simultaneous, family),
        by_itself=result.result.marginal,
        p_value=result.result.p_disparity,
        p_equivalence=result.result.p_equivalence,
        p_adjusted=drawn.p_adjusted,
        p_equivalence_adjusted=drawn.p_equivalence_adjusted,
        verdict=drawn.verdict,
        reason=reason,
        survives_missing=survives,
        prompts=len(set(units)),
        n_before=int((present & ~after).sum()),
        n_after=int((present & after).sum()),
        n_missing_before=int((~present & ~after).sum()),
        n_missing_after=int((~present & after).sum()),
    )
