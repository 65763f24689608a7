"""The two sides of many comparisons, set by set: what their gaps and levels can be."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.monitors.pair_counts import PairBounds
from biaswatch.shared.analysis.monitors.set_bounds import Bools, Floats, Ints, SideBounds


@dataclass(frozen=True)
class SidesOfComparisons:
    """Some comparisons, a column each; a row is a set."""

    bounds: SideBounds
    """Of all sides."""
    first: Ints
    """Which of the sides is each comparison's first."""
    second: Ints
    """Which is its second."""
    features: Ints
    """Which of the features it is about."""

    @property
    def gaps(self) -> PairBounds:
        """Return first less second: least where the first is lowest and the second highest."""
        (low, high, seen), (its_low, its_high, its_seen) = self._sides
        return self._bounds(low - its_high, high - its_low, seen - its_seen)

    @property
    def levels(self) -> PairBounds:
        """Return the mean of both sides, from -1 to 1."""
        sums = (one + other - 1 for one, other in zip(*self._sides, strict=True))
        return self._bounds(*sums)

    @property
    def missing(self) -> Ints:
        """Return how many sets of each comparison lack answers."""
        return np.asarray(self._incomplete.sum(axis=0), dtype=np.int64)

    @property
    def outside(self) -> Ints:
        """Return how many values lie beyond the range, those of sets with one side included."""
        sides = (self.bounds.outside[side, self.features] for side in (self.first, self.second))
        return np.asarray(sum(sides), dtype=np.int64)

    @cached_property
    def _sides(self) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        all_of = self.bounds.low, self.bounds.high, self.bounds.seen
        first, second = (
            tuple(each[side, :, self.features].T for each in all_of)
            for side in (self.first, self.second)
        )
        return first, second

    @cached_property
    def _compared(self) -> Bools:
        """Tell which sets have both sides."""
        there = self.bounds.there
        return np.asarray(there[self.first] & there[self.second]).T

    @cached_property
    def _complete(self) -> Bools:
        whole = self.bounds.complete
        first, second = (whole[side, :, self.features] for side in (self.first, self.second))
        return np.asarray(first & second).T & self._compared

    @property
    def _incomplete(self) -> Bools:
        return self._compared & ~self._complete

    def _bounds(self, lower: Floats, upper: Floats, seen: Floats) -> PairBounds:
        return PairBounds(lower, upper, seen, self._complete, self._incomplete)
