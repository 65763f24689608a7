"""Samples as statistics take them, and the values of a sample that are present."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Sample = Sequence[float | None] | Vector
"""One number per answer; None, NaN and infinities are missing answers."""
AT_ONCE = 2**16
"""Values that are worked on together, where the temporaries of millions would be in the way."""
AnswersByPrompt = Mapping[Any, Sample]
"""One group's answers by prompt, a hashable key: the same key in two groups is the same prompt."""


def stretches(length: int) -> Iterator[slice]:
    """Yield slices that together hold every place of a long sample, in order."""
    for begin in range(0, length, AT_ONCE):
        yield slice(begin, min(begin + AT_ONCE, length))


def in_order(values: Vector) -> Vector:
    """Return values sorted: themselves where they are already, which saves the copy of millions."""
    return values if bool((values[1:] >= values[:-1]).all()) else np.sort(values)


def present(sample: Sample) -> tuple[Vector, int]:
    """Return the finite values of a sample, in order, and the number of those that are not."""
    values = np.asarray(sample, dtype=np.float64).reshape(-1)
    finite = values[np.isfinite(values)]
    return finite, len(values) - len(finite)


def present_pairs(a: Sample, b: Sample) -> tuple[Vector, Vector, int]:
    """Return the pairs of which both values are finite, and the number of the other pairs."""
    x, y = np.asarray(a, dtype=np.float64).reshape(-1), np.asarray(b, dtype=np.float64).reshape(-1)
    if len(x) != len(y):
        raise ValueError(f"pairs need as many values in a as in b, not {len(x)} and {len(y)}")
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both], int((~both).sum())
