"""Two groups of bounded values: evidence from a histogram of each, and one of their twins."""

from dataclasses import astuple, dataclass
from functools import lru_cache
from math import log, sqrt

import numpy as np

from biaswatch.shared.stats.anytime.bets import (
    log_mean_exp,
    log_wealths_at,
    log_wealths_beyond,
    middles,
)
from biaswatch.shared.stats.anytime.inversion import invert, lowest, threshold
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS, binned
from biaswatch.shared.stats.arrays import Floats

VALUE_BINS = 65
STAKES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.9)
"""Including 0: where one group carries no information, no bet on it has to be lost."""
STEPS_PER_SE = 4.0
MAX_DIFFERENCE = 1 - 2.0**-20
"""A difference of 1 leaves each group a single mean, at an end where no bet is defined."""
CENTRES = 9
"""Nulls tried for an accepted one, where two estimates differ."""
Counts = tuple[int, ...]


@dataclass(frozen=True)
class TwoHistograms:
    """Values in [0, 1] of two groups, counted; states of disjoint units add up, in any order.

    Units are independent of one another, except the two of a set of twins: these may be dependent
    in any way (one of them may be chosen *because* the other is not), so their difference is
    counted, and bets on it multiply with the bets on all others. The null is a difference that
    holds for the means of both kinds of units.
    """

    first: Counts = (0,) * VALUE_BINS
    second: Counts = (0,) * VALUE_BINS
    twins: Counts = (0,) * DIFFERENCE_BINS
    """Differences within sets that have a value of both groups, from -1 to 1."""

    @classmethod
    def of(
        cls, first: Floats, second: Floats, jitter_1: Floats, jitter_2: Floats
    ) -> "TwoHistograms":
        """Count the values of one closed round; jitter is one number in [0, 1) per unit."""
        return cls(
            binned(first, 0.0, 1.0, VALUE_BINS, jitter_1),
            binned(second, 0.0, 1.0, VALUE_BINS, jitter_2),
        )

    def __add__(self, other: "TwoHistograms") -> "TwoHistograms":
        return TwoHistograms(*map(_sum, astuple(self), astuple(other)))

    @property
    def units(self) -> int:
        """Return the number of units in both groups."""
        return sum(self.first) + sum(self.second) + 2 * sum(self.twins)

    @property
    def estimate(self) -> float | None:
        """Return the difference of the means; None without units in both groups.

        Twins and others are weighted by their numbers alone, as if twins were independent.
        """
        estimates, weights = self._estimates, self._weights
        if not estimates:
            return None
        return float(np.average(estimates, weights=[weight for weight in weights if weight]))

    @property
    def _weights(self) -> tuple[float, float]:
        """Information of the units without a twin, and of those with one."""
        one, other, twins = sum(self.first), sum(self.second), sum(self.twins)
        return (one * other / (one + other) if one and other else 0.0), twins / 2

    @property
    def _estimates(self) -> list[float]:
        alone, twins = self._weights
        estimates = [_mean(self.first) - _mean(self.second)] if alone else []
        return [*estimates, _mean(self.twins, middles(DIFFERENCE_BINS))] if twins else estimates

    def log_e(self, null: float = 0.0) -> float:
        """Return the log e-value against a difference of means of exactly the null.

        The lowest, over the mean mu of the second group, of the mean of two products: bets that
        the first is above mu + null, the second below mu and twins differ by more than the null,
        and the other way round. The lowest is bounded from below, so it is never taken too high.

        References
        ----------
        Waudby-Smith and Ramdas (2024) for the bets; Wasserman et al. (2020) for the lowest.
        """
        if not -1 < null < 1:
            raise ValueError(f"a difference of means lies between -1 and 1, not at {null:g}")
        up, down = _Bets(self.first, null), _Bets(self.second, 0.0)
        twins = np.array(self.twins, dtype=np.float64)
        more, less = _both_sides(log_wealths_at(twins, twins, null))

        def bound(low: Floats, high: Floats) -> Floats:
            sides = up.above(high) + down.below(low) + more, up.below(low) + down.above(high) + less
            return np.asarray(np.logaddexp(*sides) - log(2), dtype=np.float64)

        return lowest(bound, *_means(null))

    def log_e_beyond(self, tolerance: float, times: float = 1.0) -> float:
        """Return the log e-value against a difference of at most the tolerance in size.

        The average of two one-sided ones, each lowest over the mean by itself.

        Parameters
        ----------
        tolerance
            Largest difference of means that does not matter, in [0, 1).
        times
            Multiple of these units to evaluate, for forecasts.
        """
        if not 0 <= tolerance < 1:
            raise ValueError(f"a tolerance lies in [0, 1), not at {tolerance:g}")
        state = self._times(times)
        twins = np.array(state.twins, dtype=np.float64)
        more, less = _both_sides(log_wealths_beyond(twins, twins, tolerance))
        higher = more + _one_sided(state.first, state.second, tolerance)
        lower = less + _one_sided(state.second, state.first, tolerance)
        return float(np.logaddexp(higher, lower) - log(2))

    def within(self, tolerance: float, bound: float, times: float = 1.0) -> bool:
        """Return whether the interval lies within the tolerance: both its ends are rejected."""
        state = self._times(times)
        if state.estimate is None or abs(state.estimate) >= tolerance:
            return False
        return min(state.log_e(-tolerance), state.log_e(tolerance)) >= bound

    def _times(self, factor: float) -> "TwoHistograms":
        if factor == 1:
            return self
        parts = (tuple(round(count * factor) for count in counts) for counts in astuple(self))
        return TwoHistograms(*parts)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the differences of means not rejected at alpha, rounded outwards.

        Where twins and others contradict each other so that every difference is rejected, it is
        the hull of both intervals.
        """
        estimates = self._estimates
        if not estimates:
            return -1.0, 1.0
        nulls = np.unique(np.linspace(min(estimates), max(estimates), CENTRES))
        nulls = np.clip(nulls, -MAX_DIFFERENCE, MAX_DIFFERENCE)
        logs = self._log_es(nulls) if len(nulls) > 1 else np.zeros(1)
        if logs.min() >= threshold(alpha):
            parts = TwoHistograms(self.first, self.second), TwoHistograms(twins=self.twins)
            lows, highs = zip(*(part.interval(alpha) for part in parts), strict=True)
            return min(lows), max(highs)
        step = max(self._standard_error, 1 / self.units) / STEPS_PER_SE
        centre = float(nulls[int(np.argmin(logs))])
        limits = (-MAX_DIFFERENCE, MAX_DIFFERENCE)
        low, high = invert(self._log_es, centre, step, limits, alpha, doubling=True)
        return (-1.0 if low <= -MAX_DIFFERENCE else low), (1.0 if high >= MAX_DIFFERENCE else high)

    def _log_es(self, nulls: Floats) -> Floats:
        return np.array([self.log_e(float(null)) for null in nulls])

    @property
    def _standard_error(self) -> float:
        """Standard error of the more precise kind of units: a scale, not an inference."""
        alone, twins = self._weights
        errors = [sqrt(_variance(self.first) + _variance(self.second))] if alone else []
        if twins:
            differences = middles(DIFFERENCE_BINS)
            errors.append(sqrt(_squares(self.twins, differences)) / sum(self.twins))
        return min(errors)


def _both_sides(log_wealths: Floats) -> tuple[float, float]:
    """Return the evidence of bets that twins differ by more, and by less."""
    more, less = np.split(log_wealths, 2)
    return float(log_mean_exp(more)), float(log_mean_exp(less))


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
    """Return the means of the second group with both means in [0, 1]."""
    return max(0.0, -shift), min(1.0, 1.0 - shift)


@lru_cache
def _values() -> Floats:
    return np.linspace(0.0, 1.0, VALUE_BINS)


def _mean(counts: Counts, values: Floats | None = None) -> float:
    """Return the mean of counted values, by default of those of a group."""
    return float(np.dot(counts, _values() if values is None else values) / sum(counts))


def _squares(counts: Counts, values: Floats) -> float:
    """Return the sum of squared deviations of counted values."""
    return float(np.dot(counts, (values - _mean(counts, values)) ** 2))


def _variance(counts: Counts) -> float:
    """Return the variance of a group's mean: a scale, not an inference."""
    return _squares(counts, _values()) / sum(counts) ** 2


def _sum(a: Counts, b: Counts) -> Counts:
    return tuple(x + y for x, y in zip(a, b, strict=True))
