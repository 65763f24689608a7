"""Comparisons of groups, before and after the correction of their family."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from biaswatch.shared.analysis.findings.factors import RandomFactors, gap_of_factors, group_effect_p
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.gap_statistics import GAP_STATISTICS, GapSamples
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.groupings import THE_REST, ComparisonPlan, GroupPair
from biaswatch.shared.analysis.findings.questions import verdicts_of
from biaswatch.shared.analysis.findings.twins import TwinTest
from biaswatch.shared.analysis.findings.worst_cases import undoing, verdict_holds
from biaswatch.shared.contracts import Claim, Verdicts
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.constant_shift import TwinDifferences
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.multiplicity import adjust, holm
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.comparisons.studentised_exchange import studentised_exchange_p
from biaswatch.shared.stats.comparisons.tolerance_tests import NEVER_VARY, Conclusion, conclude
from biaswatch.shared.stats.estimate import (
    DIFFERS,
    Estimate,
    Question,
    SummaryWord,
    Verdict,
    answered_by_twins,
)


def compare(
    groups: SampledGroups, rng: np.random.Generator, family: int = 1
) -> Iterator[GroupComparison]:
    """Compare groups of a domain on every feature, without verdicts.

    With a single-step correction the interval of each gap is widened for a family of this size.
    """
    plan, grouping = groups.plan, groups.grouping
    random = RandomFactors(groups.observations, grouping) if groups.observations.random else None
    for pair in groups.compared:
        few = random is not None and random.planned_few(pair)
        for index, feature in enumerate(groups.observations.features):
            compared = groups.compare(pair, index, family)
            result, samples, units = compared.result, compared.samples, compared.units
            by_set = compared.by_set
            factor = random.gap(pair, index) if random else None
            if factor is not None and plan.claim is Claim.POPULATION:
                result = gap_of_factors(factor, plan, family)
            (rows_a, n_a), (rows_b, n_b) = groups.answer_counts(pair, index)
            prompts = units if by_set is None else groups.unit_values(pair, index)
            tested = (samples.paired_a, samples.paired_b) if samples.pairs else prompts
            shown = GapSamples(*tested, bool(samples.pairs), *units, by_set is not None)
            recheck = _is_decided(result, plan) and (rows_a, rows_b) != (n_a, n_b)
            yield GroupComparison(
                feature=feature,
                dimension=grouping.name,
                domain=grouping.domains[grouping.groups[pair[0]].domain],
                a=grouping.groups[pair[0]].name,
                b=THE_REST if pair[1] is None else grouping.groups[pair[1]].name,
                gap=shown_gap(result, plan, family),
                by_itself=result.marginal,
                p_value=result.p_disparity,
                p_equivalence=result.p_equivalence,
                statistics={name: of(shown, plan, rng) for name, of in GAP_STATISTICS.items()},
                n_a=n_a,
                n_b=n_b,
                n_missing_a=rows_a - n_a,
                n_missing_b=rows_b - n_b,
                units_a=len(prompts[0]),
                units_b=len(prompts[1]),
                drawn=groups.observations.drawn,
                factor=factor,
                planned_few=few,
                by_set=by_set,
                known=result.known,
                if_missing=_at_worst(groups, random, pair, index) if recheck else None,
                twin_differences=_twin_differences(groups, samples),
                p_answers=answers_p(groups, samples, pair, index, rng),
                twin_rate=float((samples.differences != 0).mean())
                if samples.pairs and groups.observations.drawn
                else None,
            )


def _twin_differences(groups: SampledGroups, samples: ComparedSamples) -> TwinDifferences | None:
    """Return the differences of twins, where another draw would have other sets and answers."""
    of_sets = groups.plan.claim is not Claim.BANK and groups.observations.drawn
    return TwinDifferences.of(samples.differences) if samples.pairs and of_sets else None


def _at_worst(
    groups: SampledGroups, random: RandomFactors | None, pair: GroupPair, feature: int
) -> tuple[GapResult, GapResult]:
    """Return the comparison with the missing answers least favourable for a, then for b."""
    if random is None or groups.plan.claim is Claim.BANK:
        return groups.at_worst(pair, feature)
    low, high = groups.ends(feature)
    first, second = (
        gap_of_factors(random.gap(pair, feature, ends), groups.plan)
        for ends in ((low, high), (high, low))
    )
    return first, second


def answers_p(
    groups: SampledGroups,
    samples: ComparedSamples,
    pair: GroupPair,
    feature: int,
    rng: np.random.Generator,
) -> float | None:
    """Return the p-value by exchange of answers, where flips of set means could decide alone."""
    if not groups.observations.drawn:
        return None
    if not samples.pairs:
        return _assigned_p(groups, pair, feature, rng) if groups.plan.assigned else None
    if groups.plan.claim is not Claim.BANK and len(groups.observations.groups) == 1:
        p_value = sign_flip_p(samples.differences)
        if p_value is None or p_value > groups.plan.alpha:
            return None
    return groups.answer_exchange_p(pair, feature, rng)


def _assigned_p(
    groups: SampledGroups, pair: GroupPair, feature: int, rng: np.random.Generator
) -> float | None:
    """Return the p-value by exchange of labels that were assigned to units at random."""
    if any(side.clustered for side in groups.pair_of(pair)):
        return None  # whole families were assigned
    return studentised_exchange_p(*groups.unit_values(pair, feature), rng)


def corrected(
    comparisons: Sequence[GroupComparison],
    plan: ComparisonPlan,
    family: int,
    twins: Sequence[TwinTest] = (),
    twins_at_worst: Callable[[int], Iterable[float]] = lambda place: (1.0,),
) -> list[GroupComparison]:
    """Correct the p-values of each question within their family, and conclude.

    `twins` are the tests of same treatment, one for each comparison, corrected already;
    `twins_at_worst` returns their p-values with the least favourable missing answers.
    """
    twins = twins or [TwinTest()] * len(comparisons)
    effects = holm([group_effect_p(comparison.factor) for comparison in comparisons])
    answered = [
        _with_questions(comparison, twin, effect, plan, family)
        for comparison, twin, effect in zip(comparisons, twins, effects, strict=True)
    ]
    adjusted = _adjusted([comparison.p_value for comparison in answered], plan, family)
    within = _adjusted([comparison.p_equivalence for comparison in answered], plan, family)
    return [
        _concluded(
            comparison, _nested(p, comparison, plan), q, plan, family,
            partial(twins_at_worst, place),
        )
        for place, (comparison, p, q) in enumerate(zip(answered, adjusted, within, strict=True))
    ]  # fmt: skip


def _with_questions(
    comparison: GroupComparison,
    twin: TwinTest,
    effect: float | None,
    plan: ComparisonPlan,
    family: int,
) -> GroupComparison:
    """Answer the questions of same treatment and of the group's effect."""
    p_same = same_treatment_p(twin.p_value, comparison.p_answers, plan, family)
    verdicts = verdicts_of(
        p_same,
        comparison.factor,
        effect,
        plan,
        planned_few=comparison.planned_few,
        twin_rate=comparison.twin_rate,
        placebo_rate=twin.placebo_rate,
        drawn=comparison.drawn,
    )
    shift = _twin_shift(comparison, verdicts, plan, family)
    return replace(comparison, verdicts=verdicts, twin_shift=shift)


