"""The mean of independent units: its confidence curve, its interval, and ratios of two rates.

A mean by itself and each side of a gap have the same curve, so that a group's interval and its
comparisons rest on the same assumptions.
"""

from collections.abc import Sequence
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.comparisons.bounded_mean import bounded_mean_curve
from biaswatch.shared.stats.comparisons.compared_samples import MIN_UNITS, Bounds, SamplePart
from biaswatch.shared.stats.comparisons.confidence_curve import (
    Curve,
    confidence_limits,
    student_curve,
)
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.samples import Vector

BOUNDED, STUDENT = "bounded means, over units", "Student's t, over units"
NO_VALUES = "no values"
ONE_UNIT = "one unit has no spread: an interval needs two, or a declared range"
NO_SPREAD = "equal values do not show how much they could differ: declare the range"


def mean_interval(units: Vector, bounds: Bounds | None, alpha: float) -> Estimate:
    """Return the mean of units with an interval that holds for flat and small groups too.

    Where the range is known, the interval is that of bounded means, or for a spread sample of 15
    units and more that of Student's t with one value more at each end of the range. Where it
    is not, Student's t, and none for a single unit or equal values. Limits never leave the range.

    Parameters
    ----------
    units
        [n]: one finite value for each unit, independent of one another.
    bounds
        The range of values, in their unit; None where it is unknown.
    alpha
        1 minus the coverage, in (0, 1).

    Raises
    ------
    ValueError
        For alpha outside (0, 1).

    References
    ----------
    Gaffke (2005) and Student (1908): see `bounded_mean` and `confidence_curve`.

    Examples
    --------
    >>> interval = mean_interval(np.array([0.0, 1.0, 1.0, 0.0]), (0.0, 1.0), 0.05)
    >>> interval.value, round(interval.low, 2), round(interval.high, 2)
    (0.5, 0.09, 0.91)
    """
    check_alpha(alpha)
    if not len(units):
        return undefined(NO_VALUES, method=STUDENT)
    wide = widened_bounds(units, bounds)
    part = SamplePart.of(units, wide)
    value = float(part.values.mean())
    if bounds is None and not part.regular:
        reason = NO_SPREAD if len(units) >= MIN_UNITS else ONE_UNIT
        return undefined(reason, value=value, method=STUDENT)
    low, high = confidence_limits(mean_curve(part, wide), alpha)
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    method = STUDENT if part.regular else BOUNDED
    return Estimate(value, min(low, value), max(high, value), method)


def rate_interval(shares: Vector, alpha: float) -> Estimate:
    """Return the mean share of units, such as the share of a prompt's answers that was selected.

    Where every unit is wholly selected or not, the limits are mid-p Clopper and Pearson's.

    Parameters
    ----------
    shares
        [units]: each in [0, 1].
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Clopper and Pearson (1934); Lancaster (1961) for mid-p.
    """
    if len(shares) and np.isin(shares, (0.0, 1.0)).all():
        check_alpha(alpha)
        limits = confidence_limits(bounded_mean_curve(shares, 0.0, 1.0), alpha)
        return Estimate(float(shares.mean()), *limits, "mid-p Clopper-Pearson, over units")
    return mean_interval(shares, (0.0, 1.0), alpha)


def impact_ratio_of_means(a: Sequence[float], b: Sequence[float], alpha: float) -> Estimate:
    """Return the impact ratio of two groups of units: the smaller selection rate over the larger.

    The interval is the delta method's on the logarithm, with the variance between units instead of
    the binomial one. It may reach above 1: which group is selected less is itself uncertain.
    Undefined where no unit is selected; without an interval where one group has no selections or
    fewer than two units.

    Parameters
    ----------
    a, b
        The share of each unit that is selected, in [0, 1].
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Katz et al. (1978), Obtaining confidence intervals for the risk ratio in cohort studies.
    """
    method = "log delta over units"
    if not a or not b:
        return undefined("a group has no values", method=method)
    low, high = sorted((np.asarray(a, dtype=float), np.asarray(b, dtype=float)), key=np.mean)
    if high.mean() == 0:
        return undefined("no case is selected in either group", method=method)
    value = float(low.mean() / high.mean())
    if value == 0:
        return undefined("no case is selected in one group", value=0.0, method=method)
    if min(len(low), len(high)) < MIN_UNITS:
        reason = "one unit has no spread: an interval needs two"
        return undefined(reason, value=value, method=method)
    variance = sum(float(g.var(ddof=1)) / (len(g) * float(g.mean()) ** 2) for g in (low, high))
    if variance == 0:
        return undefined("all units are equal", value=value, method=method)
    reach = float(special.ndtri(1 - alpha / 2)) * sqrt(variance)
    return Estimate(value, exp(log(value) - reach), exp(log(value) + reach), method)


def widened_bounds(units: Vector, bounds: Bounds | None) -> Bounds | None:
    """Return the range, wide enough for `independent_units`: large families weigh more."""
    if bounds is None:
        return None
    return min(bounds[0], float(units.min())), max(bounds[1], float(units.max()))


def mean_curve(part: SamplePart, bounds: Bounds | None) -> Curve:
    """Return the confidence curve of a mean.

    Raises
    ------
    ValueError
        Student's t does not fit, and no range is known.
    """
    if part.regular:
        return student_with_ends(part.values, bounds)
    if bounds is None:
        raise ValueError("the mean of values without a spread, or a range, has no curve")
    return bounded_mean_curve(part.values, *bounds)


def student_with_ends(
    values: Vector, bounds: Bounds | None, weight: float = 1.0, *, dof: float | None = None
) -> Curve:
    """Return Student's curve of the values and one more at each end of a known range.

    The two allow for rare values that were not seen, as Agresti and Caffo's added answers do for
    shares: without them a rare value that no unit has shown is taken as impossible.

    Parameters
    ----------
    values
        [n], finite.
    bounds
        The range, None where it is unknown.
    weight
        Weight of each added value; the others have weight 1.
    dof
        Degrees of freedom, where the spread rests on fewer than all values.

    References
    ----------
    Student (1908); Agresti and Caffo (2000), Simple and effective confidence intervals.
    """
    added = 0.0 if bounds is None else weight
    ends = np.array(bounds or (0.0, 0.0))
    n = len(values) + 2 * added
    mean = (float(values.sum()) + added * float(ends.sum())) / n
    squares = ((values - mean) ** 2).sum() + added * ((ends - mean) ** 2).sum()
    return student_curve(mean, sqrt(float(squares) / (n - 1) / n), n - 1 if dof is None else dof)


def independent_units(values: Vector, families: NDArray[np.integer]) -> Vector:
    """Return one value for each independent unit of a group, with the mean of all its values.

    Values of one family belong together and count as one unit. It is the family's mean; where
    families differ in size, its distance from the mean of all is weighed by its size, so that the
    mean over units stays that over values, and its variance is that of a weighted mean.

    Parameters
    ----------
    values
        [n], finite.
    families
        [n], codes of families; below 0 for a value of its own.
    """
    own = families < 0
    if own.all():
        return values
    codes = np.where(own, families.max(initial=-1) + 1 + np.arange(len(values)), families)
    _, of_value, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    if len(sizes) == len(values):
        return values
    order = np.argsort(values, kind="stable")  # sums would differ with the order of rows
    of_value, values = of_value[order], values[order]
    means = np.bincount(of_value, weights=values) / sizes
    if (sizes == sizes[0]).all():
        return np.asarray(means, dtype=np.float64)
    centre = float(values.mean())
    return np.asarray(centre + (means - centre) * sizes / sizes.mean(), dtype=np.float64)
