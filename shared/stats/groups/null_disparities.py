"""Range and ratio of group means by chance: medians under random exchanges of the labels."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.arrays import Floats, Indices
from biaswatch.shared.stats.groups.cells import Measurements
from biaswatch.shared.stats.groups.exchanges import (
    ExchangeUnits,
    LabelExchange,
    blocks_of,
    check_exchange,
    exchange_units,
    exchanged_rows,
    group_sums,
)

CHANCE_METRICS = ("Max-Min", "Min/Max")
"""Metrics of means with a median by chance, in the order of `disparities_by_chance`."""
ROUNDING_RTOL = 1e-13
"""Relative to the values: difference that averaging many equal values may leave."""


def disparities_by_chance(
    table: Measurements,
    domain_of: Indices,
    domains: Sequence[str],
    rng: np.random.Generator,
    permutations: int = 1000,
    sets: NDArray[np.integer] | None = None,
    units: NDArray[np.integer] | None = None,
) -> Floats:
    """Return the median range and ratio of group means under exchanges of the group labels.

    Of 21 equal groups of 75 answers, the smallest share is about 0.67 of the largest by chance
    alone. Labels move as `exchange_units` says. Missing values move with their row. The medians
    describe and test nothing: `overall_test` tests whether the groups differ.

    Parameters
    ----------
    table
        One row per response.
    domain_of
        [groups]: the domain of each group, an index into `domains`.
    rng, permutations
        Draws that many exchanges, at least 1.
    sets
        [rows]: codes of counterfactual sets, whose rows differ in their group alone, or of families
        of prompts; below 0 for none.
    units
        [rows]: codes of units; rows of one unit and group move together and count as their mean.

    Returns
    -------
    Floats
        [`CHANCE_METRICS`, domains, features]; nan where no exchange has a value.

    Raises
    ------
    ValueError
        For fewer than one permutation, a group without a domain, codes of another length, or rows
        of one unit in different sets.

    Examples
    --------
    >>> from biaswatch.shared.stats.groups.cells import Measurements
    >>> table = Measurements(np.array([[1.0], [2.0], [4.0]]), np.arange(3), ("a", "b", "c"), ("x",))
    >>> rng = np.random.default_rng(1)
    >>> disparities_by_chance(table, np.zeros(3, dtype=int), ["d"], rng, 9).ravel().tolist()
    [3.0, 0.25]
    """
    check_exchange(table, domain_of, domains, permutations, (sets, units))
    means, strata = exchanged_rows(table, sets, units)
    medians = np.full((len(CHANCE_METRICS), len(domains), len(table.features)), np.nan)
    for domain in range(len(domains)):
        rows = np.flatnonzero(domain_of[means.codes] == domain)
        if len(rows):
            groups = np.flatnonzero(domain_of == domain)
            medians[:, domain] = _DomainMeans(means, groups, rows, strata).medians(
                permutations, rng
            )
    return medians


class _DomainMeans:
    """Exchange units of one domain, ordered by group, centred on each feature's mean."""

    def __init__(
        self, table: Measurements, groups: Indices, rows: Indices, sets: NDArray[np.integer]
    ) -> None:
        units = exchange_units(np.searchsorted(groups, table.codes[rows]), sets[rows])
        self.sizes = np.bincount(units.labels, minlength=len(groups))
        self.exchange = LabelExchange.within(units.strata, units.labels)
        self.features = len(table.features)
        self.centre, self.resolution = np.zeros((2, self.features))
        counts: dict[int, NDArray[np.int32]] = {}
        for feature in range(self.features):
            if (count := _value_counts(table.values[rows, feature], units)) is not None:
                counts[feature] = count
        self.partial = np.array(list(counts), dtype=np.intp)
        self.columns = np.empty((len(units.labels), self.features + len(self.partial)))
        for place, feature in enumerate(list(counts), self.features):
            self.columns[:, place] = counts.pop(feature)
        for feature in range(self.features):  # one by one: each copy of a million rows counts
            values = table.values[rows, feature]
            self.columns[:, feature] = units.totals(self._centred(feature, values))

    def _centred(self, feature: int, values: Floats) -> Floats:
        """Return values less their mean, 0 where missing."""
        present = np.isfinite(values)
        known = np.where(present, values, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows has no median
            centre = float(known.sum()) / max(int(np.count_nonzero(present)), 1)
            centred = np.where(present, known - centre, 0.0)
        self.centre[feature] = centre
        self.resolution[feature] = ROUNDING_RTOL * float(np.abs(known).max(initial=0.0))
        return centred

    def medians(self, times: int, rng: np.random.Generator) -> Floats:
        """Return [metrics, features] after so many exchanges."""
        size = max(self.exchange.rows, len(self.sizes) * self.features)
        with np.errstate(over="ignore", invalid="ignore"):
            spreads = [
                self._spread(self._means(self.exchange.draw(block, rng)))
                for block in blocks_of(times, size)
            ]
        spread = np.concatenate(spreads, axis=1)
        spread[~np.isfinite(spread)] = np.nan
        known = np.asarray(np.isfinite(spread).any(axis=1, keepdims=True))
        medians = np.nanmedian(np.where(known, spread, 0.0), axis=1)
        return np.where(known[:, 0], medians, np.nan)

    def _means(self, places: NDArray[np.int32]) -> Floats:
        """Return [times, groups, features]: centred means, nan without values."""
        sums = group_sums(places, self.sizes, self.columns)
        sizes = self.sizes.astype(np.float64)[None, :, None]
        if not len(self.partial) and self.sizes.all():
            return sums / sizes
        counts = np.repeat(np.repeat(sizes, len(sums), axis=0), self.features, axis=2)
        counts[:, :, self.partial] = sums[:, :, self.features :]
        sums = sums[:, :, : self.features]
        return np.where(counts > 0, sums, np.nan) / np.maximum(counts, 1)

    def _spread(self, means: Floats) -> Floats:
        """Return [metrics, times, features]; nan for a single group, and for ratios below 0."""
        high, low = np.fmax.reduce(means, axis=1), np.fmin.reduce(means, axis=1)
        ranges = np.where(high - low > self.resolution, high - low, 0.0)
        least, most = low + self.centre, high + self.centre
        least = np.where(np.abs(least) <= self.resolution, 0.0, least)
        defined = (least >= 0) & (most > self.resolution)
        ratio = np.where(defined, least, np.nan) / np.where(defined, most, 1.0)
        several = np.count_nonzero(np.isfinite(means), axis=1) > 1
        return np.where(several, np.stack([ranges, ratio]), np.nan)


def _value_counts(values: Floats, units: ExchangeUnits) -> NDArray[np.int32] | None:
    """Return [units]: the number of values; None where each unit has one."""
    counts = units.totals(np.isfinite(values).astype(np.float64)).astype(np.int32)
    return None if (counts == 1).all() else counts
