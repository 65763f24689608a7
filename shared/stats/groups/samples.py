"""The rows of one domain, and what its groups' means become when labels are exchanged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.stats.groups.exchanges import Exchange, blocks_of, group_sums
from shared.stats.groups.reasons import Floats
from shared.stats.groups.spreads import spreads
from shared.stats.groups.table import Table

TIES = 1e-10
"""Relative to a feature's spread: closer statistics are equal, and equal ones count as reached."""

Whole = NDArray[np.intp]


class Sample:
    """The rows of one domain, ordered by group, centred on each feature's mean."""

    @classmethod
    def of(cls, table: Table, groups: Whole, rows: Whole, strata: NDArray[np.integer]) -> "Sample":
        """Take the rows of some groups from the table."""
        labels = np.searchsorted(groups, table.codes[rows])
        order = np.argsort(labels, kind="stable")
        exchange = Exchange.within(strata[rows][order], labels[order])
        sizes = np.bincount(labels, minlength=len(groups))
        return cls(table.values[rows[order]], sizes, exchange)

    def __init__(self, values: Floats, sizes: Whole, exchange: Exchange) -> None:
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
class Permuted:
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


def permuted(sample: Sample, times: int, rng: np.random.Generator) -> Permuted:
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
    return Permuted(means[0], counts[0], deviation, beyond, np.concatenate(null, axis=1))
