"""Random exchanges of group labels within strata, and the group sums they lead to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biaswatch.shared.stats.arrays import Bools, Floats, Indices
from biaswatch.shared.stats.groups.cells import Measurements, check_domains

ANYWHERE = -1
"""Stratum of units whose labels move among all other units of this stratum."""
MAX_BLOCK_VALUES = 1 << 18
"""Values of one block of exchanges, so that a block fits the processor's cache."""


@dataclass(frozen=True)
class ExchangeUnits:
    """Units of one domain, each with its group and its stratum, within which labels move."""

    of_row: Indices
    """[rows]: the unit of each row."""
    labels: Indices
    """[units]: ascending."""
    strata: Indices
    """[units]: a set that several groups share, or ANYWHERE."""

    def totals(self, values: Floats) -> Floats:
        """Return [units], or [units, columns]: the sums over the rows of each unit."""
        if len(self.of_row) == len(self.labels):  # every row is a unit
            totals = np.empty_like(values)
            totals[self.of_row] = values
            return totals
        return np.asarray(self._membership @ values)

    @cached_property
    def _membership(self) -> sparse.csr_array:
        """[units, rows]: 1 where a row is part of a unit."""
        shape = (len(self.labels), len(self.of_row))
        ones = (np.ones(shape[1]), (self.of_row, np.arange(shape[1])))
        return sparse.csr_array(ones, shape=shape)


def exchange_units(
    labels: NDArray[np.integer], sets: NDArray[np.integer], rows: NDArray[np.integer] | None = None
) -> ExchangeUnits:
    """Return the units whose labels are exchanged.

    A set that several groups share is a block: labels move only inside it. A set inside one
    group (a family of templates, for example) is one unit, because its rows are alike: its label
    moves together, among the other units of this kind and the rows without a set.

    Parameters
    ----------
    labels
        [rows]: the group of each row, of one domain.
    sets
        [rows]: codes of sets, below 0 for none.
    rows
        [rows]: the unit of a row without a shared set, such as a prompt's code; by default each row
        is its own unit. Rows of one code and different labels stay apart.

    Examples
    --------
    >>> exchange_units(np.array([0, 1, 0, 0]), np.array([7, 7, 8, 8])).strata.tolist()
    [7, -1, 7]
    """
    group: Indices = np.asarray(labels, dtype=np.intp)
    sets = _signed(sets)
    shared = _shared(group, sets)
    nested = (sets >= 0) & ~shared
    # One number instead of three sorts the same way, and much faster.
    keys = group * 2
    keys += nested
    part = np.where(nested, sets, np.arange(len(group)) if rows is None else _signed(rows))
    part -= part.min(initial=0)
    keys *= int(part.max(initial=0)) + 1
    keys += part
    del part  # each copy of a million rows counts
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    strata = np.where(shared, sets, ANYWHERE)[first]
    return ExchangeUnits(of_row, group[first], strata)