def _twin_shift(
    comparison: GroupComparison, verdicts: Verdicts, plan: ComparisonPlan, family: int
) -> Estimate | None:
    """Return the shift whose interval agrees with the summary, where twins decide it."""
    twins = comparison.twin_differences
    if twins is None or not answered_by_twins(verdicts.headline, verdicts.group_effect):
        return None
    shift = twins.shift_within(verdicts.p_same_treatment, plan.alpha, family)
    all_differ = twins.is_flat and verdicts.same_treatment == DIFFERS
    return shift if shift.low is not None or all_differ else None


def same_treatment_p(
    p_sets: float | None, p_answers: float | None, plan: ComparisonPlan, family: int
) -> float | None:
    """Return the p-value of same treatment, from exchanges of sets' means and of answers."""
    if p_answers is None:
        return p_sets
    exact = min(1.0, p_answers * family)
    is_bank = plan.claim is Claim.BANK  # answers, not sets, are drawn anew
    return exact if is_bank or p_sets is None else max(p_sets, exact)


def _nested(
    p_adjusted: float | None, comparison: GroupComparison, plan: ComparisonPlan
) -> float | None:
    """Return the p-value of a gap, never below that of the group's effect on the population."""
    p_effect = comparison.verdicts.p_group_effect if comparison.verdicts else None
    is_bank = plan.claim is Claim.BANK and comparison.drawn
    if p_adjusted is None or p_effect is None or is_bank:
        return p_adjusted
    return max(p_adjusted, p_effect)


