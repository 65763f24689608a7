"""What the answers of a run are worth besides their gaps, one assessment for each feature."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from services.diagnoser.domain.findings.cases import AnalysisPlan, MeasuredResponse
from services.diagnoser.domain.findings.cross_tables import cells, criteria, deviations
from services.diagnoser.domain.findings.observations import Floats
from shared.contracts import Cell, Consistency, CriterionGap, Deviation, Quality, TotalBias
from shared.stats.studies import hiring

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
    cases: Sequence[MeasuredResponse], plan: AnalysisPlan, rng: np.random.Generator
) -> list[FeatureAssessment]:
    """Assess every feature the plan names, for each target, scaffold and extractor by itself."""
    sorted_: dict[tuple[str, str, str], list[MeasuredResponse]] = defaultdict(list)
    for case in cases:
        sorted_[case.target, case.scaffold, case.extractor].append(case)
    return [
        _assessed(some, feature, plan, rng)
        for (_, _, extractor), some in sorted(sorted_.items())
        for feature in plan.assessed
        if feature in plan.measured.get(extractor, ())
    ]


def _assessed(
    cases: Sequence[MeasuredResponse], feature: str, plan: AnalysisPlan, rng: np.random.Generator
) -> FeatureAssessment:
    values = [_value(case, feature) for case in cases]
    ratings = [hiring.CvRating(case.unit, value) for case, value in zip(cases, values, strict=True)]
    first = cases[0]
    return FeatureAssessment(
        target=first.target,
        scaffold=first.scaffold,
        extractor=first.extractor,
        feature=feature,
        answers=len(cases),
        missing=sum(value is None for value in values),
        total_bias=_total_bias(cases, values, plan, rng),
        quality=_quality(cases, ratings),
        consistency=_consistency(ratings),
        deviations=tuple(deviations(cases, values, plan, rng)),
        cells=tuple(cells(cases, values, plan)),
        criteria=tuple(criteria(cases, plan, rng)),
    )


def _value(case: MeasuredResponse, feature: str) -> float | None:
    value = case.values.get(feature)
    return value if value is not None and isfinite(value) else None


def _total_bias(
    cases: Sequence[MeasuredResponse],
    values: Sequence[float | None],
    plan: AnalysisPlan,
    rng: np.random.Generator,
) -> TotalBias:
    variants = list(_variants(cases, values))
    dimensions = {dimension for variant in variants for dimension in variant.groups}
    if any(variant.groups.keys() != dimensions for variant in variants):
        return TotalBias(reason=SOME_WITHOUT)
    found = hiring.total_bias(*(_samples(variants, each) for each in sorted(dimensions)))
    if found.value is None or not dimensions:
        return TotalBias(reason=found.reason or "no answer has a group")
    chance = hiring.total_bias_by_chance(variants, rng, times=plan.permutations)
    chance = chance[np.isfinite(chance)]
    return TotalBias(
        value=found.value,
        null_median=float(np.median(chance)) if len(chance) else None,
        p_value=_reached(chance, found.value) if len(chance) else None,
    )


def _variants(
    cases: Sequence[MeasuredResponse], values: Sequence[float | None]
) -> Iterator[hiring.CvVariant]:
    """Return each prompt that names a group, with all its answers."""
    mine: dict[str, list[int]] = defaultdict(list)
    for place, case in enumerate(cases):
        if case.groups:
            mine[case.unit].append(place)
    for places in mine.values():
        first = cases[places[0]]
        yield hiring.CvVariant(first.set, first.groups, [values[place] for place in places])


def _samples(
    variants: Sequence[hiring.CvVariant], dimension: str
) -> Mapping[str, Sequence[float | None]]:
    samples: dict[str, list[float | None]] = defaultdict(list)
    for variant in variants:
        samples[variant.groups[dimension]].extend(variant.values)
    return samples


def _reached(chance: Floats, value: float) -> float:
    """Return the share of draws at least as large, the data themselves counted in (never 0)."""
    return float((1 + np.sum(chance >= value - 1e-12)) / (1 + len(chance)))


def _quality(cases: Sequence[MeasuredResponse], ratings: Sequence[hiring.CvRating]) -> Quality:
    truth = {case.unit: right for case in cases if (right := _number(case.expected)) is not None}
    if not truth:
        return Quality(reason="the suite names no right answers that are numbers")
    found = hiring.quality([rating for rating in ratings if rating.cv in truth], truth)
    return Quality(
        value=found.value, mean_absolute_error=found.mae, answers=found.n, reason=found.reason
    )


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and isfinite(value) else None


def _consistency(ratings: Sequence[hiring.CvRating]) -> Consistency:
    found = hiring.consistency(ratings)
    return Consistency(
        mean_sd=found.mean_sd,
        one_answer=found.one_answer,
        prompts=found.cells,
        left_out=found.left_out,
        reason=found.reason,
    )
