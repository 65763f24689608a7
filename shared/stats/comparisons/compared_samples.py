"""The units of two groups on one feature, and the range that their values can have."""

from dataclasses import dataclass, field

import numpy as np

from shared.stats.comparisons.means_and_rates import ROUNDING, is_flat
from shared.stats.samples import Vector

Bounds = tuple[float, float]
LEAST_UNITS = 2
NONE: Vector = np.empty(0)


@dataclass(frozen=True)
class ComparedSamples:
    """The units of two groups on one feature: one finite value each, independent of one another."""

    paired_a: Vector = field(default_factory=lambda: NONE)
    """[pairs]: a's value in each counterfactual set that both groups have."""
    paired_b: Vector = field(default_factory=lambda: NONE)
    only_a: Vector = field(default_factory=lambda: NONE)
    """[n]: the units of a that have no twin in b."""
    only_b: Vector = field(default_factory=lambda: NONE)
    bounds: Bounds | None = None
    """The least and the largest value that could have come, where that is known."""

    @property
    def pairs(self) -> int:
        """How many pairs are used; a single one is not, where there are other units."""
        alone = len(self.paired_a)
        return 0 if alone < LEAST_UNITS and self._enough_alone else alone

    @property
    def weight(self) -> float:
        """The share of the pairs in the gap, by numbers of units: no look at the values."""
        single = len(self.only_a), len(self.only_b)
        if min(single) < LEAST_UNITS:
            return 1.0
        return self.pairs / (self.pairs + single[0] * single[1] / sum(single))

    @property
    def testable(self) -> bool:
        """Whether there are two pairs, or two units a side."""
        return self.pairs >= LEAST_UNITS or self._enough_alone

    @property
    def _enough_alone(self) -> bool:
        return min(len(self.only_a), len(self.only_b)) >= LEAST_UNITS

    @property
    def differences(self) -> Vector:
        """[pairs]: a's value minus b's, sorted; what arithmetic alone made of equal values is 0."""
        found = np.sort(self.paired_a - self.paired_b)
        scale = max(np.abs(self.paired_a).max(), np.abs(self.paired_b).max())
        return np.where(np.abs(found) <= ROUNDING * scale, 0.0, found)

    @property
    def all_equal(self) -> bool:
        """Whether no value differs from any other, of either group."""
        parts = (self.paired_a, self.paired_b, self.only_a, self.only_b)
        return is_flat(np.concatenate(parts))


def implied_bounds(values: Vector) -> Bounds | None:
    """Return the range that values speak of by themselves: shares, signed scores, or ratings.

    [0, 1] where all lie in it, [-1, 1] where all lie in that; for whole numbers the smallest usual
    scale of ratings that holds them all, such as 1 to 5. None elsewhere, as for lengths: the range
    is then taken as unknown. Give the values of all groups together, and declare the range instead
    wherever it is known.
    """
    there = np.unique(values[np.isfinite(values)])
    if not len(there):
        return None
    least, largest = float(there[0]), float(there[-1])
    scales = _CONTINUOUS if not (there == np.rint(there)).all() else (*_CONTINUOUS, *_RATINGS)
    return next(((low, high) for low, high in scales if low <= least and largest <= high), None)


_CONTINUOUS: tuple[Bounds, ...] = ((0.0, 1.0), (-1.0, 1.0))
_RATINGS: tuple[Bounds, ...] = (
    (1.0, 5.0), (0.0, 5.0), (-2.0, 2.0), (1.0, 7.0), (-3.0, 3.0), (1.0, 10.0), (0.0, 10.0),
)  # fmt: skip
