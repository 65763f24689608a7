"""Differences of means, values without a spread, and ratios of rates by the delta method."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from scipy import stats

from biaswatch.shared.stats.estimate import Estimate, undefined

NO_VALUES = "no values"
ONE_UNIT = "one unit has no spread: an interval needs two"
NO_SPREAD = "all values are equal: a t interval would claim certainty"
ROUNDING = 1e-12
"""Relative to the largest value: a spread below this was made by arithmetic, not by data."""
Values = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True)
class MeanDifference:
    """A difference of means and the p-value for none at all."""

    estimate: Estimate
    p_value: float | None
    """None where there is no test."""
    p_at_tolerance: float | None = None
    """Where a test decides and no interval alone: for a gap on the other side of the tolerance."""


def is_flat(values: Values, scale: float | None = None) -> bool:
    """Return whether the spread is only rounding, which a t test would take for precision."""
    largest = scale if scale is not None else float(np.abs(values).max())
    if largest == 0:
        return float(np.ptp(values)) == 0
    shares = values / largest  # the squares of values near 1e300 could not be computed
    return float(np.ptp(shares)) <= ROUNDING or largest * (largest * float(shares.var())) == 0


def impact_ratio(a: Sequence[float], b: Sequence[float], alpha: float) -> Estimate:
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
    return Estimate(value, exp(log(value) - reach), exp(log(value) + reach), method)
