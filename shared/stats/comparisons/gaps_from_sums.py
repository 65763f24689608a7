"""Gaps and means of large samples from their sums alone, as engines give them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from biaswatch.shared.stats.arrays import Floats, Ints
from biaswatch.shared.stats.comparisons.compared_samples import MAX_REGULAR_SKEWNESS, Bounds
from biaswatch.shared.stats.comparisons.confidence_curve import (
    Curve,
    confidence_limits,
    gap_curve,
    student_curve,
)
from biaswatch.shared.stats.comparisons.effect_size import hedges_g_of_moments
from biaswatch.shared.stats.comparisons.gap_test import (
    NO_VALUES,
    GapResult,
    gap_result,
    untested_gap,
)
from biaswatch.shared.stats.comparisons.tolerance_tests import curve_tails, p_values_of
from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.samples import FLAT_RTOL

METHOD = "Student's t from sums"
MIN_UNITS_FOR_SUMS = 1000
"""Units a side; with fewer, the values themselves fit into memory."""
TOO_FEW = f"fewer than {MIN_UNITS_FOR_SUMS:,} units: diagnose these rows by themselves"
TOO_SKEW = "values are too skew for sums alone: diagnose a sample of the rows"
NO_SPREAD = "all values are equal: diagnose a sample of the rows with a declared range"


@dataclass(frozen=True)
class SampleSums:
    """Sums of the units of one group."""

    n: int
    mean: float
    square_sum: float
    """Sum of squared deviations from the mean."""
    skewness: float
    """NaN without a spread."""
    low: float
    high: float

    def why_no_curve(self) -> str | None:
        """Return why the sums are not enough for a curve, or None."""
        if not self.n:
            return NO_VALUES
        if self.n < MIN_UNITS_FOR_SUMS:
            return TOO_FEW
        largest = max(abs(self.low), abs(self.high))
        if self.high - self.low <= FLAT_RTOL * largest or self.skewness != self.skewness:
            return NO_SPREAD
        return TOO_SKEW if abs(self.skewness) > MAX_REGULAR_SKEWNESS * sqrt(self.n) else None

    def curve(self, bounds: Bounds | None) -> Curve:
        """Return Student's curve, of the units and one more at each end of a known range.

        The same as `student_with_ends` computes from the values.
        """
        added = 0 if bounds is None else 1
        ends = bounds or (0.0, 0.0)
        n = self.n + 2 * added
        mean = (self.n * self.mean + added * sum(ends)) / n
        squares = self.square_sum + self.n * (self.mean - mean) ** 2
        squares += added * sum((end - mean) ** 2 for end in ends)
        return student_curve(mean, sqrt(squares / (n - 1) / n), n - 1)


def mean_from_sums(units: SampleSums, bounds: Bounds | None, alpha: float) -> Estimate:
    """Return a mean with its interval, as `mean_interval` does for a regular sample."""
    if why := units.why_no_curve():
        return undefined(why, value=units.mean if units.n else None, method=METHOD)
    low, high = confidence_limits(units.curve(bounds), alpha)
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Estimate(units.mean, min(low, units.mean), max(high, units.mean), METHOD)


def gap_from_sums(
    a: SampleSums,
    b: SampleSums,
    bounds: Bounds | None,
    *,
    alpha: float,
    tolerance: float,
    family: int = 1,
) -> GapResult:
    """Return mean(a) - mean(b) with its intervals and tests, as `compare_samples` does.

    Assumes two independent samples of at least `MIN_UNITS_FOR_SUMS` units each. The test that
    exchanges labels, which has to agree in memory, is left out: it takes the values, and differs
    from Student's by less than samples of this size can show.

    Parameters
    ----------
    a, b
        The sums of both groups.
    bounds
        The range of values, None where it is unknown.
    alpha, tolerance, family
        As in `compare_samples`.

    References
    ----------
    Student (1908); Zou and Donner (2008) for the difference, as `confidence_curve` tells.
    """
    gap = a.mean - b.mean if a.n and b.n else None
    if why := a.why_no_curve() or b.why_no_curve():
        return untested_gap(why, gap, METHOD)
    curve = gap_curve(a.curve(bounds), b.curve(bounds))
    p_values = p_values_of(curve_tails(curve), tolerance)
    return gap_result(curve, gap, METHOD, p_values, alpha=alpha, tolerance=tolerance, family=family)


def effect_size_from_sums(a: SampleSums, b: SampleSums, alpha: float) -> Estimate:
    """Return Hedges' g with its interval, as `hedges_g` does from the values.

    Undefined, with the reason, where a gap from sums is.
    """
    if why := a.why_no_curve() or b.why_no_curve():
        return undefined(why, method="Hedges' g")
    inside = a.square_sum + b.square_sum
    return hedges_g_of_moments(a.mean - b.mean, inside, (a.n, b.n), alpha)


@dataclass(frozen=True)
class Moments:
    """Sums of groups on features, all arrays [groups, features]."""

    rows: Ints
    """Rows of the group, with a value or without."""
    n: Ints
    """Values that are present."""
    shift: Floats
    """Subtracted from each value before it is summed."""
    first: Floats
    """The sum of value - shift."""
    second: Floats
    """The sum of its squares."""
    third: Floats
    """The sum of its cubes."""
    low: Floats
    """The smallest value, nan without values."""
    high: Floats

    @property
    def mean(self) -> Floats:
        """The mean, clipped to the range of the values; nan without values."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.clip(self.shift + self._about(self.first), self.low, self.high))

    @property
    def square_sum(self) -> Floats:
        """The sum of squared deviations from the mean, at least 0; nan without values."""
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


def joined(parts: Sequence[Moments]) -> Moments:
    """Return the sums of several parts of a table, or of several groups as one; shifts are equal.

    Raises
    ------
    ValueError
        Shifts differ.
    """
    if any(not np.array_equal(part.shift, parts[0].shift) for part in parts):
        raise ValueError("sums about different shifts do not add up")
    summed = {
        name: np.sum([getattr(part, name) for part in parts], axis=0)
        for name in ("rows", "n", "first", "second", "third")
    }
    low = np.fmin.reduce([part.low for part in parts])
    high = np.fmax.reduce([part.high for part in parts])
    return Moments(shift=parts[0].shift, low=low, high=high, **summed)
