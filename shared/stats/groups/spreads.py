"""Spread of group values: the names of its metrics, Z-scores and Dixon's Q."""

from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Floats, Indices

MIN_VALUES = 3
"""Values that Dixon's Q needs."""
METRICS = (
    *("Max", "Min", "Min/Max", "Max-Min", "Avg", "Std"),
    *("Max Z-Score", "Min Z-Score", "Z-Score Bound", "Impact Ratio"),
    *("Dixon Q", "Dixon Q Low", "Dixon Q High"),
)
"""Numbers that say how far the values of groups lie apart."""


@dataclass(frozen=True)
class DixonQ:
    """Dixon's Q of each column at both ends, in [0, 1]; nan where it is 0 over 0."""

    low: Floats
    high: Floats

    @property
    def largest(self) -> Floats:
        """The larger of both ends, nan only where neither is defined."""
        return np.asarray(np.fmax(self.low, self.high))


def dixon(ordered: Floats, n: Indices) -> DixonQ:
    """Return Dixon's ratio for columns of ascending values.

    Parameters
    ----------
    ordered
        [k, columns], ascending along the first axis, nan last.
    n
        [columns]: how many values each column has.

    Returns
    -------
    DixonQ
        r10 for 3 to 7 values, r11 for 8 to 10, r21 for 11 to 13, r22 from 14 on: the distance to
        the first (r2*: second) neighbour, over the range without the farthest (r*2: two farthest)
        at the other end. Nan for fewer than three values and where the denominator is 0.

    References
    ----------
    Dixon (1950), Analysis of extreme values; Rorabacher (1991) for the ranges of n.
    """
    neighbour = np.where(n <= 10, 1, 2)
    trimmed = np.where(n <= 7, 0, np.where(n <= 13, 1, 2))
    enough = n >= MIN_VALUES

    def at(place: Indices) -> Floats:
        if len(n) and n.min() == n.max():  # one place in every column
            return np.asarray(ordered[min(max(int(place[0]), 0), len(ordered) - 1)])
        kept = np.clip(place, 0, len(ordered) - 1)[None]
        return np.asarray(np.take_along_axis(ordered, kept, axis=0)[0])

    first, last = at(np.zeros_like(n)), at(n - 1)
    low = _over(at(neighbour) - first, at(n - 1 - trimmed) - first, enough)
    high = _over(last - at(n - 1 - neighbour), last - at(trimmed), enough)
    return DixonQ(low, high)


def _over(gap: Floats, span: Floats, enough: Bools) -> Floats:
    wide = span > 0
    return np.asarray(np.where(enough & wide, gap, np.nan) / np.where(wide, span, 1.0))


def extreme_z_scores(
    low: Floats, high: Floats, mean: Floats, spread: Floats, k: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the largest and the smallest Z-score, and the bound of their size.

    The standard deviation is that of the population (ddof 0). The
    bound is sqrt(k - 1).

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
    return (high - mean) / divisor, (low - mean) / divisor, bound
