"""Random exchanges of group labels within strata, and how far group means then lie apart."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shared.stats.groups.cells import Table
from shared.stats.groups.reasons import Codes, Floats, Integers, Reason

METRICS = ("Max-Min", "Min/Max", "Std", "Max Z-Score", "Min Z-Score")
GROWING = np.array([True, False, True, True, False])
"""Whether more disparity makes the metric larger."""
IN_UNITS = np.array([True, False, True, False, False])
"""Whether the metric has the feature's unit; the others are pure numbers."""


def spreads(means: Floats, centre: Floats, resolution: Floats) -> Floats:
    """Return each metric over the groups of each table; nan where it is undefined.

    Parameters
    ----------
    means
        [tables, groups, features]: group means minus `centre`, nan for a group without values.
    centre
        [features]: what a ratio needs back.
    resolution
        [features]: smaller differences are rounding.

    Returns
    -------
    Floats
        [metrics, tables, features], as defined in `disparity`.
    """
    present = ~np.isnan(means)
    k = np.count_nonzero(present, axis=1)
    known = means if present.all() else np.where(present, means, 0.0)
    high, low = np.fmax.reduce(means, axis=1), np.fmin.reduce(means, axis=1)
    mean = known.sum(axis=1) / np.maximum(k, 1)
    # Means lie around 0 here, so that the short formula for squared deviations loses nothing.
    squares = np.einsum("tgf,tgf->tf", known, known) - k * mean * mean
    squares = np.maximum(squares, 0.0)
    deviation = np.sqrt(squares / np.maximum(k, 1))
    deviation = np.where((high - low > resolution) & (squares > 0), deviation, np.nan)
    # A ratio is defined where no mean is below 0 and one is above.
    least, most = low + centre, high + centre
    least = np.where(np.abs(least) <= resolution, 0.0, least)
    defined = (least >= 0) & (most > resolution)
    ratio = np.where(defined, least, np.nan) / np.where(defined, most, 1.0)
    found = np.stack(
        [
            high - low,
            ratio,
            np.sqrt(squares / np.maximum(k - 1, 1)),
            (high - mean) / deviation,
            (low - mean) / deviation,
        ]
    )
    found[:, k < 2] = np.nan
    return found


def why_undefined(means: Floats, centre: Floats, resolution: Floats) -> Codes:
    """Return [metrics, features]: the reason of each undefined metric of one table's means."""
    found = spreads(means[None], centre, resolution)[:, 0]
    k = np.count_nonzero(~np.isnan(means), axis=0)
    low = np.fmin.reduce(means, axis=0) + centre
    codes = np.zeros(found.shape, dtype=np.int8)
    codes[np.isnan(found)] = Reason.EQUAL_GROUPS
    ratio = METRICS.index("Min/Max")
    below = np.where(low < -resolution, Reason.NEGATIVE, Reason.MAXIMUM_ZERO)
    codes[ratio] = np.where(np.isnan(found[ratio]), below, Reason.DEFINED)
    codes[:, k < 2] = np.where(k[k < 2] == 1, Reason.ONE_GROUP, Reason.NO_GROUPS)
    return codes


TIES = 1e-10
"""Relative to a feature's spread: closer statistics are equal, and equal ones count as reached."""