def _adjusted(
    p_values: Sequence[float | None], plan: ComparisonPlan, family: int
) -> list[float | None]:
    if plan.single_step:
        return [None if p is None else min(1.0, p * family) for p in p_values]
    return adjust(p_values, plan.correction)


def shown_gap(result: GapResult, plan: ComparisonPlan, family: int) -> Estimate:
    """Return the gap with the interval to show; its method says whether it is one of a family."""
    if not plan.single_step:
        return replace(result.marginal, method=f"{result.marginal.method}, by itself")
    if family == 1:
        return result.simultaneous
    return replace(
        result.simultaneous, method=f"{result.simultaneous.method}, one of {family} comparisons"
    )


def _is_decided(result: GapResult, plan: ComparisonPlan) -> bool:
    p_values = (result.p_disparity, result.p_equivalence)
    return any(p is not None and p <= plan.alpha for p in p_values)


def _concluded(
    comparison: GroupComparison,
    p_adjusted: float | None,
    p_equivalence_adjusted: float | None,
    plan: ComparisonPlan,
    family: int,
    twins_at_worst: Callable[[], Iterable[float]],
) -> GroupComparison:
    conclusion = _conclusion(comparison, p_adjusted, p_equivalence_adjusted, plan)
    verdicts = comparison.verdicts and comparison.verdicts.model_copy(
        update={"verdict": conclusion.verdict}
    )
    with_p = partial(
        replace, comparison, p_adjusted=p_adjusted, p_equivalence_adjusted=p_equivalence_adjusted,
        gap=_agreeing(comparison.gap, conclusion, plan.tolerance), verdicts=verdicts,
    )  # fmt: skip
    if verdicts is None or verdicts.summary is SummaryWord.INCONCLUSIVE:
        return with_p(conclusion=conclusion)
    missing = comparison.n_missing_a + comparison.n_missing_b
    if not missing:
        return with_p(conclusion=conclusion, survives_missing=True)
    if verdicts.headline is Question.SAME_TREATMENT:
        survives = all(p <= plan.alpha for p in twins_at_worst())
    else:
        survives = comparison.if_missing is not None and all(
            verdict_holds(
                worst, comparison.gap.value, differs=conclusion.verdict is Verdict.DISPARITY,
                alpha=plan.alpha, family=family,
            )
            for worst in comparison.if_missing
        )  # fmt: skip
    reason = f"{conclusion.reason}; {undoing(missing, survives=survives)}"
    conclusion = replace(conclusion, reason=reason)
    return with_p(conclusion=conclusion, survives_missing=survives)


def _agreeing(gap: Estimate, conclusion: Conclusion, tolerance: float) -> Estimate:
    """Return the gap with an interval that is not beyond the tolerance without a disparity."""
    if conclusion.verdict is Verdict.DISPARITY or gap.low is None or gap.high is None:
        return gap
    return replace(gap, low=min(gap.low, tolerance), high=max(gap.high, -tolerance))


def _conclusion(
    comparison: GroupComparison,
    p_adjusted: float | None,
    p_equivalence_adjusted: float | None,
    plan: ComparisonPlan,
) -> Conclusion:
    if comparison.known:
        return Conclusion(Verdict.DISPARITY, NEVER_VARY)
    return conclude(
        comparison.gap, p_adjusted, p_equivalence_adjusted,
        tolerance=plan.tolerance, alpha=plan.alpha,
    )  # fmt: skip
