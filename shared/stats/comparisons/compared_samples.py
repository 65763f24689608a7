"""The units of two groups on one feature, and the range that their values can have."""

from dataclasses import dataclass, field
from functools import cached_property
from math import inf, sqrt

import numpy as np

from biaswatch.shared.stats.comparisons.sample_shape import quartile_range, skewness_of
from biaswatch.shared.stats.samples import (
    FLAT_RTOL,
    ContentCache,
    Vector,
    chunks,
    ensure_sorted,
    is_flat,
)

Bounds = tuple[float, float]
MIN_UNITS = 2
MIN_FAMILIES = 5
"""Units a side where each holds several prompts: fewer do not show how families differ."""
MIN_STUDENT_UNITS = 15
"""Units of a known range that Student's t needs."""
MIN_SPREAD_SHARE = 0.02
"""Width of the middle half of a sample, as a share of the range: below it, rare values may be
unseen."""
MAX_REGULAR_SKEWNESS = 0.1
"""Skewness over the root of the number of units: above it, Student's t errs in one tail."""
_REGULAR = ContentCache[bool](max_entries=8192)
"""Regularity of samples: a group is compared with many others."""
NONE: Vector = np.empty(0)


@dataclass(frozen=True)
class ComparedSamples:
    """The units of two groups on one feature: one finite value each, independent of one another."""

    paired_a: Vector = field(default_factory=lambda: NONE)
    """[pairs]: a's value in each counterfactual set that both groups have."""
    paired_b: Vector = field(default_factory=lambda: NONE)
    only_a: Vector = field(default_factory=lambda: NONE)
    """[n]: the units of a without a twin in b."""
    only_b: Vector = field(default_factory=lambda: NONE)
    bounds: Bounds | None = None
    """The least and the largest possible value; None where unknown."""
    min_single: int = MIN_UNITS
    """Single units a side that are needed: two, or five where units are families."""

    @cached_property
    def pairs(self) -> int:
        """Number of pairs used; a single one is left out where there are enough other units."""
        alone = len(self.paired_a)
        return 0 if alone < MIN_UNITS and self._enough_alone else alone

    @cached_property
    def weight(self) -> float:
        """The share of the pairs in the gap, by numbers of units, independent of the values."""
        single = len(self.only_a), len(self.only_b)
        if min(single) < self.min_single:
            return 1.0
        return self.pairs / (self.pairs + single[0] * single[1] / sum(single))

    @cached_property
    def testable(self) -> bool:
        """True with two pairs, or enough single units a side."""
        return self.pairs >= MIN_UNITS or self._enough_alone

    @cached_property
    def _enough_alone(self) -> bool:
        return min(len(self.only_a), len(self.only_b)) >= self.min_single

    @cached_property
    def differences(self) -> Vector:
        """[pairs]: a's value minus b's, sorted; 0 where the difference is only rounding."""
        differences = np.sort(self.paired_a - self.paired_b)
        scale = max(np.abs(self.paired_a).max(), np.abs(self.paired_b).max())
        return np.where(np.abs(differences) <= FLAT_RTOL * scale, 0.0, differences)

    @property
    def all_equal(self) -> bool:
        """True where all values of both groups are equal."""
        parts = (self.paired_a, self.paired_b, self.only_a, self.only_b)
        return is_flat(np.concatenate(parts))


@dataclass(frozen=True)
class SamplePart:
    """The differences of pairs, or the values of single units, and whether Student's t fits."""

    values: Vector
    regular: bool

    @classmethod
    def of(cls, values: Vector, bounds: Bounds | None) -> "SamplePart":
        """Return the part with sorted values, so that their order changes nothing."""
        ordered = ensure_sorted(values)
        return cls(ordered, _REGULAR.get(ordered, bounds, lambda: _is_regular(ordered, bounds)))


@dataclass(frozen=True)
class SampleParts:
    """The parts of a gap: differences of pairs, and the single units of both groups."""

    pairs: SamplePart | None
    single: tuple[SamplePart, SamplePart] | None

    @classmethod
    def of(cls, samples: ComparedSamples) -> "SampleParts":
        """Return the parts that have enough units."""
        bounds, weight = samples.bounds, samples.weight
        pairs = SamplePart.of(samples.differences, bounds) if samples.pairs else None
        only = (samples.only_a, samples.only_b)
        single = (
            (SamplePart.of(only[0], bounds), SamplePart.of(only[1], bounds)) if weight < 1 else None
        )
        return cls(pairs, single)

    @property
    def need_agreement(self) -> bool:
        """True where a part has Student's curve, so that a test of labels has to agree."""
        parts = (self.pairs, *(self.single or ()))
        return any(part is not None and part.regular for part in parts)

    @property
    def all_regular(self) -> bool:
        """True where every part has Student's curve."""
        parts = (self.pairs, *(self.single or ()))
        return all(part is None or part.regular for part in parts)


def _is_regular(values: Vector, bounds: Bounds | None) -> bool:
    """Return whether Student's t can be relied on, for sorted values of a known range, or none."""
    scale = float(np.abs(values).max()) if bounds is None else max(map(abs, bounds))
    if len(values) < MIN_UNITS or is_flat(values, scale):
        return False
    if bounds is None:
        return True
    if len(values) < MIN_STUDENT_UNITS:
        return False
    spread = quartile_range(values) >= MIN_SPREAD_SHARE * (bounds[1] - bounds[0])
    return spread and abs(skewness_of(values)) <= MAX_REGULAR_SKEWNESS * sqrt(len(values))


def implied_bounds(values: Vector) -> Bounds | None:
    """Return the range that values imply: shares, signed scores, or ratings.

    [0, 1] or [-1, 1] where that contains them all; for whole numbers the smallest usual
    scale of ratings that holds them all, such as 1 to 5. None elsewhere, as for lengths: the range
    is then taken as unknown. Give the values of all groups together, and declare the range instead
    wherever it is known.

    Parameters
    ----------
    values
        [n]; missing values are left out.

    Examples
    --------
    >>> implied_bounds(np.array([2.0, 5.0, 1.0])), implied_bounds(np.array([120.0]))
    ((1.0, 5.0), None)
    """
    least, largest, whole = inf, -inf, True
    for chunk in chunks(len(values)):
        finite = values[chunk][np.isfinite(values[chunk])]
        if len(finite):
            least, largest = min(least, float(finite.min())), max(largest, float(finite.max()))
            whole = whole and bool((finite == np.rint(finite)).all())
    return implied_bounds_of(least, largest, whole=whole) if least <= largest else None


def implied_bounds_of(least: float, largest: float, *, whole: bool) -> Bounds | None:
    """Return the range as `implied_bounds` does, from the least and the largest value.

    `whole` tells whether all values are whole numbers.
    """
    scales = (*_CONTINUOUS, *_RATINGS) if whole else _CONTINUOUS
    return next(((low, high) for low, high in scales if low <= least and largest <= high), None)


_CONTINUOUS: tuple[Bounds, ...] = ((0.0, 1.0), (-1.0, 1.0))
_RATINGS: tuple[Bounds, ...] = (
    (1.0, 5.0), (0.0, 5.0), (-2.0, 2.0), (1.0, 7.0), (-3.0, 3.0), (1.0, 10.0), (0.0, 10.0),
)  # fmt: skip
