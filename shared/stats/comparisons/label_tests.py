"""Tests that exchange labels, in closed form, however small the p-value.

Exact where there are few relabellings, or where one group lies wholly beyond the other; else by a
saddlepoint approximation of the distribution over all relabellings, which needs no random numbers;
where a few values outweigh all others, not below what every way of relabelling these gives.
"""

from dataclasses import dataclass
from math import comb, log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.comparisons.relabelling import (
    MAX_ENUMERATED,
    TIE_RTOL,
    Stratum,
    log_ways,
    permutation_test,
)
from biaswatch.shared.stats.samples import Vector, chunks, ensure_sorted

MAX_EXTREME = 10
"""Extreme values enumerated in all combinations: 1,024."""
_MIN_SQUARES_SHARE, _TARGET_SQUARES_SHARE = 0.97, 0.99
_TIE = 1e-9
"""Relative to the largest value: closer sums are equal."""


def extreme_exchange_p(values: Vector, n: int, of_a: float) -> float:
    """Return the two-sided mid-p of the sum of n values; 0 without dominating extreme values.

    `values` are those of both groups, `n` and `of_a` the size and the sum of the first.
    """
    ordered = np.sort(values)
    center = float(ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2
    del ordered
    moved, total = values - center, of_a - n * center
    del values  # each copy of millions counts
    extreme = _extreme(moved)
    if not extreme.any():
        return 0.0
    few, rest = moved[extreme], moved[~extreme]
    ways = _ways(len(few))
    extreme_of_a = ways.sum(axis=1)
    left = n - extreme_of_a
    possible = (left >= 0) & (left <= len(rest))
    ways, left = ways[possible], left[possible]
    logs = log_ways(len(rest), left) - log_ways(len(moved), n)
    share = left / len(rest)
    spread = np.sqrt(np.maximum(left * (1 - share) * len(rest) / max(len(rest) - 1, 1), 0.0))
    means = np.asarray(ways @ few + left * float(rest.mean()), dtype=np.float64)
    return _mid_p(means, spread * float(rest.std()), np.exp(logs), total)


def _extreme(moved: Vector) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return a mask of the few values with nearly all of the sum of squares, or an empty one."""
    squares = moved**2
    most = min(MAX_EXTREME, len(moved) // 4)
    few = len(moved) - min(len(moved), most + 1)
    largest = np.sort(np.partition(squares, few)[few:] if len(moved) else squares)[::-1]
    # A drop ends the extreme values, so that equally extreme ones are treated alike.
    ends = np.flatnonzero(largest[:most] > largest[1 : most + 1] * (1 + _TIE))
    reached = np.cumsum(largest)[ends] / squares.sum()
    if not len(ends) or reached[-1] < _MIN_SQUARES_SHARE:
        return np.zeros(len(moved), dtype=np.bool_)
    end = ends[min(int(np.searchsorted(reached, _TARGET_SQUARES_SHARE)), len(ends) - 1)]
    return np.asarray(squares > largest[end + 1] * (1 + _TIE))


def _ways(count: int) -> Bools:
    """Return [2 ** count, count]: every subset."""
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


Counts = NDArray[np.signedinteger[Any]]
"""Counts of equal values, in the smallest integer type."""
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
_STEPS, _MOST_HALVINGS = 200, 60
_SMALLEST = 1e-4
"""A signed root nearer to 0 than this is 0: both halves are as large."""


def exchange_p(a: Vector, b: Vector) -> float | None:
    """Return the two-sided p-value of exchanging the labels of two independent samples.

    Assumes that under the hypothesis both samples have one distribution. Twice the smaller tail, at
    most 1; None where all values are equal.

    Parameters
    ----------
    a, b
        [n], finite: the units of both groups.

    References
    ----------
    Fisher (1935), The Design of Experiments; Skovgaard (1987), Saddlepoint expansions for
    conditional distributions: conditional on the sizes, the exchange of labels is a logistic
    regression of the label on the value, and its signed root is corrected by formula 4.
    """
    a, b = ensure_sorted(a), ensure_sorted(b)
    low, high = float(min(a[0], b[0])), float(max(a[-1], b[-1]))
    slack = TIE_RTOL * max(abs(low), abs(high))
    if high - low <= slack:
        return None
    if b[-1] <= a[0] + slack:
        return min(1.0, 2 * _end_share(a, b, float(a[0]), slack))
    if b[0] >= a[-1] - slack:
        return min(1.0, 2 * _end_share(a, b, float(a[-1]), slack))
    size = len(a) + len(b)  # there are more ways than values, and of many a number without end
    if size <= MAX_ENUMERATED and comb(size, len(a)) <= MAX_ENUMERATED:
        return permutation_test([Stratum(a, b)], None, 1).p_value
    distinct, both, of_a = _counted(a, b)
    if len(distinct) == 2:
        return _two_values_p(size, len(a), int(both[1]), int(of_a[1]))
    root = _exchange_root(distinct, both, of_a)
    smooth = min(1.0, 2 * float(special.ndtr(-abs(root))))
    del distinct, both, of_a
    return max(smooth, extreme_exchange_p(np.concatenate([a, b]), len(a), float(a.sum())))


def _counted(a: Vector, b: Vector) -> tuple[Vector, Counts, Counts]:
    """Return the distinct values of two sorted samples, their counts, and their counts in a."""
    pooled = np.concatenate([a, b])
    pooled.sort()
    new = np.ones(len(pooled), dtype=np.bool_)
    np.not_equal(pooled[1:], pooled[:-1], out=new[1:])
    distinct: Vector = pooled[new]
    del pooled
    counts = np.diff(np.flatnonzero(new).astype(np.int32), append=len(new))
    both: Counts = counts.astype(np.min_scalar_type(-1 - int(counts.max())))
    del counts, new
    of_a = np.empty_like(both)
    for chunk in chunks(len(distinct)):
        first, after = (np.searchsorted(a, distinct[chunk], side) for side in SIDES)
        of_a[chunk] = after - first
    return distinct, both, of_a


def _end_share(a: Vector, b: Vector, end: float, slack: float) -> float:
    """Return the share of relabellings with all of a beyond b, or equal to b at this end of a."""
    of_a, of_b = (int((np.abs(units - end) <= slack).sum()) for units in (a, b))
    logs = log_ways(of_a + of_b, of_a) - log_ways(len(a) + len(b), len(a))
    return float(np.exp(logs))


def _two_values_p(n: int, of_a: int, ones: int, ones_of_a: int) -> float:
    """Return the mid-p of a's number of one of two values, of Fisher's exact test."""
    at = np.arange(max(0, ones + of_a - n), min(ones, of_a) + 1)
    ways = log_ways(ones, at) + log_ways(n - ones, of_a - at) - log_ways(n, of_a)
    chance = np.exp(ways)
    half = chance[at == ones_of_a].sum() / 2
    tails_of_a = (chance[at < ones_of_a].sum() + half, chance[at > ones_of_a].sum() + half)
    return min(1.0, 2 * float(min(tails_of_a)))


def _exchange_root(distinct: Vector, both: Counts, of_a: Counts) -> float:
    """Return the corrected signed root: normal, of either sign, under exchanged labels.

    The distinct values are changed in place.
    """
    n, share = int(both.sum()), float(of_a.sum() / both.sum())
    distinct -= both @ distinct / n
    distinct /= max(float(distinct.max()), -float(distinct.min()))
    fit = _LabelFit(distinct, both, of_a)
    intercept = log(share / (1 - share))
    null = fit.likelihood(intercept, 0.0)
    steepness, fitted, determinant = fit.highest(intercept)
    root = float(np.sign(steepness) * np.sqrt(max(2 * (fitted - null), 0.0)))
    return _corrected(root, float(steepness * np.sqrt(determinant / (n * share * (1 - share)))))


@dataclass(frozen=True)
class _LabelFit:
    """The logistic regression of labels on different values, each with its counts."""

    values: Vector
    both: Counts
    of_a: Counts

    def likelihood(self, intercept: float, slope: float) -> float:
        """Return the logarithm of the likelihood."""
        linear = slope * self.values
        linear += intercept
        of_a = self.of_a @ linear
        return float(of_a - self.both @ np.logaddexp(0.0, linear, out=linear))

    def _weights(self, intercept: float, slope: float) -> tuple[Vector, Vector]:
        """Return the weight of each value in the information, and its residual."""
        p = slope * self.values
        p += intercept
        special.expit(p, out=p)
        weight = self.both * p
        left = self.of_a - weight
        weight *= np.subtract(1, p, out=p)
        return weight, left

    def highest(self, intercept: float) -> tuple[float, float, float]:
        """Return the slope of the greatest likelihood, it, and the information's determinant.

        Newton's steps diverge where a small group is far from a large one, so that each is halved
        until the likelihood does not fall.
        """
        slope, reached, determinant = 0.0, self.likelihood(intercept, 0.0), 0.0
        for _ in range(_STEPS):
            weight, left = self._weights(intercept, slope)
            total = float(weight.sum())
            middle = float(weight @ self.values) / total
            moved = self.values - middle
            lean, summed, along = float(left @ moved), float(left.sum()), float(left @ self.values)
            del left  # each copy of millions counts
            moved *= moved
            spread = float(weight @ moved)
            del weight, moved
            determinant = total * spread
            turn = lean / spread
            lift = summed / total - middle * turn
            gained = lift * summed + turn * along
            if gained < TIE_RTOL * (1 + abs(reached)):
                break
            for times in range(_MOST_HALVINGS):
                trial = intercept + lift / 2**times, slope + turn / 2**times
                if (likelihood := self.likelihood(*trial)) > reached:
                    (intercept, slope), reached = trial, likelihood
                    break
            else:
                break
        return slope, reached, determinant


def _corrected(root: float, standard: float) -> float:
    """Return Barndorff-Nielsen's form of the saddlepoint approximation of a tail."""
    if abs(root) < _SMALLEST:
        return 0.0
    return root + log(standard / root) / root
