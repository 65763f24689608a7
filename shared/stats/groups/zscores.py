"""How many standard deviations the outermost groups lie from the mean of all groups."""

from dataclasses import dataclass

import numpy as np

from shared.stats.groups.reasons import Floats


@dataclass(frozen=True)
class Extremes:
    """The largest and the smallest Z-score of each column of groups."""

    largest: Floats
    """Above the mean; the upper tail."""
    smallest: Floats
    """Below the mean, a negative number; the lower tail."""
    bound: Floats
    """What neither can exceed in size, however far out a group lies: sqrt(k - 1)."""


def extreme_z_scores(
    low: Floats, high: Floats, mean: Floats, spread: Floats, k: Floats
) -> Extremes:
    """Return the outermost Z-scores, with the standard deviation of the population (ddof 0).

    Parameters
    ----------
    low, high, mean, spread
        The smallest and largest of k values, their mean and their standard deviation with ddof 0.
        Nan where the spread is 0.
    k
        How many values there are.

    References
    ----------
    Shiffler (1988), Maximum Z scores and outliers: |z| <= sqrt(k - 1) with ddof 0. With five groups
    no Z-score exceeds 2, so a threshold of 3 never fires for fewer than eleven.
    """
    divisor = np.where(spread > 0, spread, np.nan)
    bound = np.sqrt(np.maximum(k - 1, 0))
    return Extremes((high - mean) / divisor, (low - mean) / divisor, bound)
