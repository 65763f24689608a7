"""Relabellings of samples in which a few extreme values outweigh all others.

The sum of a group then takes a few far separate values, by which of the extreme ones fall to it,
and no smooth approximation follows that. So every way in which these can fall is looked at, and
only the sum of the others is taken as normal, with its mean and spread over all relabellings.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.comparisons.relabelling import log_ways
from biaswatch.shared.stats.samples import Vector

MOST_EXTREME = 10
"""1,024 ways."""
_OUTWEIGHED, _NEARLY_ALL = 0.97, 0.99
_TIE = 1e-9
"""Relative to the largest value: sums closer than this are the same sum."""
Floats = NDArray[np.float64]
Ways = np.ndarray[tuple[int, int], np.dtype[np.bool_]]


def extreme_exchange_p(values: Vector, n: int, of_a: float) -> float:
    """Return the two-sided mid-p of the sum of n of the values; 0 where none outweigh the others.

    Parameters
    ----------
    values
        Of both groups.
    of_a
        The sum of those that lie in the group of n.
    """
    moved = values - float(np.median(values))
    total = of_a - n * float(np.median(values))
    del values  # of millions there are enough with the numbers made of them
    extreme = _extreme(moved)
    if not extreme.any():
        return 0.0
    few, rest = moved[extreme], moved[~extreme]
    ways = _ways(len(few))
    taken = ways.sum(axis=1)
    left = n - taken
    possible = (left >= 0) & (left <= len(rest))
    ways, left = ways[possible], left[possible]
    logs = log_ways(len(rest), left) - log_ways(len(moved), n)
    share = left / len(rest)
    spread = np.sqrt(np.maximum(left * (1 - share) * len(rest) / max(len(rest) - 1, 1), 0.0))
    means = np.asarray(ways @ few + left * float(rest.mean()), dtype=np.float64)
    return _mid_p(means, spread * float(rest.std()), np.exp(logs), total)


def extreme_flip_p(differences: Vector) -> float:
    """Return the two-sided mid-p of the sum over all signs; 0 where none outweigh the others."""
    extreme = _extreme(differences)
    if not extreme.any():
        return 0.0
    few, rest = np.abs(differences[extreme]), differences[~extreme]
    ways = _ways(len(few))
    spread = np.full(len(ways), float(np.sqrt((rest**2).sum())))
    sums = np.asarray((2.0 * ways - 1) @ few, dtype=np.float64)
    return _mid_p(sums, spread, np.full(len(ways), 1 / len(ways)), float(differences.sum()))


def _extreme(moved: Vector) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which few values have nearly all of the sum of squares; none where it takes many."""
    squares = moved**2
    most = min(MOST_EXTREME, len(moved) // 4)
    few = len(moved) - min(len(moved), most + 1)
    largest = np.sort(np.partition(squares, few)[few:] if len(moved) else squares)[::-1]
    # A drop ends the few, so that values which are as extreme as each other are in it together.
    ends = np.flatnonzero(largest[:most] > largest[1 : most + 1] * (1 + _TIE))
    reached = np.cumsum(largest)[ends] / squares.sum()
    if not len(ends) or reached[-1] < _OUTWEIGHED:
        return np.zeros(len(moved), dtype=np.bool_)
    end = ends[min(int(np.searchsorted(reached, _NEARLY_ALL)), len(ends) - 1)]
    return np.asarray(squares > largest[end + 1] * (1 + _TIE))


def _ways(count: int) -> Ways:
    """Return [2 ** count, count]: every way to take some of them."""
    return ((np.arange(2**count)[:, None] >> np.arange(count)) & 1).astype(np.bool_)


def _mid_p(means: Floats, spreads: Floats, chances: Floats, total: float) -> float:
    """Return twice the smaller tail of a mixture of normal sums, at most 1; ties count a half."""
    near = _TIE * float(np.abs(means).max())
    distance = means - total
    certain = np.where(distance > 0, np.inf, -np.inf)
    scores = np.divide(distance, spreads, out=certain, where=spreads > near)
    scores[np.abs(distance) <= near] = 0.0
    above = float(chances @ special.ndtr(scores)) / float(chances.sum())
    return min(1.0, 2 * min(above, 1 - above))
