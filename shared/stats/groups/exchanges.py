"""Which rows may exchange their labels under the null, and random exchanges of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shared.stats.groups.reasons import Floats
from shared.stats.groups.table import Table

Whole = NDArray[np.intp]


@dataclass(frozen=True)
class Exchange:
    """Rows that exchange labels only inside their stratum."""

    rows: int
    strata: tuple[Whole, ...]
    """[strata, size] for each size: the places of a stratum's rows; only such as can change."""

    @classmethod
    def within(cls, strata: NDArray[np.integer], labels: NDArray[np.integer]) -> "Exchange":
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
        """Return [times, rows]: which row stands in each place, after so many exchanges."""
        places = np.tile(np.arange(self.rows, dtype=np.int32), (times, 1))
        for members in self.strata:
            stands = np.tile(members.astype(np.int32), (times, 1, 1))
            rng.permuted(stands, axis=2, out=stands)
            places[:, members.ravel()] = stands.reshape(times, -1)
        return places


def group_sums(places: NDArray[np.int32], sizes: Whole, values: Floats) -> Floats:
    """Return [times, groups, columns]: sums of the rows that stand in each group's places.

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
