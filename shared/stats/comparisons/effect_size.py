"""Size of a difference in units of spread: Cohen's d, Hedges' g and d_z."""

from dataclasses import replace
from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.samples import FLAT_RTOL, Sample, present, present_pairs

EMPTY = "a group has no values"
ONE_UNIT = "one unit has no spread: an interval needs two"
MAX_NONCENTRAL_T = 30.0
"""Above this t the noncentral distribution is slow, and normal to three digits."""


def cohens_d(a: Sample, b: Sample, alpha: float) -> Estimate:
    """Return the difference of means over the pooled standard deviation (ddof 1).

    Parameters
    ----------
    a, b
        One value per unit; units independent, normal with one variance for the interval to be
        exact. Missing values are left out.
    alpha
        1 minus the coverage, in (0, 1), of the interval that inverts the noncentral t distribution.

    Returns
    -------
    Estimate
        In standard deviations. Undefined where a group has no values, where both have one, or where
        neither group has a spread; without an interval where a group has one value.

    References
    ----------
    Cohen (1988), Statistical Power Analysis; interval: Steiger and Fouladi (1997).
    """
    method = "Cohen's d"
    check_alpha(alpha)
    x, y = np.sort(present(a)[0]), np.sort(present(b)[0])  # sums depend on the order of rows
    if not len(x) or not len(y):
        return undefined(EMPTY, method=method)
    dof = len(x) + len(y) - 2
    if not dof:
        return undefined("two values have no spread within groups", method=method)
    # One power of two scales both, which is exact: squares of tiny numbers would vanish.
    _, power = np.frexp(max(np.abs(x).max(), np.abs(y).max()))
    x, y = np.ldexp(x, -power), np.ldexp(y, -power)
    inside = float(((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum())
    largest = float(max(np.abs(x).max(), np.abs(y).max()))
    if max(np.ptp(x), np.ptp(y)) <= FLAT_RTOL * largest or inside == 0:
        return undefined("there is no spread within the groups", method=method)
    return _d_of_moments(float(x.mean() - y.mean()), inside, (len(x), len(y)), alpha)


def _d_of_moments(gap: float, inside: float, n: tuple[int, int], alpha: float) -> Estimate:
    """Return d from the gap of the means and the squared deviations within both groups."""
    dof = sum(n) - 2
    value = gap / sqrt(inside / dof)
    if min(n) < 2:
        return undefined(ONE_UNIT, value=value, method="Cohen's d")
    return _with_interval(value, sqrt(n[0] * n[1] / sum(n)), dof, alpha, "Cohen's d")


def hedges_g(a: Sample, b: Sample, alpha: float) -> Estimate:
    """Return Cohen's d times 1 - 3 / (4 dof - 1), which removes its bias in small samples.

    The interval is d's times the same factor. Undefined where d is.

    Parameters
    ----------
    a, b, alpha
        As in `cohens_d`.

    References
    ----------
    Hedges (1981), Distribution theory for Glass's estimator of effect size.

    Examples
    --------
    >>> round(hedges_g([3.0, 4.0, 8.0], [1.0, 2.0, 2.0], 0.05).value, 3)
    1.393
    """
    return _bias_corrected(cohens_d(a, b, alpha), len(present(a)[0]) + len(present(b)[0]) - 2)


def hedges_g_of_moments(gap: float, inside: float, n: tuple[int, int], alpha: float) -> Estimate:
    """Return Hedges' g from the moments of both groups.

    Parameters
    ----------
    gap
        mean(a) - mean(b), in the unit of the values.
    inside
        Squared deviations from the mean of their own group, summed over both; above 0.
    n
        Values of a and of b, at least one each and three together.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Hedges (1981), Distribution theory for Glass's estimator of effect size.
    """
    check_alpha(alpha)
    return _bias_corrected(_d_of_moments(gap, inside, n, alpha), sum(n) - 2)


def _bias_corrected(d: Estimate, dof: int) -> Estimate:
    method = d.method.replace("Cohen's d", "Hedges' g")
    if d.value is None:
        return replace(d, method=method)
    factor = 1 - 3 / (4 * dof - 1)
    value, low, high = (None if x is None else x * factor for x in (d.value, d.low, d.high))
    return Estimate(value, low, high, method, d.reason)


def paired_d(a: Sample, b: Sample, alpha: float) -> Estimate:
    """Return d_z: the mean paired difference over the standard deviation of the differences.

    Not comparable with d: the spread is that of differences, so d_z grows with the correlation
    within pairs. Pairs with a missing value are left out.

    Parameters
    ----------
    a, b
        [pairs]: the i-th of both are one pair.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Cohen (1988), section 2.3.5; Lakens (2013), Calculating and reporting effect sizes.
    """
    check_alpha(alpha)
    method = "paired d_z"
    x, y, _ = present_pairs(a, b)
    if not len(x):
        return undefined("no pair has both values", method=method)
    if len(x) < 2:
        return undefined(ONE_UNIT, method=method)
    difference = np.sort(x - y)
    largest = float(max(np.abs(x).max(), np.abs(y).max()))
    if np.ptp(difference) <= FLAT_RTOL * largest or difference.std() == 0:
        return undefined("all differences are equal", method=method)
    value = float(difference.mean() / difference.std(ddof=1))
    return _with_interval(value, sqrt(len(x)), len(x) - 1, alpha, method)


def _with_interval(value: float, root: float, dof: int, alpha: float, name: str) -> Estimate:
    """Return the effect with the interval of effects whose t distribution fits the observed t."""
    t = value * root
    if abs(t) > MAX_NONCENTRAL_T:
        error = sqrt(1 / root**2 + value**2 / (2 * dof))
        reach = float(special.ndtri(1 - alpha / 2)) * error
        low, high, method = value - reach, value + reach, f"{name}, normal approximation"
    else:
        low = _noncentrality(t, dof, 1 - alpha / 2) / root
        high = _noncentrality(t, dof, alpha / 2) / root
        method = f"{name}, noncentral t"
    return Estimate(value, low, high, method)


def _noncentrality(t: float, dof: int, share: float) -> float:
    """Return the noncentrality at which a share of t values lies below the observed one."""
    if t < 0:
        return -_noncentrality(-t, dof, 1 - share)
    return float(special.nctdtrinc(dof, share, t))
