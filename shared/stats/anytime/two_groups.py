"""Two groups of bounded values without pairs: evidence from a histogram of each."""

from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

from shared.stats.anytime.bets import Floats, log_mean_exp
from shared.stats.anytime.inversion import invert, lowest
from shared.stats.anytime.rounding import binned

BINS = 65
STAKES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.9)
STEPS_PER_SE = 4.0
WIDEST = 1 - 2.0**-20
"""A difference of 1 leaves each group a single mean, at an end where no bet is defined."""
Counts = tuple[int, ...]


@dataclass(frozen=True)
class TwoHistograms:
    """Values in [0, 1] of two groups, counted; states of disjoint units add up, in any order."""

    first: Counts = (0,) * BINS
    second: Counts = (0,) * BINS

    @classmethod
    def of(cls, first: Floats, second: Floats, luck_1: Floats, luck_2: Floats) -> "TwoHistograms":
        """Count the values of one closed round; jitter is one number in [0, 1) per unit."""
        return cls(binned(first, 0.0, 1.0, BINS, luck_1), binned(second, 0.0, 1.0, BINS, luck_2))

    def __add__(self, other: "TwoHistograms") -> "TwoHistograms":
        return TwoHistograms(_sum(self.first, other.first), _sum(self.second, other.second))

    @property
    def units(self) -> int:
        """Return the number of units in both groups."""
        return sum(self.first) + sum(self.second)

    @property
    def estimate(self) -> float | None:
        """Return the difference of the means; None without units in both groups."""
        if not (sum(self.first) and sum(self.second)):
            return None
        return _mean(self.first) - _mean(self.second)

    def log_e(self, null: float = 0.0) -> float:
        """Return the log e-value against a difference of means of exactly the null.

        The lowest, over the mean mu of the second group, of the mean of two products: bets that
        the first is above mu + null and the second below mu, and the other way round. The lowest
        is bounded from below, so it is never taken too high.

        References
        ----------
        Waudby-Smith and Ramdas (2024) for the bets; Wasserman et al. (2020) for the lowest.
        """
        if not -1 < null < 1:
            raise ValueError(f"a difference of means lies between -1 and 1, not at {null:g}")
        up, down = _Bets(self.first, null), _Bets(self.second, 0.0)

        def bound(low: Floats, high: Floats) -> Floats:
            sides = up.above(high) + down.below(low), up.below(low) + down.above(high)
            return np.asarray(np.logaddexp(*sides) - log(2), dtype=np.float64)

        return lowest(bound, *_means(null))

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against a difference of at most the tolerance in size.

        The average of two one-sided ones, each lowest over the mean by itself.
        """
        if not 0 <= tolerance < 1:
            raise ValueError(f"a tolerance lies in [0, 1), not at {tolerance:g}")
        higher = _one_sided(self.first, self.second, tolerance)
        lower = _one_sided(self.second, self.first, tolerance)
        return float(np.logaddexp(higher, lower) - log(2))

    def within(self, tolerance: float, bound: float) -> bool:
        """Tell whether the interval lies within the tolerance: both its ends are rejected."""
        if self.estimate is None or abs(self.estimate) >= tolerance:
            return False
        return min(self.log_e(-tolerance), self.log_e(tolerance)) >= bound

    def scaled(self, factor: float) -> "TwoHistograms":
        """Return what so many times these units would show if they were like these."""
        first, second = (
            tuple(round(count * factor) for count in counts) for counts in (self.first, self.second)
        )
        return TwoHistograms(first, second)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the differences of means not rejected at alpha, rounded outwards."""
        centre = self.estimate
        if centre is None:
            return -1.0, 1.0
        spread = sqrt(_variance(self.first) + _variance(self.second))
        step = max(spread, 1 / self.units) / STEPS_PER_SE

        def evidence(nulls: Floats) -> Floats:
            return np.array([self.log_e(float(null)) for null in nulls])

        low, high = invert(evidence, centre, step, (-WIDEST, WIDEST), alpha)
        return (-1.0 if low <= -WIDEST else low), (1.0 if high >= WIDEST else high)


def _one_sided(larger: Counts, smaller: Counts, tolerance: float) -> float:
    up, down = _Bets(larger, tolerance), _Bets(smaller, 0.0)
    return lowest(lambda low, high: up.above(high) + down.below(low), *_means(tolerance))


@dataclass(frozen=True)
class _Bets:
    """The bets on one group, that its mean is above or below mu + shift."""

    counts: Counts
    shift: float

    def above(self, mu: Floats) -> Floats:
        """Return the log wealth of bets that the mean is higher; it falls with mu."""
        return self._wealth(_values() / (mu + self.shift)[:, None] - 1)

    def below(self, mu: Floats) -> Floats:
        """Return the log wealth of bets that the mean is lower; it rises with mu."""
        return self._wealth((1 - _values()) / (1 - mu - self.shift)[:, None] - 1)

    def _wealth(self, payoffs: Floats) -> Floats:
        seen = np.flatnonzero(self.counts)
        counts = np.array(self.counts, dtype=np.float64)[seen]
        stakes = np.array(STAKES)[:, None]
        return log_mean_exp(np.log1p(stakes * payoffs[:, None, seen]) @ counts)


def _means(shift: float) -> tuple[float, float]:
    """Return the means of the second group for which both means lie in [0, 1]."""
    return max(0.0, -shift), min(1.0, 1.0 - shift)


@lru_cache
def _values() -> Floats:
    return np.linspace(0.0, 1.0, BINS)


def _mean(counts: Counts) -> float:
    return float(np.dot(counts, _values()) / sum(counts))


def _variance(counts: Counts) -> float:
    """Return the variance of a group's mean: a scale, not an inference."""
    return float(np.dot(counts, (_values() - _mean(counts)) ** 2)) / sum(counts) ** 2


def _sum(a: Counts, b: Counts) -> Counts:
    return tuple(x + y for x, y in zip(a, b, strict=True))
