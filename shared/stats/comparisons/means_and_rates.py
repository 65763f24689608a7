"""Means of units, their differences and ratios of rates, with intervals by Student and delta."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from scipy import special, stats

from shared.stats.estimate import IntervalEstimate, undefined

NO_VALUES = "no values"
ONE_UNIT = "one unit has no spread: an interval needs two"
NO_SPREAD = "all values are equal: a t interval would claim certainty"
ROUNDING = 1e-12
"""Relative to the largest value: a spread below this was made by arithmetic, not by data."""
Values = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True)
class MeanDifference:
    """A difference of means and the p-value for none at all."""

    estimate: IntervalEstimate
    p_value: float | None
    """None where there is no test."""
    p_at_tolerance: float | None = None
    """Where a test decides and no interval alone: for a gap on the other side of the tolerance."""
    known: bool = False
    """No answer to any prompt ever varied: the gap of these prompts is known, without a test."""


def mean_of(units: Sequence[float], alpha: float) -> IntervalEstimate:
    """Return the mean of units with its two-sided Student t interval.

    Parameters
    ----------
    units
        One finite value per unit of analysis; units are taken as independent.
    alpha
        1 minus the coverage, in (0, 1).

    Returns
    -------
    Estimate
        Without an interval for fewer than two units, or when all are equal.

    References
    ----------
    Student (1908), The probable error of a mean.
    """
    method = "t over units"
    if not units:
        return undefined(NO_VALUES, method=method)
    values = np.asarray(units, dtype=float)
    mean = float(values.mean())
    if reason := _no_interval(values):
        return undefined(reason, value=mean, method=method)
    return _student(mean, *_error_and_dof(values), alpha, method).estimate


def difference(
    a: Sequence[float], b: Sequence[float], alpha: float, *, paired: bool
) -> MeanDifference:
    """Return mean(a) - mean(b) with its t interval and two-sided p-value.

    Parameters
    ----------
    a, b
        One finite value per unit. With `paired`, the i-th of both belong to the same
        counterfactual set; without, variances may differ (Welch).
    alpha
        1 minus the coverage, in (0, 1).
    paired
        Whether the units come in pairs.

    Returns
    -------
    Difference
        With the value but without interval and p-value where the spread is unknown or zero.

    References
    ----------
    Welch (1947), The generalization of Student's problem.
    """
    method = "paired t over sets" if paired else "Welch t over units"
    if not a or not b:
        return MeanDifference(undefined("a group has no values", method=method), None)
    x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    gap = float(x.mean() - y.mean())
    scale = float(max(np.abs(x).max(), np.abs(y).max()))
    reason = _no_interval(x - y, scale=scale) if paired else _no_welch(x, y)
    if reason:
        return MeanDifference(undefined(reason, value=gap, method=method), None)
    error_and_dof = _error_and_dof(x - y) if paired else _welch(x, y)
    return _student(gap, *error_and_dof, alpha, method)


def _error_and_dof(values: Values) -> tuple[float, float]:
    return float(values.std(ddof=1)) / sqrt(len(values)), len(values) - 1


def _welch(x: Values, y: Values) -> tuple[float, float]:
    """Return the standard error and Welch and Satterthwaite's degrees of freedom.

    Not scipy's test: it warns of lost precision where one group alone has no spread, which is a
    plain and frequent case here.
    """
    vx, vy = float(x.var(ddof=1)) / len(x), float(y.var(ddof=1)) / len(y)
    share = vx / (vx + vy)
    dof = 1 / (share**2 / (len(x) - 1) + (1 - share) ** 2 / (len(y) - 1))
    return sqrt(vx + vy), dof


def _student(value: float, error: float, dof: float, alpha: float, method: str) -> MeanDifference:
    reach = -float(special.stdtrit(dof, alpha / 2)) * error
    p_value = float(2 * special.stdtr(dof, -abs(value) / error))
    return MeanDifference(IntervalEstimate(value, value - reach, value + reach, method), p_value)


def _no_interval(values: Values, *, scale: float | None = None) -> str | None:
    if len(values) < 2:
        return ONE_UNIT
    return NO_SPREAD if is_flat(values, scale) else None


def _no_welch(x: Values, y: Values) -> str | None:
    if min(len(x), len(y)) < 2:
        return ONE_UNIT
    return NO_SPREAD if is_flat(x) and is_flat(y) else None


def is_flat(values: Values, scale: float | None = None) -> bool:
    """Return whether the spread is only rounding, which a t test would take for precision."""
    largest = scale if scale is not None else float(np.abs(values).max())
    if largest == 0:
        return float(np.ptp(values)) == 0
    shares = values / largest  # the squares of values near 1e300 could not be computed
    return float(np.ptp(shares)) <= ROUNDING or largest * (largest * float(shares.var())) == 0


def impact_ratio(a: Sequence[float], b: Sequence[float], alpha: float) -> IntervalEstimate:
    """Return the impact ratio: the smaller selection rate over the larger.

    The interval is the delta method's on the logarithm (Katz et al. 1978, with the variance between
    units in the place of the binomial one). It may reach above 1: which group is selected less is
    itself uncertain. Undefined where nobody at all is selected; without an interval where one group
    has no selections or fewer than two units.
    """
    method = "log delta over units"
    if not a or not b:
        return undefined("a group has no values", method=method)
    low, high = sorted((np.asarray(a, dtype=float), np.asarray(b, dtype=float)), key=np.mean)
    if high.mean() == 0:
        return undefined("nobody is selected in either group", method=method)
    value = float(low.mean() / high.mean())
    if value == 0:
        return undefined("nobody is selected in one group", value=0.0, method=method)
    if min(len(low), len(high)) < 2:
        return undefined(
            "one unit has no spread: an interval needs two", value=value, method=method
        )
    variance = sum(float(g.var(ddof=1)) / (len(g) * float(g.mean()) ** 2) for g in (low, high))
    if variance == 0:
        return undefined("all units are equal", value=value, method=method)
    reach = float(stats.norm.ppf(1 - alpha / 2)) * sqrt(variance)
    return IntervalEstimate(value, exp(log(value) - reach), exp(log(value) + reach), method)
