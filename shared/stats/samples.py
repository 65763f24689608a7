"""Samples as statistics take them, their present values, and a cache of results by content."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

import numpy as np

from biaswatch.shared.caching import LatestResults
from biaswatch.shared.stats.arrays import Ints

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Sample = Sequence[float | None] | Vector
"""One number per answer; None, NaN and infinities are missing answers."""
CHUNK_VALUES = 2**16
"""Values processed together, which bounds the memory of temporaries."""
FLAT_RTOL = 1e-12
"""Relative to the largest value: a smaller spread comes from rounding, not from data."""
T = TypeVar("T")


def chunks(length: int) -> Iterator[slice]:
    """Yield consecutive slices that cover a sample of this length."""
    for begin in range(0, length, CHUNK_VALUES):
        yield slice(begin, min(begin + CHUNK_VALUES, length))


def ensure_sorted(values: Vector) -> Vector:
    """Return the values sorted; without a copy where they already are."""
    return values if bool((values[1:] >= values[:-1]).all()) else np.sort(values)


def present(sample: Sample) -> tuple[Vector, int]:
    """Return the finite values of a sample, in order, and the number of the others.

    Examples
    --------
    >>> present([1.0, None, 2.0])
    (array([1., 2.]), 1)
    """
    values = np.asarray(sample, dtype=np.float64).reshape(-1)
    finite = values[np.isfinite(values)]
    return finite, len(values) - len(finite)


def present_pairs(a: Sample, b: Sample) -> tuple[Vector, Vector, int]:
    """Return the pairs with two finite values, and the number of the other pairs.

    Raises
    ------
    ValueError
        The samples differ in length.
    """
    x, y = np.asarray(a, dtype=np.float64).reshape(-1), np.asarray(b, dtype=np.float64).reshape(-1)
    if len(x) != len(y):
        raise ValueError(f"pairs need as many values in a as in b, not {len(x)} and {len(y)}")
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both], int((~both).sum())


def is_flat(values: Vector, scale: float | None = None) -> bool:
    """Return whether the spread is only rounding, which a t test would take for precision.

    Parameters
    ----------
    values
        [n], at least one.
    scale
        Size of the values the spread is compared with; by default the largest absolute value.
    """
    largest = scale if scale is not None else float(np.abs(values).max())
    if largest == 0:
        return float(np.ptp(values)) == 0
    shares = values / largest  # the squares of values near 1e300 could not be computed
    return float(np.ptp(shares)) <= FLAT_RTOL or largest * (largest * float(shares.var())) == 0


def within_deviation(values: Vector, units: Ints) -> float | None:
    """Return the standard deviation of values within units, pooled over units.

    Parameters
    ----------
    values
        [n], finite.
    units
        [n], the unit of each value.

    Returns
    -------
    float or None
        In the unit of the values; None where no unit has two values.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 10.2 (the mean square within first-stage units).

    Examples
    --------
    >>> within_deviation(np.array([1.0, 3.0, 7.0]), np.array([0, 0, 1]))
    1.4142135623730951
    """
    _, of_value, counts = np.unique(units, return_inverse=True, return_counts=True)
    freedom = len(values) - len(counts)
    if not freedom:
        return None
    means = np.bincount(of_value, weights=values) / counts
    return float(np.sqrt(((values - means[of_value]) ** 2).sum() / freedom))


class ContentCache(Generic[T]):
    """The latest results of a function of a sample, by a digest of its values.

    Samples as keys would keep their memory; a digest takes 16 bytes.
    """

    def __init__(self, max_entries: int) -> None:
        self._results = LatestResults[Hashable, T](max_entries)

    def get(self, values: Vector, parameters: Hashable, compute: Callable[[], T]) -> T:
        """Return the result for these values, in this order, and parameters."""
        key = blake2b(values.tobytes(), digest_size=16).digest(), parameters
        return self._results.get(key, compute)
