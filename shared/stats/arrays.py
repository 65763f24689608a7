"""Types of numpy arrays, and rows that are views."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]


def adjacent(rows: Ints | slice) -> Ints | slice:
    """Return rows as a slice where they are adjacent, so that taking them copies nothing."""
    if isinstance(rows, slice) or not len(rows):
        return rows
    first, last = int(rows[0]), int(rows[-1])
    are_adjacent = last - first + 1 == len(rows) and (rows[1:] > rows[:-1]).all()
    return slice(first, last + 1) if are_adjacent else rows