def _signed(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return codes as signed integers; unsigned ones would wrap around."""
    array = np.asarray(codes)
    return array if array.dtype.kind == "i" else array.astype(np.intp)


def _shared(labels: Indices, sets: NDArray[np.integer]) -> Bools:
    """Return [rows]: whether a row's set has rows of several labels."""
    different, place = np.unique(sets, return_inverse=True)
    highest = np.full(len(different), -1)
    lowest = np.full(len(different), np.iinfo(np.int64).max)
    np.maximum.at(highest, place, labels)
    np.minimum.at(lowest, place, labels)
    return np.asarray((sets >= 0) & (highest > lowest)[place])


@dataclass(frozen=True)
class LabelExchange:
    """Rows that exchange labels only inside their stratum."""

    rows: int
    strata: tuple[Indices, ...]
    """[strata, size] for each size: the rows of each stratum with several labels."""

    @classmethod
    def within(cls, strata: NDArray[np.integer], labels: NDArray[np.integer]) -> "LabelExchange":
        """Return the exchanges within strata; a stratum of a single label is left out."""
        _, stratum = np.unique(strata, return_inverse=True)
        order = np.argsort(stratum, kind="stable")
        sizes = np.bincount(stratum)
        starts = np.cumsum(sizes) - sizes
        ranked = labels[order]
        mixed = np.maximum.reduceat(ranked, starts) > np.minimum.reduceat(ranked, starts)
        members = []
        for size in np.unique(sizes[mixed]):
            chosen = starts[mixed & (sizes == size)]
            members.append(order[chosen[:, None] + np.arange(size)])
        return cls(len(labels), tuple(members))

    def draw(self, times: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return [times, rows]: the row at each place after each random exchange."""
        places = np.tile(np.arange(self.rows, dtype=np.int32), (times, 1))
        for members in self.strata:
            rows = np.tile(members.astype(np.int32), (times, 1, 1))
            rng.permuted(rows, axis=2, out=rows)
            places[:, members.ravel()] = rows.reshape(times, -1)
        return places


def group_sums(places: NDArray[np.int32], sizes: Indices, values: Floats) -> Floats:
    """Return [times, groups, columns]: sums of the rows at each group's places.

    The product of a one-hot matrix with the values. The matrix is sparse: a dense product would
    multiply by as many zeros as there are other groups.
    """
    ends = np.concatenate([[0], np.cumsum(np.tile(sizes, len(places)))]).astype(np.int32)
    shape = (len(ends) - 1, len(values))
    one_hot = sparse.csr_array((np.ones(places.size), places.ravel(), ends), shape=shape)
    return np.asarray(one_hot @ values).reshape(len(places), len(sizes), -1)


def blocks_of(times: int, values_per_exchange: int) -> Iterator[int]:
    """Yield the sizes of consecutive blocks of exchanges, each of bounded volume."""
    size = max(1, MAX_BLOCK_VALUES // max(values_per_exchange, 1))
    for start in range(0, times, size):
        yield min(size, times - start)


def check_exchange(
    table: Measurements,
    domain_of: Indices,
    domains: Sequence[str],
    permutations: int,
    codes: Sequence[NDArray[np.integer] | None],
) -> None:
    """Raise ValueError unless labels of the table can be exchanged.

    Parameters
    ----------
    table, domain_of, domains
        Rows, [groups] the domain of each group, and the names of domains.
    permutations
        At least 1.
    codes
        [rows] each: codes of sets or units, or None.
    """
    if permutations < 1:
        raise ValueError(f"a permutation test needs at least one permutation, not {permutations}")
    check_domains(table.groups, domain_of, domains)
    if any(of is not None and len(of) != len(table.codes) for of in codes):
        raise ValueError(f"there are {len(table.codes)} rows, but sets or units for another number")


def exchanged_rows(
    table: Measurements, sets: NDArray[np.integer] | None, units: NDArray[np.integer] | None
) -> tuple[Measurements, NDArray[np.integer]]:
    """Return one row per unit and group, and the set of each; all rows without `units`."""
    strata = np.full(len(table.codes), ANYWHERE) if sets is None else sets
    return (table, strata) if units is None else unit_means(table, units, strata)


def unit_means(
    table: Measurements, units: NDArray[np.integer], strata: NDArray[np.integer]
) -> tuple[Measurements, NDArray[np.integer]]:
    """Return one row per unit and group, the mean of its rows, and its stratum.

    Repeats of a prompt are one unit: their labels never part, and none weighs more for having been
    asked more often.

    Raises
    ------
    ValueError
        If rows of one unit and group are in different strata.
    """
    _, unit = np.unique(units, return_inverse=True)
    keys = unit * max(len(table.groups), 1) + table.codes
    kept, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if (strata[first][inverse] != strata).any():
        raise ValueError(
            "the rows of one unit and group belong to several sets; name a unit that lies within"
            " one set, or the column of sets as the unit"
        )
    if len(kept) == len(keys):  # each row is a unit: sums of a million rows take much memory
        values = table.values[first]
        values[~np.isfinite(values)] = np.nan
        return Measurements(values, table.codes[first], table.groups, table.features), strata[first]
    shape = (len(kept), len(keys))
    member = sparse.csr_array((np.ones(len(keys)), (inverse, np.arange(len(keys)))), shape=shape)
    present = np.isfinite(table.values)
    sums = np.asarray(member @ np.where(present, table.values, 0.0))
    counts = np.asarray(member @ present.astype(np.float64))
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return Measurements(means, table.codes[first], table.groups, table.features), strata[first]