@dataclass(frozen=True)
class LabelExchange:
    """Rows that exchange labels only inside their stratum."""

    rows: int
    strata: tuple[Integers, ...]
    """[strata, size] for each size: the places of a stratum's rows; only such as can change."""

    @classmethod
    def within(cls, strata: NDArray[np.integer], labels: NDArray[np.integer]) -> "LabelExchange":
        """Return the exchanges within strata; a stratum all of one label is left out."""
        _, stratum = np.unique(strata, return_inverse=True)
        order = np.argsort(stratum, kind="stable")
        sizes = np.bincount(stratum)
        starts = np.cumsum(sizes) - sizes
        ranked = labels[order]
        mixed = np.maximum.reduceat(ranked, starts) > np.minimum.reduceat(ranked, starts)
        found = []
        for size in np.unique(sizes[mixed]):
            chosen = starts[mixed & (sizes == size)]
            found.append(order[chosen[:, None] + np.arange(size)])
        return cls(len(labels), tuple(found))

    def draw(self, times: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return [times, rows]: the row at each place, after so many exchanges."""
        places = np.tile(np.arange(self.rows, dtype=np.int32), (times, 1))
        for members in self.strata:
            rows = np.tile(members.astype(np.int32), (times, 1, 1))
            rng.permuted(rows, axis=2, out=rows)
            places[:, members.ravel()] = rows.reshape(times, -1)
        return places


def group_sums(places: NDArray[np.int32], sizes: Integers, values: Floats) -> Floats:
    """Return [times, groups, columns]: sums of the rows at each group's places.

    The product of a one-hot matrix with the values, but of a sparse one: a dense product would
    multiply by as many zeros as there are other groups.
    """
    ends = np.concatenate([[0], np.cumsum(np.tile(sizes, len(places)))]).astype(np.int32)
    shape = (len(ends) - 1, len(values))
    one_hot = sparse.csr_array((np.ones(places.size), places.ravel(), ends), shape=shape)
    return np.asarray(one_hot @ values).reshape(len(places), len(sizes), -1)


def blocks_of(times: int, volume: int, limit: int = 1 << 18) -> Iterator[int]:
    """Split so many exchanges into blocks of at most `limit` numbers, `volume` in each exchange."""
    size = max(1, limit // max(volume, 1))
    for start in range(0, times, size):
        yield min(size, times - start)


def unit_means(
    table: Table, units: NDArray[np.integer], strata: NDArray[np.integer]
) -> tuple[Table, NDArray[np.integer]]:
    """Return one row per unit and group, the mean of its rows, and its stratum.

    Repeats of a prompt are one unit: their labels never part, and none weighs more for having been
    asked more often.

    Raises
    ------
    ValueError
        If rows of one unit and group lie in different strata.
    """
    _, unit = np.unique(units, return_inverse=True)
    keys = unit * max(len(table.groups), 1) + table.codes
    kept, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if (strata[first][inverse] != strata).any():
        raise ValueError("rows of one unit and group lie in different counterfactual sets")
    shape = (len(kept), len(keys))
    member = sparse.csr_array((np.ones(len(keys)), (inverse, np.arange(len(keys)))), shape=shape)
    present = np.isfinite(table.values)
    sums = np.asarray(member @ np.where(present, table.values, 0.0))
    counts = np.asarray(member @ present.astype(np.float64))
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return Table(means, table.codes[first], table.groups, table.features), strata[first]


class DomainSample:
    """The rows of one domain, ordered by group, centred on each feature's mean."""

    @classmethod
    def of(
        cls, table: Table, groups: Integers, rows: Integers, strata: NDArray[np.integer]
    ) -> "DomainSample":
        """Take the rows of some groups from the table."""
        labels = np.searchsorted(groups, table.codes[rows])
        order = np.argsort(labels, kind="stable")
        exchange = LabelExchange.within(strata[rows][order], labels[order])
        sizes = np.bincount(labels, minlength=len(groups))
        return cls(table.values[rows[order]], sizes, exchange)

    def __init__(self, values: Floats, sizes: Integers, exchange: LabelExchange) -> None:
        self.sizes, self.exchange = sizes, exchange
        self.features = values.shape[1]
        present = np.isfinite(values)
        self.total = np.count_nonzero(present, axis=0).astype(np.float64)
        known = np.where(present, values, 0.0)
        with np.errstate(over="ignore"):  # what overflows here is refused by name
            self.too_large = ~np.isfinite((known * known).sum(axis=0))
        known[:, self.too_large] = 0.0
        self.centre = known.sum(axis=0) / np.maximum(self.total, 1)
        centred = np.where(present, known - self.centre, 0.0)
        self.resolution = TIES * np.abs(centred).max(axis=0)
        self.partial = np.flatnonzero(self.total < len(values))
        self.columns = np.hstack([centred, present[:, self.partial].astype(np.float64)])

    def means(self, places: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Return [times, groups, features]: centred means, nan without values, and counts."""
        sums = group_sums(places, self.sizes, self.columns)
        sizes = self.sizes.astype(np.float64)[None, :, None]
        if not len(self.partial) and self.sizes.all():
            return sums / sizes, sizes
        counts = np.repeat(np.repeat(sizes, len(sums), axis=0), self.features, axis=2)
        counts[:, :, self.partial] = sums[:, :, self.features :]
        sums = sums[:, :, : self.features]
        return np.where(counts > 0, sums, np.nan) / np.maximum(counts, 1), counts

    def from_rest(self, means: Floats, counts: Floats) -> Floats:
        """Return each group's mean minus that of the others, nan where there are no others.

        All values together average 0, so that the others' mean follows from the group's own.
        """
        rest = self.total - counts
        total = np.where(rest > 0, self.total, np.nan)
        return np.asarray(means * total / np.maximum(rest, 1))


@dataclass(frozen=True)
class PermutedDomain:
    """One domain, observed and under the null."""

    means: Floats
    """[groups, features]: centred."""
    counts: Floats
    """[groups, features] or [groups, 1]: values that are present."""
    deviation: Floats
    beyond: Floats
    """[groups, features]: exchanges whose deviation reaches the observed one."""
    null: Floats
    """[metrics, exchanges, features]"""


def permuted(sample: DomainSample, times: int, rng: np.random.Generator) -> PermutedDomain:
    """Exchange labels so many times, in blocks that fit the cache."""
    rows = sample.exchange.rows
    means, counts = sample.means(np.arange(rows, dtype=np.int32)[None])
    deviation = sample.from_rest(means, counts)[0]
    reach = np.abs(deviation) - sample.resolution
    beyond = np.zeros(deviation.shape)
    null = []
    for size in blocks_of(times, max(rows, deviation.size)):
        drawn, drawn_counts = sample.means(sample.exchange.draw(size, rng))
        gaps = np.abs(sample.from_rest(drawn, drawn_counts))
        # Not less, rather than at least: what is undefined counts as reaching.
        beyond += np.count_nonzero(~(gaps < reach), axis=0)
        null.append(spreads(drawn, sample.centre, sample.resolution))
    return PermutedDomain(means[0], counts[0], deviation, beyond, np.concatenate(null, axis=1))
