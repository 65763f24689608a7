"""Comparisons of groups, before and after the correction of their family."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from biaswatch.shared.analysis.findings.gap_samples import (
    GAP_STATISTICS,
    ComparedSides,
    SampledGroups,
    Value,
)
from biaswatch.shared.analysis.findings.groupings import THE_REST, ComparedGroups, ComparisonPlan
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.multiplicity import adjust
from biaswatch.shared.stats.comparisons.tolerance_tests import NEVER_VARY, Conclusion, conclude
from biaswatch.shared.stats.estimate import Estimate, Verdict


@dataclass(frozen=True)
class GroupComparison:
    """One group compared with another, or with all others, on one feature."""

    feature: str
    dimension: str
    domain: str
    a: str
    b: str
    gap: Estimate
    """With the interval that the verdict is read from, or one by itself: its method says which."""
    by_itself: Estimate
    """With an interval of coverage 1 - alpha for this comparison alone."""
    p_value: float | None
    """For a gap of at most the tolerance, before correction."""
    p_equivalence: float | None
    """For a gap of at least the tolerance, before correction; None at tolerance 0."""
    statistics: Mapping[str, Value]
    """The results of `GAP_STATISTICS`, by name."""
    n_a: int
    """Answers with a value."""
    n_b: int
    n_missing_a: int
    n_missing_b: int
    units_a: int
    """Prompts with a value."""
    units_b: int
    by_set: GapResult | None = None
    """With sets as units, beside a declared comparison that takes answers as units."""
    known: bool = False
    """The answers never vary: the gap of these prompts is known."""
    if_missing: tuple[GapResult, GapResult] | None = None
    """Had the missing answers been the least favourable ones for a, and for b; where any are."""
    p_adjusted: float | None = None
    p_equivalence_adjusted: float | None = None
    conclusion: Conclusion | None = None
    survives_missing: bool | None = None
    """False if the missing answers could overturn the verdict; None without a verdict."""


def compare(
    sampled: SampledGroups, rng: np.random.Generator, family: int = 1
) -> Iterator[GroupComparison]:
    """Compare groups of a domain on every feature; no verdict is drawn yet.

    With a single-step correction the interval of each gap is widened for a family of this size.
    """
    plan, grouping = sampled.plan, sampled.grouping
    for pair in sampled.compared:
        for index, feature in enumerate(sampled.observations.features):
            sides = sampled.sides(pair, index, family)
            result = sides.result
            yield GroupComparison(
                feature=feature,
                dimension=grouping.name,
                domain=grouping.domains[grouping.groups[pair[0]].domain],
                a=grouping.groups[pair[0]].name,
                b=THE_REST if pair[1] is None else grouping.groups[pair[1]].name,
                gap=_labelled(result, plan, family),
                by_itself=result.marginal,
                p_value=result.p_disparity,
                p_equivalence=result.p_equivalence,
                statistics={n: of(sides.samples, plan, rng) for n, of in GAP_STATISTICS.items()},
                n_a=sides.answers_a,
                n_b=sides.answers_b,
                n_missing_a=sides.missing_a,
                n_missing_b=sides.missing_b,
                units_a=sides.units_a,
                units_b=sides.units_b,
                by_set=sides.by_set,
                known=result.known,
                if_missing=_if_missing(sampled, pair, index, sides),
            )


def corrected(
    comparisons: Sequence[GroupComparison], plan: ComparisonPlan, family: int
) -> list[GroupComparison]:
    """Correct both p-values within their family, and conclude."""
    adjusted = _adjusted([comparison.p_value for comparison in comparisons], plan, family)
    within = _adjusted([comparison.p_equivalence for comparison in comparisons], plan, family)
    return [
        _concluded(comparison, p, q, plan, family)
        for comparison, p, q in zip(comparisons, adjusted, within, strict=True)
    ]


def _adjusted(
    p_values: Sequence[float | None], plan: ComparisonPlan, family: int
) -> list[float | None]:
    if plan.single_step:
        return [None if p is None else min(1.0, p * family) for p in p_values]
    return adjust(p_values, plan.correction)


def _labelled(result: GapResult, plan: ComparisonPlan, family: int) -> Estimate:
    """Return the gap with the interval that is shown, which says whether it is one of a family."""
    if not plan.single_step:
        return replace(result.marginal, method=f"{result.marginal.method}, by itself")
    if family == 1:
        return result.simultaneous
    return replace(result.simultaneous, method=f"{result.simultaneous.method}, one of {family}")


def _if_missing(
    sampled: SampledGroups, pair: ComparedGroups, index: int, sides: ComparedSides
) -> tuple[GapResult, GapResult] | None:
    """Compare again with the missing answers at both ends of the range, where it can matter."""
    p_values = (sides.result.p_disparity, sides.result.p_equivalence)
    decided = any(p is not None and p <= sampled.plan.alpha for p in p_values)
    if not (decided and sides.missing_a + sides.missing_b):
        return None
    return sampled.at_worst(pair, index)


def _concluded(
    comparison: GroupComparison,
    p_adjusted: float | None,
    p_equivalence_adjusted: float | None,
    plan: ComparisonPlan,
    family: int,
) -> GroupComparison:
    conclusion = _conclusion(comparison, p_adjusted, p_equivalence_adjusted, plan)
    with_p = partial(
        replace, comparison, p_adjusted=p_adjusted, p_equivalence_adjusted=p_equivalence_adjusted
    )
    if conclusion.verdict is Verdict.NOT_ENOUGH:
        return with_p(conclusion=conclusion)
    missing = comparison.n_missing_a + comparison.n_missing_b
    if not missing:
        return with_p(conclusion=conclusion, survives_missing=True)
    survives = comparison.if_missing is not None and all(
        _verdict_holds(comparison, conclusion, worst, plan, family)
        for worst in comparison.if_missing
    )
    could = "cannot" if survives else "could"
    reason = f"{conclusion.reason}; the {missing} missing answers {could} undo it"
    conclusion = replace(conclusion, reason=reason)
    return with_p(conclusion=conclusion, survives_missing=survives)


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


def _verdict_holds(
    comparison: GroupComparison,
    conclusion: Conclusion,
    worst: GapResult,
    plan: ComparisonPlan,
    family: int,
) -> bool:
    """Return whether a verdict, in its direction, would be the same with these answers."""
    if conclusion.verdict is Verdict.DISPARITY:
        p_value, value = worst.p_disparity, worst.marginal.value
        if value is None or comparison.gap.value is None or value * comparison.gap.value <= 0:
            return False
    else:
        p_value = worst.p_equivalence
    return p_value is not None and min(1.0, p_value * family) <= plan.alpha
