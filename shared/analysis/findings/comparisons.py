"""Comparisons of groups, before and after the correction of their family."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.groupings import THE_REST, ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Floats
from biaswatch.shared.stats.comparisons.effect_size import hedges_g, paired_d
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.comparisons.multiplicity import adjust
from biaswatch.shared.stats.comparisons.ranks import mann_whitney
from biaswatch.shared.stats.comparisons.relabelling import label_permutation, sign_flip
from biaswatch.shared.stats.comparisons.tolerance_tests import NEVER_VARY, Conclusion, conclude
from biaswatch.shared.stats.estimate import Estimate, Verdict


@dataclass(frozen=True)
class GapSamples:
    """The values of two groups on one feature, none missing."""

    a: Floats
    """The tested values: one value per prompt, or per set where `paired`."""
    b: Floats
    paired: bool
    units_a: Floats
    """One value per unit of the claim: a prompt, or an answer where prompts are fixed."""
    units_b: Floats
    fixed_prompts: bool = False
    """True if the claim is about these prompts alone."""


Value = Estimate | float | None
GapStatistic = Callable[[GapSamples, ComparisonPlan, np.random.Generator], Value]


def _effect_size(samples: GapSamples, plan: ComparisonPlan, _rng: np.random.Generator) -> Estimate:
    if samples.fixed_prompts:
        return hedges_g(samples.units_a, samples.units_b, plan.alpha)
    return (paired_d if samples.paired else hedges_g)(samples.a, samples.b, plan.alpha)


def _permutation_p(
    samples: GapSamples, plan: ComparisonPlan, rng: np.random.Generator
) -> float | None:
    if not plan.permutations:
        return None
    if samples.paired:
        return sign_flip(samples.a, samples.b, rng=rng, resamples=plan.permutations).p_value
    a = {f"a{place}": [value] for place, value in enumerate(samples.a.tolist())}
    b = {f"b{place}": [value] for place, value in enumerate(samples.b.tolist())}
    return label_permutation(a, b, rng=rng, resamples=plan.permutations).p_value


GAP_STATISTICS: Mapping[str, GapStatistic] = {
    "effect_size": _effect_size,
    "mann_whitney_p": lambda samples, _, rng: (
        mann_whitney(samples.units_a, samples.units_b, rng=rng).p_value
    ),
    "permutation_p": _permutation_p,
}


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
    groups: SampledGroups, rng: np.random.Generator, family: int = 1
) -> Iterator[GroupComparison]:
    """Compare groups of a domain on every feature, without verdicts.

    With a single-step correction the interval of each gap is widened for a family of this size.
    """
    plan, grouping = groups.plan, groups.grouping
    for pair in groups.compared:
        for index, feature in enumerate(groups.observations.features):
            result, samples, units, by_set = groups.compare(pair, index, family)
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
                by_set=by_set,
                known=result.known,
                if_missing=groups.at_worst(pair, index) if recheck else None,
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


def shown_gap(result: GapResult, plan: ComparisonPlan, family: int) -> Estimate:
    """Return the gap with the interval to show; its method says whether it is one of a family."""
    if not plan.single_step:
        return replace(result.marginal, method=f"{result.marginal.method}, by itself")
    if family == 1:
        return result.simultaneous
    return replace(result.simultaneous, method=f"{result.simultaneous.method}, one of {family}")


def _is_decided(result: GapResult, plan: ComparisonPlan) -> bool:
    p_values = (result.p_disparity, result.p_equivalence)
    return any(p is not None and p <= plan.alpha for p in p_values)


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
    if conclusion.verdict is Verdict.INCONCLUSIVE:
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
