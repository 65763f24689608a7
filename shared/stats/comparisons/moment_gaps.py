"""Gaps and means of large samples from their sums alone, as engines give them.

Student's curve is what a regular sample has in memory too (`gap_test`, `mean_interval`): its mean,
its squared deviations and its range say all of it. A sample that is small, flat or very skew needs
its values; here it has no interval, with the reason.
"""

from dataclasses import dataclass
from math import sqrt

from biaswatch.shared.stats.comparisons.compared_samples import MOST_SKEWNESS, Bounds
from biaswatch.shared.stats.comparisons.confidence_curve import (
    Curve,
    confidence_limits,
    gap_curve,
    student_curve,
)
from biaswatch.shared.stats.comparisons.effect_size import hedges_g_of_moments
from biaswatch.shared.stats.comparisons.gap_test import NO_VALUES, GapResult, gap_result
from biaswatch.shared.stats.comparisons.means_and_rates import ROUNDING
from biaswatch.shared.stats.comparisons.tolerance_tests import curve_tails, p_values_of
from biaswatch.shared.stats.estimate import IntervalEstimate, undefined

METHOD = "Student's t from sums"
ENOUGH_FOR_SUMS = 1000
"""Units of each side: with fewer, the values themselves fit into memory anyway."""
TOO_FEW = f"fewer than {ENOUGH_FOR_SUMS:,} units: diagnose these rows by themselves"
TOO_SKEW = "values are too skew for sums alone: diagnose a sample of the rows"
NO_SPREAD = "all values are equal: diagnose a sample of the rows with a declared range"


@dataclass(frozen=True)
class SampleSums:
    """What is known of the units of one group."""

    n: int
    mean: float
    square_sum: float
    """Of deviations from the mean."""
    skewness: float
    """nan where there is no spread."""
    low: float
    high: float

    def why_no_curve(self) -> str | None:
        """Return why the sums say too little, or None."""
        if not self.n:
            return NO_VALUES
        if self.n < ENOUGH_FOR_SUMS:
            return TOO_FEW
        largest = max(abs(self.low), abs(self.high))
        if self.high - self.low <= ROUNDING * largest or self.skewness != self.skewness:
            return NO_SPREAD
        return TOO_SKEW if abs(self.skewness) > MOST_SKEWNESS * sqrt(self.n) else None

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


def mean_from_sums(units: SampleSums, bounds: Bounds | None, alpha: float) -> IntervalEstimate:
    """Return a mean with its interval, as `mean_interval` does for a regular sample."""
    if why := units.why_no_curve():
        return undefined(why, value=units.mean if units.n else None, method=METHOD)
    low, high = confidence_limits(units.curve(bounds), alpha)
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return IntervalEstimate(units.mean, min(low, units.mean), max(high, units.mean), METHOD)


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

    Assumes two independent samples of at least `ENOUGH_FOR_SUMS` units each. The test that
    exchanges labels, which has to agree in memory, is left out: it takes the values, and differs
    from Student's by less than samples of this size can show.

    Parameters
    ----------
    bounds
        The range of values, None where it is not known.
    alpha, tolerance, family
        As in `compare_samples`.

    References
    ----------
    Student (1908); Zou and Donner (2008) for the difference, as `confidence_curve` tells.
    """
    gap = a.mean - b.mean if a.n and b.n else None
    if why := a.why_no_curve() or b.why_no_curve():
        nothing = undefined(why, value=gap, method=METHOD)
        return GapResult(nothing, nothing, None, None)
    curve = gap_curve(a.curve(bounds), b.curve(bounds))
    p_values = p_values_of(curve_tails(curve), tolerance)
    return gap_result(curve, gap, METHOD, p_values, alpha=alpha, tolerance=tolerance, family=family)


def effect_size_from_sums(a: SampleSums, b: SampleSums, alpha: float) -> IntervalEstimate:
    """Return Hedges' g with its interval, as `hedges_g` does from the values.

    Undefined, with the reason, where a gap from sums is.
    """
    if why := a.why_no_curve() or b.why_no_curve():
        return undefined(why, method="Hedges' g")
    inside = a.square_sum + b.square_sum
    return hedges_g_of_moments(a.mean - b.mean, inside, (a.n, b.n), alpha)
