"""How large a difference is, in units of spread: Cohen's d, Hedges' g, d_z and Cliff's delta."""

from dataclasses import replace
from math import atanh, sqrt, tanh

import numpy as np
from scipy import special, stats

from biaswatch.shared.stats.comparisons.means_and_rates import NO_SPREAD, ONE_UNIT, ROUNDING
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.samples import Sample, Vector, present, present_pairs

EMPTY = "a group has no values"
SEPARATED = "the groups do not overlap at all: the spread of delta is unknown"
NONCENTRAL_UP_TO = 30.0
"""Beyond this t the noncentral distribution is slow and normal to three digits."""


def cohens_d(a: Sample, b: Sample, alpha: float) -> Estimate:
    """Return the difference of means over the pooled standard deviation (ddof 1).

    Parameters
    ----------
    a, b
        One value per unit; units independent, normal with one variance for the interval to be
        exact. Missing values are left out.
    alpha
        1 minus the coverage of the interval, which inverts the noncentral t distribution.

    Returns
    -------
    Estimate
        Undefined where a group has no values, where both have one, or where there is no spread
        in either group; without an interval where a group has one value.

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
    if max(np.ptp(x), np.ptp(y)) <= ROUNDING * largest or inside == 0:
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

    References
    ----------
    Hedges (1981), Distribution theory for Glass's estimator of effect size.
    """
    return _less_biased(cohens_d(a, b, alpha), len(present(a)[0]) + len(present(b)[0]) - 2)


def hedges_g_of_moments(gap: float, inside: float, n: tuple[int, int], alpha: float) -> Estimate:
    """Return Hedges' g as `hedges_g` does, of groups whose values are not at hand.

    Parameters
    ----------
    gap
        mean(a) - mean(b), in the unit of the values.
    inside
        Squared deviations from the mean of their own group, summed over both; above 0.
    n
        Values of a and of b, at least one each and three together.
    alpha
        1 minus the coverage of the interval.

    References
    ----------
    Hedges (1981), Distribution theory for Glass's estimator of effect size.
    """
    check_alpha(alpha)
    return _less_biased(_d_of_moments(gap, inside, n, alpha), sum(n) - 2)


def _less_biased(d: Estimate, dof: int) -> Estimate:
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
    if np.ptp(difference) <= ROUNDING * largest or difference.std() == 0:
        return undefined(NO_SPREAD.split(":")[0], method=method)
    value = float(difference.mean() / difference.std(ddof=1))
    return _with_interval(value, sqrt(len(x)), len(x) - 1, alpha, method)


def cliffs_delta(a: Sample, b: Sample, alpha: float) -> Estimate:
    """Return P(a > b) - P(a < b) over all pairs of one value of a and one of b, in [-1, 1].

    The same number as the rank-biserial correlation, and 2 superiority - 1. Its interval takes the
    variance from the placements of each value in the other group, works on the inverse hyperbolic
    tangent, so that it stays inside [-1, 1], and uses Student's t with Welch and Satterthwaite's
    degrees of freedom. Without an interval where the groups are separated entirely, or a group has
    one value; undefined where a group is empty.

    References
    ----------
    Cliff (1993), Dominance statistics; variance: Brunner and Munzel (2000), The nonparametric
    Behrens-Fisher problem.
    """
    check_alpha(alpha)
    method = "Cliff's delta, placements, atanh"
    x, y = present(a)[0], present(b)[0]
    if not len(x) or not len(y):
        return undefined(EMPTY, method=method)
    in_y, in_x = _placements(x, y), _placements(y, x)
    delta = float(in_y.mean())
    if min(len(x), len(y)) < 2:
        return undefined(ONE_UNIT, value=delta, method=method)
    vx, vy = float(in_y.var(ddof=1)) / len(x), float(in_x.var(ddof=1)) / len(y)
    if vx + vy <= 0:
        reason = SEPARATED if abs(delta) == 1 else "every value has the same place in the other"
        return undefined(reason, value=delta, method=method)
    share = vx / (vx + vy)
    dof = 1 / (share**2 / (len(x) - 1) + (1 - share) ** 2 / (len(y) - 1))
    reach = float(stats.t.ppf(1 - alpha / 2, dof)) * sqrt(vx + vy) / (1 - delta**2)
    low, high = tanh(atanh(delta) - reach), tanh(atanh(delta) + reach)
    return Estimate(delta, low, high, method)


def _placements(x: Vector, y: Vector) -> Vector:
    """Return for each x the share of y below it minus the share above it."""
    ordered = np.sort(y)
    below, upto = np.searchsorted(ordered, x, "left"), np.searchsorted(ordered, x, "right")
    return np.asarray((below - (len(y) - upto)) / len(y), dtype=np.float64)


def _with_interval(value: float, root: float, dof: int, alpha: float, name: str) -> Estimate:
    """Return the effect with the interval of effects whose t distribution fits the observed t."""
    t = value * root
    if abs(t) > NONCENTRAL_UP_TO:
        error = sqrt(1 / root**2 + value**2 / (2 * dof))
        reach = float(stats.norm.ppf(1 - alpha / 2)) * error
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
