"""Gaps and means beyond single groups: against anonymised twins, by combination, by criterion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from biaswatch.shared.analysis.findings.comparisons import compare, corrected
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.group_statistics import GroupIntervals
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan, grouping
from biaswatch.shared.analysis.findings.measured_responses import (
    MeasuredResponse,
    dimensions_of,
    observations_of,
)
from biaswatch.shared.analysis.findings.observations import Observations, Values
from biaswatch.shared.analysis.findings.units import Units
from biaswatch.shared.contracts import Against, Cell, Claim, CriterionGap, Deviation, ErrorGap
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.studies.hiring import MIN_SHARED_SETS

ANONYMISED = "\0 anonymised"
"""Sorts before every name, so that it is the first of a pair, and no suite can hold it."""
IDENTIFIED = "identified"
MIN_DIMENSIONS = 2
VALUE = ""
"""The name of the one feature of these tables."""


def ranges_of_value(bounds: Bounds | None) -> Mapping[str, Bounds]:
    """Return the declared range of the one feature, empty without one."""
    return {} if bounds is None else {VALUE: bounds}


def deviations(
    responses: Sequence[MeasuredResponse],
    values: Values,
    plan: AnalysisPlan,
    rng: np.random.Generator,
    bounds: Bounds | None = None,
) -> Iterator[Deviation]:
    """Compare each group with the prompts of the same sets that name no group."""
    if all(response.groups for response in responses):
        return
    anonymised = dict.fromkeys(dimensions_of(responses), ANONYMISED)
    named = [
        response if response.groups else replace(response, groups=anonymised)
        for response in responses
    ]
    ranges = ranges_of_value(bounds)
    for comparison in _compared(observations_of(named, {VALUE: values}, ranges), plan, rng):
        if comparison.a == ANONYMISED:
            gap = -comparison.gap
            yield Deviation(dimension=comparison.dimension, group=comparison.b, gap=gap)


def error_gap(
    responses: Sequence[MeasuredResponse],
    errors: Values,
    plan: AnalysisPlan,
    rng: np.random.Generator,
    bounds: Bounds | None = None,
) -> ErrorGap | None:
    """Compare the absolute errors of prompts that name a group with those of prompts that do not.

    Both means are over what the gap is over: the sets that have both, each counted once.
    """
    named = [
        replace(response, groups={"name": IDENTIFIED if response.groups else ANONYMISED})
        for response in responses
    ]
    observations = observations_of(named, {VALUE: errors}, ranges_of_value(bounds))
    for comparison in _compared(observations, plan, rng):
        means = _compared_means(observations, plan)
        if comparison.gap.value is not None and means:
            gap = -comparison.gap
            return ErrorGap(identified=means[1], anonymised=means[0], gap=gap)
    return None


def _compared_means(observations: Observations, plan: AnalysisPlan) -> tuple[float, float] | None:
    """Return the means of the two groups of one dimension, whose difference is their gap."""
    units = Units(observations, grouping(observations, tuple(observations.groups)))
    one, two = (side.by_set for side in units.groups)
    _, of_one, of_two = np.intersect1d(one.keys, two.keys, assume_unique=True, return_indices=True)
    x, y = one.values[of_one, 0], two.values[of_two, 0]
    both = np.isfinite(x) & np.isfinite(y)
    fixed = plan.claim is Claim.BANK and observations.sets is not None
    if fixed or both.sum() >= MIN_SHARED_SETS:
        x, y = x[both], y[both]
    else:
        x, y = units.values(0, 0), units.values(1, 0)
    return (float(x.mean()), float(y.mean())) if len(x) and len(y) else None


def cells(
    responses: Sequence[MeasuredResponse],
    values: Values,
    plan: AnalysisPlan,
    bounds: Bounds | None = None,
) -> Iterator[Cell]:
    """Return the mean of each combination of all dimensions."""
    dimensions = dimensions_of(responses)
    if len(dimensions) < MIN_DIMENSIONS:
        return
    observations = observations_of(responses, {VALUE: values}, ranges_of_value(bounds))
    groups = grouping(observations, dimensions)
    of = GroupIntervals(observations, groups, plan.claim, plan.alpha)
    for code, group in enumerate(groups.groups):
        rows = np.flatnonzero(groups.codes == code).tolist()
        yield Cell(
            groups=group.levels,
            mean=of.mean(code, 0),
            answers=len(rows),
            missing=sum(values[row] is None for row in rows),
        )


def criteria(
    responses: Sequence[MeasuredResponse], plan: AnalysisPlan, rng: np.random.Generator
) -> Iterator[CriterionGap]:
    """Compare groups by each criterion the scaffold judged."""
    names = sorted({name for response in responses for name in response.criteria})
    if not names:
        return
    rated = {name: [response.criteria.get(name) for response in responses] for name in names}
    sampled = _sampled(observations_of(responses, rated, plan.ranges), plan)
    family = max(1, sum(groups.declared for groups in sampled))
    comparisons = [comparison for groups in sampled for comparison in compare(groups, rng, family)]
    for comparison in corrected(comparisons, plan.comparisons, family):
        yield CriterionGap(
            criterion=comparison.feature,
            dimension=comparison.dimension,
            a=comparison.a,
            b=comparison.b,
            gap=comparison.gap,
            p_adjusted=comparison.p_adjusted,
            missing=comparison.n_missing_a + comparison.n_missing_b,
        )


def _compared(
    observations: Observations, plan: AnalysisPlan, rng: np.random.Generator
) -> Iterator[GroupComparison]:
    for sampled in _sampled(observations, plan):
        yield from compare(sampled, rng)


def _sampled(observations: Observations, plan: AnalysisPlan) -> list[SampledGroups]:
    """Return the groups of every dimension, to be compared in pairs."""
    in_pairs = replace(plan.comparisons, against=Against.PAIRS)
    return [
        SampledGroups(observations, grouping(observations, (dimension,)), in_pairs)
        for dimension in observations.groups
    ]
