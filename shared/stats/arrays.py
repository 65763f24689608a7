"""Types of numpy arrays, and rows of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]


def picked(array: NDArray[Any], rows: Ints) -> NDArray[Any]:
    """Return rows of an array: as a view, where they are adjacent."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows) and (rows[1:] > rows[:-1]).all():
        return array[rows[0] : rows[-1] + 1]
    chosen: NDArray[Any] = array[rows]
    return chosen
