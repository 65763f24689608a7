"""How far the groups of a domain lie apart, for each statistic and feature."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Floats, Indices
from biaswatch.shared.stats.groups.cells import Codes, Reason, check_domains, with_reasons
from biaswatch.shared.stats.groups.spreads import METRICS, dixon, extreme_z_scores
from biaswatch.shared.stats.groups.summary import Summary
from biaswatch.shared.stats.samples import FLAT_RTOL

RATE_PREFIX = "sr_"
"""Prefix of the names of selection rates."""
NO_HOLDER = -1
"""Index of the group of a metric without a single holder."""
Conditions = list[tuple[Bools, Reason]]


@dataclass(frozen=True)
class Disparity:
    """Metrics of disparity; nan in `values` has its reason at the same place."""

    metrics: tuple[str, ...]
    domains: tuple[str, ...]
    statistics: tuple[str, ...]
    features: tuple[str, ...]
    values: Floats
    """[metrics, domains, statistics, features]"""
    reasons: Codes
    """Codes of `Reason`, in the same shape."""
    holders: Indices
    """The index of the group that has the extreme value (the first of equals), or -1."""
    k: Indices
    """[domains, statistics, features]: groups that have a value."""


def disparities(summary: Summary, domain_of: Indices, domains: Sequence[str]) -> Disparity:
    """Return every metric over the groups of each domain; groups without a value are left out.

    Parameters
    ----------
    summary
        The statistics of each group.
    domain_of
        [groups]: the domain of each group, an index into `domains`.

    Raises
    ------
    ValueError
        If a group has no domain.
    """
    check_domains(summary.groups, domain_of, domains)
    inner = (len(summary.statistics), len(summary.features))
    shape = (len(METRICS), len(domains), *inner)
    values, reasons = np.full(shape, np.nan), np.full(shape, Reason.NO_GROUPS, dtype=np.int8)
    holders, k = np.full(shape, NO_HOLDER, dtype=np.intp), np.zeros(shape[1:], dtype=np.intp)
    rates = np.array([name.startswith(RATE_PREFIX) for name in summary.statistics], dtype=bool)
    is_rate = np.repeat(rates, inner[1])
    for domain in range(len(domains)):
        groups = np.flatnonzero(domain_of == domain)
        if len(groups):
            columns = summary.values[:, groups].transpose(1, 0, 2).reshape(len(groups), -1)
            # Overflow is not silent: `with_reasons` gives infinite results a reason.
            with np.errstate(over="ignore", invalid="ignore"):
                spread = _Spread(columns)
                metrics = spread.metrics(is_rate)
            k[domain] = spread.k.reshape(inner)
            for place, (value, codes, holder) in enumerate(metrics):
                values[place, domain] = value.reshape(inner)
                reasons[place, domain] = codes.reshape(inner)
                if holder is not None:
                    held = np.where(codes == Reason.DEFINED, groups[holder], NO_HOLDER)
                    holders[place, domain] = held.reshape(inner)
    return Disparity(
        METRICS, tuple(domains), summary.statistics, summary.features, values, reasons, holders, k
    )


Metric = tuple[Floats, Codes, Indices | None]


class _Spread:
    """The metrics of columns of group values, [k, columns], nan where a group has none."""

    def __init__(self, values: Floats) -> None:
        present = ~np.isnan(values)
        self.k = np.asarray(np.count_nonzero(present, axis=0))
        lowest = np.where(present, values, np.inf)
        highest = np.where(present, values, -np.inf)
        none = self.k == 0
        self.low = np.where(none, np.nan, lowest.min(axis=0))
        self.high = np.where(none, np.nan, highest.max(axis=0))
        total = np.where(present, values, 0.0).sum(axis=0)
        self.mean = np.clip(total / np.maximum(self.k, 1), self.low, self.high)
        deviations = np.where(present, values - self.mean, 0.0)
        self.squares = (deviations * deviations).sum(axis=0)
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        rounding = FLAT_RTOL * largest
        self.flat = np.asarray(self.high - self.low <= rounding)
        # Of groups that are equal but for rounding, the first holds the extreme.
        self.lowest = np.argmax(lowest <= self.low + rounding, axis=0)
        self.highest = np.argmax(highest >= self.high - rounding, axis=0)
        self.ordered = np.sort(values, axis=0)

    def metrics(self, is_rate: Bools) -> list[Metric]:
        """Return value, reason and holder of each metric, in the order of METRICS."""
        none = [(self.k == 0, Reason.NO_GROUPS)]
        one = [*none, (self.k == 1, Reason.ONE_GROUP)]
        ratio = self.low / np.where(self.high > 0, self.high, np.nan)
        signs = [*one, (self.low < 0, Reason.NEGATIVE), (self.high == 0, Reason.MAXIMUM_ZERO)]
        std = np.sqrt(self.squares / np.maximum(self.k - 1, 1))
        return [
            (*with_reasons(self.high, first_of=none), self.highest),
            (*with_reasons(self.low, first_of=none), self.lowest),
            (*with_reasons(ratio, first_of=signs), None),
            (*with_reasons(self.high - self.low, first_of=one), None),
            (*with_reasons(self.mean, first_of=none), None),
            (*with_reasons(std, first_of=one), None),
            *self._z_scores(one),
            (*with_reasons(ratio, first_of=[(~is_rate, Reason.NOT_A_RATE), *signs]), self.lowest),
            *self._dixon(one),
        ]

    def _z_scores(self, one: Conditions) -> list[Metric]:
        spread = np.sqrt(self.squares / np.maximum(self.k, 1))
        k = self.k.astype(np.float64)
        largest, smallest, bound = extreme_z_scores(self.low, self.high, self.mean, spread, k)
        equal = [*one, (self.flat, Reason.EQUAL_GROUPS)]
        return [
            (*with_reasons(largest, first_of=equal), self.highest),
            (*with_reasons(smallest, first_of=equal), self.lowest),
            (*with_reasons(bound, first_of=one), None),
        ]

    def _dixon(self, one: Conditions) -> list[Metric]:
        q = dixon(self.ordered, self.k)
        undefined = [*one, (self.k == 2, Reason.TWO_GROUPS), (self.flat, Reason.EQUAL_GROUPS)]
        low = [*undefined, (np.isnan(q.low), Reason.EQUAL_GROUPS)]
        high = [*undefined, (np.isnan(q.high), Reason.EQUAL_GROUPS)]
        outermost = np.where(
            np.nan_to_num(q.low) > np.nan_to_num(q.high), self.lowest, self.highest
        )
        return [
            (*with_reasons(q.largest, first_of=undefined), outermost),
            (*with_reasons(q.low, first_of=low), self.lowest),
            (*with_reasons(q.high, first_of=high), self.highest),
        ]
