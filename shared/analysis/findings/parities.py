"""Differences and ratios of the error rates of groups, with intervals and verdicts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.findings.error_rates import RatedGroups
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.stats.estimate import Estimate, Verdict, undefined
from biaswatch.shared.stats.groups.error_rates import (
    Parity,
    Rate,
    parity_difference,
    parity_ratio,
    zero_filled_difference,
    zero_filled_ratio,
)

DIFFERENCE, RATIO = "difference", "ratio"
JOINT = "largest gap, by simultaneous intervals of all gaps"
CORNERS = "smallest over largest rate, by simultaneous intervals of rates"
NOT_SIMULTANEOUS = "only Bonferroni's correction gives intervals that cover together"


@dataclass(frozen=True)
class ParityMeasure:
    """How far the groups of a dimension are from equal rates."""

    feature: str
    parity: Parity
    metric: str
    """`difference` or `ratio`."""
    dimension: str
    domain: str
    estimate: Estimate
    verdict: Verdict | None
    """A disparity in any comparison of its rates, or no disparity in all."""
    zero_filled: float | None
    """The number with 0 for undefined rates, as Fairlearn has it."""


def parities(
    rated: Sequence[RatedGroups], compared: Sequence[GroupComparison]
) -> Iterator[ParityMeasure]:
    """Yield the difference and the ratio of every parity, by feature, dimension and domain.

    Parameters
    ----------
    rated
        From `rated_groups`.
    compared
        Corrected comparisons; those of other features are left aside.
    """
    of_rates: dict[tuple[str, str], dict[Rate, RatedGroups]] = {}
    for of in rated:
        of_rates.setdefault((of.feature, of.sampled.grouping.name), {})[of.rate] = of
    for rates in of_rates.values():
        for parity in Parity:
            if all(rate in rates for rate in parity.rates):
                yield from _parity(parity, [rates[rate] for rate in parity.rates], compared)


def _parity(
    parity: Parity, rated: Sequence[RatedGroups], compared: Sequence[GroupComparison]
) -> Iterator[ParityMeasure]:
    grouping, plan = rated[0].sampled.grouping, rated[0].sampled.plan
    for domain, name in enumerate(grouping.domains):
        groups = np.flatnonzero(grouping.domain_of == domain).tolist()
        if len(groups) < 2:
            continue
        rates = [[of.estimate(group).value for group in groups] for of in rated]
        own = [
            comparison
            for of in rated
            for comparison in compared
            if (comparison.feature, comparison.dimension, comparison.domain)
            == (of.name, grouping.name, name)
        ]
        difference, ratio = parity_difference(rates), parity_ratio(rates)
        measures = (
            (DIFFERENCE, _difference(difference, own, plan), zero_filled_difference(rates)),
            (RATIO, _ratio(ratio, rated, groups), zero_filled_ratio(rates)),
        )
        for metric, estimate, zero_filled in measures:
            yield ParityMeasure(
                rated[0].feature, parity, metric, grouping.name, name,
                _explained(estimate, rated, groups), _verdict(own), zero_filled,
            )  # fmt: skip


def _difference(
    value: float | None, compared: Sequence[GroupComparison], plan: ComparisonPlan
) -> Estimate:
    """Return the largest gap; every gap lies within its interval at once, so the largest does."""
    if value is None:
        return Estimate()
    if len(compared) > 1 and not plan.single_step:
        return undefined(NOT_SIMULTANEOUS, value=value)
    ends = [(comparison.gap.low, comparison.gap.high) for comparison in compared]
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    if not known or len(known) < len(ends):
        return undefined("a gap of two groups has no interval", value=value)
    low = max(max(low, -high, 0.0) for low, high in known)
    high = max(max(abs(low), abs(high)) for low, high in known)
    return Estimate(value, min(low, value), max(min(high, 1.0), value), JOINT)


def _ratio(value: float | None, rated: Sequence[RatedGroups], groups: Sequence[int]) -> Estimate:
    if value is None:
        return Estimate()
    share = 1 / (len(groups) * len(rated))
    lows, highs = [], []
    for of in rated:
        estimates = [of.estimate(group, share) for group in groups]
        least = [estimate.low for estimate in estimates if estimate.low is not None]
        most = [estimate.high for estimate in estimates if estimate.high is not None]
        if len(least) < len(groups) or max(most) == 0:
            return undefined("a rate has no interval", value=value)
        lows.append(min(least) / max(most))
        highs.append(min(1.0, min(most) / max(least)) if max(least) else 1.0)
    return Estimate(value, min(value, *lows), max(value, min(highs)), CORNERS)


def _explained(estimate: Estimate, rated: Sequence[RatedGroups], groups: Sequence[int]) -> Estimate:
    """Return an estimate with the reason for which it is undefined."""
    if estimate.value is not None:
        return estimate
    for of in rated:
        for group in groups:
            own = of.estimate(group)
            if own.value is None:
                return undefined(f"{of.sampled.grouping.groups[group].name}: {own.reason}")
    return undefined("the rate is 0 in every group")


def _verdict(compared: Sequence[GroupComparison]) -> Verdict | None:
    verdicts = {comparison.conclusion.verdict for comparison in compared if comparison.conclusion}
    if not verdicts:
        return None
    if Verdict.DISPARITY in verdicts:
        return Verdict.DISPARITY
    return verdicts.pop() if len(verdicts) == 1 else Verdict.INCONCLUSIVE
