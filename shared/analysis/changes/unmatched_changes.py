"""Every change between two runs that hardly share a prompt, as one family."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from biaswatch.shared.analysis.changes.change_verdicts import ChangeVerdict, conclude_change, stands
from biaswatch.shared.analysis.changes.run_changes import (
    ChangeOf,
    ChangePlan,
    ChangeSubject,
    RunChange,
    RunChanges,
    one_of,
)
from biaswatch.shared.analysis.changes.whole_runs import WholeRuns
from biaswatch.shared.analysis.findings.gap_samples import FEW_CLUSTERS, SampledGroups
from biaswatch.shared.analysis.findings.groupings import (
    THE_REST,
    ComparedGroups,
    Grouping,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Observations, Whole, coded
from biaswatch.shared.analysis.findings.plans import ComparisonPlan
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.comparisons.changes import ChangeResult, gap_change
from biaswatch.shared.stats.comparisons.gap_test import GapResult, mean_gap
from biaswatch.shared.stats.estimate import undefined

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
    family = max(1, sum(each.tested(1).result.p_disparity is not None for each in questions))
    return RunChanges([_answered(each, whole, family) for each in questions], family)


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
            nothing = undefined(FEW_CLUSTERS, value=result.marginal.value)
            result = GapResult(nothing, nothing, None, None)
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


def _answered(each: _Question, whole: WholeRuns, family: int) -> RunChange:
    alpha, found = whole.plan.alpha, each.tested(family)
    drawn = conclude_change(found, tolerance=each.tolerance, alpha=alpha, family=family)
    there = np.isfinite(each.of.answers.values[each.rows, each.feature])
    after = whole.is_after[each.rows] == 1
    lost = int((~there).sum())
    survives, reason = None, drawn.reason
    if drawn.verdict is not ChangeVerdict.NOT_ENOUGH:
        change = found.result.marginal.value
        survives = not lost or stands(drawn, change, each.at_worst(), alpha=alpha, family=family)
        could = "cannot" if survives else "could"
        reason = f"{reason}; the {lost} missing answers {could} undo it" if lost else reason
    units = [whole.answers.units[row] for row in each.rows] if whole.answers.units else []
    return RunChange(
        subject=each.subject,
        before=found.before,
        after=found.after,
        change=one_of(found.result.simultaneous, family),
        by_itself=found.result.marginal,
        p_value=found.result.p_disparity,
        p_equivalence=found.result.p_equivalence,
        p_adjusted=drawn.p_adjusted,
        p_equivalence_adjusted=drawn.p_equivalence_adjusted,
        verdict=drawn.verdict,
        reason=reason,
        survives_missing=survives,
        prompts=len(set(units)),
        n_before=int((there & ~after).sum()),
        n_after=int((there & after).sum()),
        n_missing_before=int((~there & ~after).sum()),
        n_missing_after=int((~there & after).sum()),
    )
