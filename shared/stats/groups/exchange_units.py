"""What moves as one where group labels are exchanged: a prompt, or a set inside one group."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shared.stats.groups.reasons import Floats, Integers

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
        """Return [units, columns]: the sums of each unit's rows."""
        if len(self.of_row) == len(self.labels):  # every row is a unit
            found = np.empty_like(values)
            found[self.of_row] = values
            return found
        shape = (len(self.labels), len(self.of_row))
        ones = (np.ones(shape[1]), (self.of_row, np.arange(shape[1])))
        return np.asarray(sparse.csr_array(ones, shape=shape) @ values)


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
    own = np.arange(len(labels)) if rows is None else np.asarray(rows)
    _, place = np.unique(sets, return_inverse=True)
    most, least = np.full(len(labels), -1), np.full(len(labels), np.iinfo(np.int64).max)
    np.maximum.at(most, place, labels)
    np.minimum.at(least, place, labels)
    has = np.asarray(sets) >= 0
    shared = has & (most > least)[place]
    nested = has & ~shared
    part = np.where(nested, sets, own)
    part = part - part.min(initial=0)
    # One number in the place of three sorts the same way, and much sooner.
    keys = (np.asarray(labels) * 2 + nested) * (part.max(initial=0) + 1) + part
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    strata = np.where(shared, sets, ANYWHERE)[first]
    return ExchangeUnits(of_row, np.asarray(labels)[first], strata)
