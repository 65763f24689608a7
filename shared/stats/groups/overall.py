"""One test over all groups: whether any mean differs, by exchanges of the group labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.arrays import Floats, Indices
from biaswatch.shared.stats.groups.cells import Codes, Measurements, Reason, with_reasons
from biaswatch.shared.stats.groups.exchanges import (
    LabelExchange,
    blocks_of,
    check_exchange,
    exchange_units,
    exchanged_rows,
    group_sums,
)

METHOD = "Welch-type statistic, labels permuted"
MIN_VARIANCE_SHARE = 1e-8
"""Least variance of a group, as a share of the variance of all."""
TIE_RTOL = 1e-9
"""Relative tolerance of ties: equal statistics count as reached."""


@dataclass(frozen=True)
class OverallTests:
    """Results of `overall_test`; nan has its reason at the same place."""

    domains: tuple[str, ...]
    features: tuple[str, ...]
    permutations: int
    statistic: Floats
    """[domains, features]: the weighted squares of group means about their common mean."""
    p_values: Floats
    """[domains, features]"""
    reasons: Codes
    units: Indices
    """[domains, features]: prompts, or sets inside one group."""


def overall_test(
    table: Measurements,
    domain_of: Indices,
    domains: Sequence[str],
    rng: np.random.Generator,
    permutations: int = 1000,
    sets: NDArray[np.integer] | None = None,
    units: NDArray[np.integer] | None = None,
) -> OverallTests:
    """Test whether the groups of a domain have one mean, for any number of groups.

    Rows of one unit and group count as their mean; labels move as `exchange_units` says: inside the
    sets that groups share, else between units, where a set inside one group is one unit. Values are
    centred on their set's mean where it is shared, and on the mean of all others elsewhere. With a
    group's n units, their mean d and their sum of squares SS about it, v = (SS + s) / n, s being
    the variance within all groups together, which counts as one unit's: a small group whose answers
    are all equal is not known exactly. The statistic is sum w d^2 - (sum w d)^2 / sum w, w = n / v.

    p = (b + 1) / (m + 1), b of m exchanges reaching the observed statistic: exact where the values
    are exchangeable under the null, at any size, flat values and unequal groups included. Because
    the statistic is studentised it is nearly so where the groups' spreads differ and they have ten
    units or more. Missing values are left out; where groups lack different rows this assumes
    that missingness does not depend on the value.

    Parameters
    ----------
    table, domain_of, domains, permutations, sets, units
        As `disparity_null` takes them.

    Raises
    ------
    ValueError
        For fewer than one permutation, a group without a domain, or codes of another length.

    References
    ----------
    Welch (1951), On the comparison of several mean values; Pauly, Brunner and Konietschke (2015),
    Asymptotic permutation tests in general factorial designs; Phipson and Smyth (2010).
    """
    check_exchange(table, domain_of, domains, permutations, (sets, units))
    table, strata = exchanged_rows(table, sets, units)
    shape = (len(domains), len(table.features))
    statistic, p_values = np.full(shape, np.nan), np.full(shape, np.nan)
    reasons = np.full(shape, Reason.NO_GROUPS, dtype=np.int8)
    counted = np.zeros(shape, dtype=np.intp)
    for domain in range(len(domains)):
        domain_rows = np.flatnonzero(domain_of[table.codes] == domain)
        for rows, features in _patterns(table.values, domain_rows):
            sample = _Sample(table, rows, features, strata)
            tested = sample.tested(permutations, rng)
            statistic[domain, features], p_values[domain, features] = tested[:2]
            reasons[domain, features] = tested[2]
            counted[domain, features] = len(sample.labels)
    names = tuple(domains), table.features
    return OverallTests(*names, permutations, statistic, p_values, reasons, counted)


def _patterns(values: Floats, rows_of_domain: Indices) -> Iterator[tuple[Indices, list[int]]]:
    """Yield rows with values, and the features that have values in exactly these rows."""
    features: dict[bytes, list[int]] = {}
    for feature in range(values.shape[1]):  # in bits: `np.unique` takes hundreds for each row
        present = np.packbits(np.isfinite(values[rows_of_domain, feature]))
        features.setdefault(present.tobytes(), []).append(feature)
    for _, columns in sorted(features.items()):
        rows = rows_of_domain[np.isfinite(values[rows_of_domain, columns[0]])]
        if len(rows):
            yield rows, columns


class _Sample:
    """The units of one domain that have values, centred on their block."""

    def __init__(
        self, table: Measurements, rows: Indices, features: Sequence[int], sets: NDArray[np.integer]
    ) -> None:
        units = exchange_units(np.unique(table.codes[rows], return_inverse=True)[1], sets[rows])
        self.labels = units.labels
        self.sizes = np.bincount(self.labels)
        self.exchange = LabelExchange.within(units.strata, self.labels)
        counts = np.bincount(units.of_row, minlength=len(self.labels))
        _, block = np.unique(units.strata, return_inverse=True)
        self.squares, self.flat = np.empty(len(features)), np.empty(len(features), dtype=np.bool_)
        self.columns = np.empty((len(counts), 2 * len(features)))
        for place, feature in enumerate(features):  # one by one: of a million, each copy counts
            values = table.values[rows, feature]
            largest = max(values.max(), -values.min())
            with np.errstate(over="ignore", invalid="ignore"):  # refused by name in `tested`
                centred = units.totals(values)
                centred /= counts
                centred -= (np.bincount(block, weights=centred) / np.bincount(block))[block]
                self.squares[place] = total = (centred * centred).sum()
            self.flat[place] = np.sqrt(total) <= TIE_RTOL * largest
            if not np.isfinite(total):
                centred[:] = 0.0
            elif not self.flat[place]:
                centred /= np.sqrt(total / len(centred))
            self.columns[:, place] = centred
            self.columns[:, len(features) + place] = centred * centred
        self.finite = np.isfinite(self.squares)

    def tested(self, times: int, rng: np.random.Generator) -> tuple[Floats, Floats, Codes]:
        """Return the statistic, p-value and reason of each feature."""
        features = len(self.squares)
        k, n = len(self.sizes), len(self.labels)
        if k < 2 or n <= k:
            none = np.full(features, np.nan)
            why = Reason.ONE_GROUP if k < 2 else Reason.ONE_UNIT_EACH
            return none, none, np.full(features, why, dtype=np.int8)
        observed = self._statistic(np.arange(n, dtype=np.int32)[None])[0]
        reached = np.zeros(features)
        for size in blocks_of(times, 2 * n):
            drawn = self._statistic(self.exchange.draw(size, rng))
            reached += np.count_nonzero(drawn >= observed * (1 - TIE_RTOL), axis=0)
        first_of = [(~self.finite, Reason.NOT_FINITE), (self.flat, Reason.CONSTANT)]
        statistic, _ = with_reasons(observed, first_of=first_of)
        return statistic, *with_reasons((reached + 1) / (times + 1), first_of=first_of)

    def _statistic(self, places: NDArray[np.int32]) -> Floats:
        """Return [times, features]."""
        sums = group_sums(places, self.sizes, self.columns)
        features = len(self.squares)
        n = self.sizes.astype(np.float64)[None, :, None]
        mean = sums[:, :, :features] / n
        inner = sums[:, :, features:] - n * mean * mean
        inner[inner < MIN_VARIANCE_SHARE] = 0.0
        pooled = inner.sum(axis=1, keepdims=True) / (len(self.labels) - len(self.sizes))
        weight = n * n / np.maximum(inner + pooled, MIN_VARIANCE_SHARE)
        total = (weight * mean).sum(axis=1)
        return np.asarray((weight * mean * mean).sum(axis=1) - total**2 / weight.sum(axis=1))
