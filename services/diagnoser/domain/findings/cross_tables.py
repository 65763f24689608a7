"""Groups crossed with what stands beside them: each other, anonymised twins, single criteria."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np

from services.diagnoser.domain.findings.cases import AnalysisPlan, MeasuredResponse
from services.diagnoser.domain.findings.comparisons import ComparisonPlan, GroupComparison, compare
from services.diagnoser.domain.findings.groupings import grouping
from services.diagnoser.domain.findings.observations import Observations
from services.diagnoser.domain.findings.units import Units
from shared.contracts import Cell, Claim, CriterionGap, Deviation, Estimate
from shared.stats import estimate
from shared.stats.comparisons.fixed_prompts import fixed_prompts_mean
from shared.stats.comparisons.means_and_rates import mean_of
from shared.stats.comparisons.multiplicity import adjust

ANONYMISED = "\0 anonymised"
"""Sorts before every name, so that it is the first of a pair, and no suite can hold it."""
LEAST_DIMENSIONS = 2
Values = Sequence[float | None]


def deviations(
    cases: Sequence[MeasuredResponse], values: Values, plan: AnalysisPlan, rng: np.random.Generator
) -> Iterator[Deviation]:
    """Compare each group with the prompts of the same sets that name no group."""
    if all(case.groups for case in cases):
        return
    named = [case if case.groups else _anonymised(case, cases) for case in cases]
    seen = _seen(named, {"": values})
    for found in _compared(seen, plan, rng):
        if found.a == ANONYMISED:
            yield Deviation(dimension=found.dimension, group=found.b, gap=_turned(found.gap))


def cells(cases: Sequence[MeasuredResponse], values: Values, plan: AnalysisPlan) -> Iterator[Cell]:
    """Return the mean of each combination of all dimensions."""
    dimensions = _dimensions(cases)
    if len(dimensions) < LEAST_DIMENSIONS:
        return
    seen = _seen(cases, {"": values})
    groups = grouping(seen, dimensions)
    units = Units.of(seen, groups)
    for code, group in enumerate(groups.groups):
        rows = np.flatnonzero(groups.codes == code).tolist()
        by_prompt: dict[Hashable, list[float | None]] = defaultdict(list)
        for row in rows:
            by_prompt[cases[row].unit].append(values[row])
        means = units.by_unit[code].values[:, 0]
        mean = (
            fixed_prompts_mean(by_prompt, plan.alpha)
            if plan.claim is Claim.BANK
            else mean_of(means[np.isfinite(means)].tolist(), plan.alpha)
        )
        yield Cell(
            groups=group.levels,
            mean=_as_sent(mean),
            answers=len(rows),
            missing=sum(values[row] is None for row in rows),
        )


def criteria(
    cases: Sequence[MeasuredResponse], plan: AnalysisPlan, rng: np.random.Generator
) -> Iterator[CriterionGap]:
    """Compare groups by each criterion the scaffold judged."""
    names = sorted({name for case in cases for name in case.criteria})
    if not names:
        return
    seen = _seen(cases, {name: [case.criteria.get(name) for case in cases] for name in names})
    every = list(_compared(seen, plan, rng))
    adjusted = adjust([found.p_value for found in every], "holm")
    for found, p_adjusted in zip(every, adjusted, strict=True):
        yield CriterionGap(
            criterion=found.feature,
            dimension=found.dimension,
            a=found.a,
            b=found.b,
            gap=_as_sent(found.gap),
            p_adjusted=p_adjusted,
            missing=found.n_missing_a + found.n_missing_b,
        )


def _compared(
    seen: Observations, plan: AnalysisPlan, rng: np.random.Generator
) -> Iterator[GroupComparison]:
    declared = ComparisonPlan(plan.alpha, plan.tolerance, claim=plan.claim)
    for dimension in seen.groups:
        yield from compare(seen, grouping(seen, (dimension,)), declared, rng)


def _anonymised(case: MeasuredResponse, cases: Sequence[MeasuredResponse]) -> MeasuredResponse:
    return replace(case, groups=dict.fromkeys(_dimensions(cases), ANONYMISED))


def _dimensions(cases: Sequence[MeasuredResponse]) -> tuple[str, ...]:
    return tuple(sorted({dimension for case in cases for dimension in case.groups}))


def _seen(cases: Sequence[MeasuredResponse], features: dict[str, Values]) -> Observations:
    columns = [[np.nan if v is None else v for v in values] for values in features.values()]
    sets = [case.set for case in cases]
    return Observations(
        features=tuple(features),
        values=np.column_stack(columns).astype(np.float64),
        groups={d: [case.groups.get(d) for case in cases] for d in _dimensions(cases)},
        units=[case.unit for case in cases],
        sets=sets if any(sets) else None,
    )


def _turned(found: estimate.IntervalEstimate) -> Estimate:
    """Return the other group less the first, with its interval."""
    turned = {"value": found.value, "low": found.high, "high": found.low}
    signed = {name: None if value is None else -value for name, value in turned.items()}
    return Estimate(**{**asdict(found), **signed})


def _as_sent(found: estimate.IntervalEstimate) -> Estimate:
    return Estimate(**asdict(found))
