"""What moves as one where group labels are exchanged: a prompt, or a set inside one group."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biaswatch.shared.stats.groups.reasons import Floats, Integers

ANYWHERE = -1
"""The stratum of units whose labels move among all others of this stratum."""


@dataclass(frozen=True)
class ExchangeUnits:
    """The units of one domain, each with its group and with the stratum its label moves in."""

    of_row: Integers
    """[rows]: the unit of each row."""
    labels: Integers
    """[units]: ascending."""
    strata: Integers
    """[units]: a set that several groups share, or ANYWHERE."""

    def totals(self, values: Floats) -> Floats:
        """Return [units], or [units, columns]: the sums of each unit's rows."""
        if len(self.of_row) == len(self.labels):  # every row is a unit
            found = np.empty_like(values)
            found[self.of_row] = values
            return found
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

    A set that several groups share is a block: labels move only inside it. A set that lies in one
    group (a family of templates, for example) is one unit, because its rows are alike: its label
    moves together, among the other units of this kind and the rows without a set.

    Parameters
    ----------
    labels
        [rows]: the group of each row, of one domain.
    sets
        [rows]: codes of sets, below 0 for none.
    rows
        [rows]: what a row without a shared set is part of, such as a prompt's code; each row is
        by itself where this is left out. Rows of one code and different labels stay apart.
    """
    group: Integers = np.asarray(labels, dtype=np.intp)
    sets = _signed(sets)
    shared = _shared(group, sets)
    nested = (sets >= 0) & ~shared
    # One number in the place of three sorts the same way, and much sooner.
    keys = group * 2
    keys += nested
    part = np.where(nested, sets, np.arange(len(group)) if rows is None else _signed(rows))
    part -= part.min(initial=0)
    keys *= int(part.max(initial=0)) + 1
    keys += part
    del part  # of a million rows, each copy counts
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    strata = np.where(shared, sets, ANYWHERE)[first]
    return ExchangeUnits(of_row, group[first], strata)


def _signed(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return codes as they are, where they can be below 0; unsigned ones would wrap around."""
    found = np.asarray(codes)
    return found if found.dtype.kind == "i" else found.astype(np.intp)


def _shared(labels: Integers, sets: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return [rows]: whether a row's set has rows of several labels."""
    different, place = np.unique(sets, return_inverse=True)
    most = np.full(len(different), -1)
    least = np.full(len(different), np.iinfo(np.int64).max)
    np.maximum.at(most, place, labels)
    np.minimum.at(least, place, labels)
    return np.asarray((sets >= 0) & (most > least)[place])
