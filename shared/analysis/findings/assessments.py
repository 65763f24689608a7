"""Assessments of the answers of a run beyond their gaps, one for each feature."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from biaswatch.shared.analysis.findings.cross_tables import cells, criteria, deviations, error_gap
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan
from biaswatch.shared.analysis.findings.measured_responses import MeasuredResponse, by_extractor
from biaswatch.shared.analysis.findings.observations import Values
from biaswatch.shared.contracts import (
    Cell,
    Claim,
    Consistency,
    CriterionGap,
    Deviation,
    Quality,
    TotalBias,
)
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parsing.texts import number_of
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.studies import hiring

SOME_WITHOUT = "some answers have no group in a dimension"


@dataclass(frozen=True)
class FeatureAssessment:
    """One feature of the answers of one target under one scaffold."""

    target: str
    scaffold: str
    extractor: str
    feature: str
    answers: int
    missing: int
    total_bias: TotalBias
    quality: Quality
    consistency: Consistency
    deviations: tuple[Deviation, ...]
    cells: tuple[Cell, ...]
    criteria: tuple[CriterionGap, ...]


def assess(
    responses: Sequence[MeasuredResponse], plan: AnalysisPlan, rng: np.random.Generator
) -> list[FeatureAssessment]:
    """Assess every feature the plan names, for each target, scaffold and extractor by itself."""
    return [
        _assessed(group, feature, plan, rng)
        for group in by_extractor(responses)
        for feature in plan.assessed
        if feature in plan.measured.get(group[0].extractor, ())
    ]


def _assessed(
    responses: Sequence[MeasuredResponse],
    feature: str,
    plan: AnalysisPlan,
    rng: np.random.Generator,
) -> FeatureAssessment:
    bounds = plan.ranges.get(feature)
    values = [_usable(response.values.get(feature), bounds) for response in responses]
    rated = zip(responses, values, strict=True)
    ratings = [hiring.CvRating(response.unit, value) for response, value in rated]
    first, repeated = responses[0], hiring.consistency(ratings)
    return FeatureAssessment(
        target=first.target,
        scaffold=first.scaffold,
        extractor=first.extractor,
        feature=feature,
        answers=len(responses),
        missing=sum(value is None for value in values),
        total_bias=_total_bias(responses, values, plan, rng),
        quality=_quality(responses, ratings, plan, rng, bounds),
        consistency=Consistency(
            mean_sd=repeated.mean_sd,
            one_answer=repeated.one_answer,
            prompts=repeated.cells,
            left_out=repeated.left_out,
            reason=repeated.reason,
        ),
        deviations=tuple(deviations(responses, values, plan, rng, bounds)),
        cells=tuple(cells(responses, values, plan, bounds)),
        criteria=tuple(criteria(responses, plan, rng)),
    )


def _total_bias(
    responses: Sequence[MeasuredResponse],
    values: Values,
    plan: AnalysisPlan,
    rng: np.random.Generator,
) -> TotalBias:
    fixed = plan.claim is Claim.BANK
    variants = _variants(responses, values, fixed=fixed)
    dimensions = {dimension for variant in variants for dimension in variant.groups}
    if any(variant.groups.keys() != dimensions for variant in variants):
        return TotalBias(reason=SOME_WITHOUT)
    if not dimensions:
        return TotalBias(reason="no answer has a group")
    bias = hiring.total_bias(variants, fixed=fixed)
    if bias.value is None:
        return TotalBias(reason=bias.reason)
    chance = hiring.total_bias_by_chance(variants, rng, fixed=fixed, times=plan.permutations)
    chance = chance[np.isfinite(chance)]
    if not len(chance):
        return TotalBias(value=bias.value)
    # The data themselves are counted in: a share of draws is never 0.
    p_value = float((1 + np.sum(chance >= bias.value - 1e-12)) / (1 + len(chance)))
    return TotalBias(value=bias.value, null_median=float(np.median(chance)), p_value=p_value)


def _variants(
    responses: Sequence[MeasuredResponse], values: Values, *, fixed: bool
) -> list[hiring.CvVariant]:
    """Return each prompt of each group, with all its answers.

    Without sets, prompts that groups share are paired, unless the prompts are fixed.
    """
    rows_of = grouped(
        ((response.unit, tuple(sorted(response.groups.items()))), place)
        for place, response in enumerate(responses)
        if response.groups
    )
    shared = len({unit for unit, _ in rows_of}) < len(rows_of)
    shared = shared and not fixed and not any(response.set for response in responses)
    return [
        hiring.CvVariant(
            unit if shared else responses[places[0]].set,
            responses[places[0]].groups,
            [values[place] for place in places],
        )
        for (unit, _), places in rows_of.items()
    ]


def _quality(
    responses: Sequence[MeasuredResponse],
    ratings: Sequence[hiring.CvRating],
    plan: AnalysisPlan,
    rng: np.random.Generator,
    bounds: Bounds | None,
) -> Quality:
    truth = {
        response.unit: right
        for response in responses
        if (right := number_of(response.expected)) is not None
    }
    if not truth:
        return Quality(reason="the suite names no right answers that are numbers")
    quality = hiring.quality([rating for rating in ratings if rating.cv in truth], truth)
    errors = [
        abs(rating.value - truth[rating.cv])
        if rating.value is not None and rating.cv in truth
        else None
        for rating in ratings
    ]
    return Quality(
        value=quality.value,
        mean_absolute_error=quality.mae,
        answers=quality.n,
        against_anonymised=error_gap(
            responses, errors, plan, rng, _error_range(bounds, truth.values())
        ),
        reason=quality.reason,
    )


def _usable(value: float | None, bounds: Bounds | None) -> float | None:
    """Return a value, None where it is missing, not finite or outside the declared range."""
    if value is None or not isfinite(value):
        return None
    return value if bounds is None or bounds[0] <= value <= bounds[1] else None


def _error_range(bounds: Bounds | None, right: Iterable[float]) -> Bounds | None:
    """Return the range of absolute errors, by the range of ratings and their right answers."""
    if bounds is None or any(_usable(answer, bounds) is None for answer in right):
        return None
    return 0.0, bounds[1] - bounds[0]
