"""Selection rates and the ratio of two of them, over units."""

from collections.abc import Sequence
from math import exp, log, sqrt

import numpy as np
from scipy import stats

from shared.stats.comparisons.means import NO_VALUES, mean_of
from shared.stats.estimate import Estimate, undefined


def share_of(units: Sequence[float], alpha: float) -> Estimate:
    """Return the mean share of units.

    Each unit's share lies in [0, 1]: the part of its repeats that was selected. Where every unit is
    wholly selected or not, the interval is Wilson's score interval (1927); else it is Student's t,
    because repeats of a prompt are one unit.
    """
    if not units:
        return undefined(NO_VALUES)
    if any(share not in (0.0, 1.0) for share in units):
        return mean_of(units, alpha)
    selected = round(sum(units))
    test = stats.binomtest(selected, len(units))
    interval = test.proportion_ci(1 - alpha, method="wilson")
    return Estimate(
        selected / len(units), float(interval.low), float(interval.high), "Wilson over units"
    )


def ratio(a: Sequence[float], b: Sequence[float], alpha: float) -> Estimate:
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
