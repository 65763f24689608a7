"""Sums of groups, from which means, spreads and gaps follow: what an engine computes of any table.

For each group and feature: how many values, their smallest and largest, and sums of powers about a
shift that is near the mean, so that no digit is lost. Sums of parts of a table add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.reasons import Floats

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Moments:
    """Sums of groups on features, all arrays [groups, features]."""

    rows: Counts
    """Rows of the group, with a value or without."""
    n: Counts
    """Values that are present."""
    shift: Floats
    """What was taken from each value before it was summed."""
    first: Floats
    """The sum of value - shift."""
    second: Floats
    """The sum of its squares."""
    third: Floats
    """The sum of its cubes."""
    low: Floats
    """The smallest value, nan where there is none."""
    high: Floats

    @property
    def mean(self) -> Floats:
        """The mean, between the smallest and the largest value; nan where there is no value."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.clip(self.shift + self._about(self.first), self.low, self.high))

    @property
    def square_sum(self) -> Floats:
        """The sum of squared deviations from the mean, at least 0; nan where there is no value."""
        inside = self.second - self.first * self._about(self.first)
        return np.where(self.n > 0, np.maximum(inside, 0.0), np.nan)

    @property
    def skewness(self) -> Floats:
        """Pearson's skewness, without a correction for n; nan where the values have no spread."""
        mean, square = self._about(self.first), self._about(self.second)
        variance = square - mean**2
        cube = self._about(self.third) - 3 * mean * square + 2 * mean**3
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(variance > 0, cube / variance**1.5, np.nan)

    def standard_deviation(self, ddof: int) -> Floats:
        """Return the standard deviation, nan where there are not more values than `ddof`."""
        left = self.n - ddof
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(left > 0, np.sqrt(self.square_sum / left), np.nan)

    def _about(self, sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self.n > 0, sums / self.n, np.nan))


def moments_of(values: Floats, codes: NDArray[np.intp], groups: int, shift: Floats) -> Moments:
    """Return the sums of groups of a table in memory.

    Parameters
    ----------
    values
        [rows, features]; nan and infinities are missing.
    codes
        [rows], the group of each row.
    groups
        How many there are.
    shift
        [features], near the means.
    """
    there = np.isfinite(values)
    moved = np.where(there, values - shift, 0.0)
    shape = (groups, values.shape[1])
    first, second, third = (np.zeros(shape) for _ in range(3))
    for power, total in enumerate((first, second, third), start=1):
        np.add.at(total, codes, moved**power)
    n = np.zeros(shape, dtype=np.int64)
    np.add.at(n, codes, there.astype(np.int64))
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(low, codes, np.where(there, values, np.inf))
    np.maximum.at(high, codes, np.where(there, values, -np.inf))
    rows = np.bincount(codes, minlength=groups).astype(np.int64)
    none = n == 0
    return Moments(
        rows=np.repeat(rows[:, None], shape[1], axis=1),
        n=n,
        shift=np.broadcast_to(shift, shape).copy(),
        first=first,
        second=second,
        third=third,
        low=np.where(none, np.nan, low),
        high=np.where(none, np.nan, high),
    )


def joined(parts: Sequence[Moments]) -> Moments:
    """Return the sums of several parts of a table, or of several groups as one; shifts are equal.

    Raises
    ------
    ValueError
        Shifts differ.
    """
    if any(not np.array_equal(each.shift, parts[0].shift) for each in parts):
        raise ValueError("sums about different shifts do not add up")
    summed = {
        name: np.sum([getattr(each, name) for each in parts], axis=0)
        for name in ("rows", "n", "first", "second", "third")
    }
    low = np.fmin.reduce([each.low for each in parts])
    high = np.fmax.reduce([each.high for each in parts])
    return Moments(shift=parts[0].shift, low=low, high=high, **summed)
