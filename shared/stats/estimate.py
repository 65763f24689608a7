"""What statistics take and return: present values, a level, and an estimate with its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate; what is undefined is None with a reason, never 0."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str | None = None


def undefined(reason: str, *, value: float | None = None, method: str = "") -> IntervalEstimate:
    """Return an estimate without an interval, or without a value too, and the reason."""
    return IntervalEstimate(value=value, method=method, reason=reason)


def check_alpha(alpha: float) -> None:
    """Raise ValueError, with one sentence, unless alpha lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha:g}, but it has to lie between 0 and 1.")


Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
Sample = Sequence[float | None] | Vector
"""One number per answer; None, NaN and infinities are missing answers."""
AnswersByPrompt = Mapping[Any, Sample]
"""One group's answers by prompt, a hashable key: the same key in two groups is the same prompt."""


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
