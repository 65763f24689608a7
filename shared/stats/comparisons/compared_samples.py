"""The units of two groups on one feature, and the range that their values can have."""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import inf, sqrt

import numpy as np

from biaswatch.shared.stats.comparisons.confidence_curve import SampleKey, remembered
from biaswatch.shared.stats.comparisons.means_and_rates import ROUNDING, is_flat
from biaswatch.shared.stats.samples import Vector, in_order, stretches

Bounds = tuple[float, float]
LEAST_UNITS = 2
LEAST_CLUSTERS = 5
"""Of each side, where a unit holds several prompts: fewer do not show how families differ."""
ENOUGH_UNITS = 15
LEAST_SPREAD = 0.02
"""The middle half of a sample, as a share of the range: if narrower, rare values may be unseen."""
MOST_SKEWNESS = 0.1
"""Times the root of the number of units: beyond, Student's t errs in one tail."""
MOST_REMEMBERED = 8192
"""Samples that were looked at: a group is compared with many."""
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
    least_single: int = LEAST_UNITS
    """Of single units a side, fewer are not used: two, or five where units are families."""

    @cached_property
    def pairs(self) -> int:
        """How many pairs are used; a single one is not, where there are other units."""
        alone = len(self.paired_a)
        return 0 if alone < LEAST_UNITS and self._enough_alone else alone

    @cached_property
    def weight(self) -> float:
        """The share of the pairs in the gap, by numbers of units: no look at the values."""
        single = len(self.only_a), len(self.only_b)
        if min(single) < self.least_single:
            return 1.0
        return self.pairs / (self.pairs + single[0] * single[1] / sum(single))

    @cached_property
    def testable(self) -> bool:
        """Whether there are two pairs, or enough single units a side."""
        return self.pairs >= LEAST_UNITS or self._enough_alone

    @cached_property
    def _enough_alone(self) -> bool:
        return min(len(self.only_a), len(self.only_b)) >= self.least_single

    @cached_property
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


@dataclass(frozen=True)
class SamplePart:
    """The differences of pairs, or the values of single units, and whether Student's t fits."""

    values: Vector
    regular: bool

    @classmethod
    def of(cls, values: Vector, bounds: Bounds | None) -> "SamplePart":
        """Return values sorted, so that their order changes nothing."""
        ordered = in_order(values)
        return cls(ordered, remembered(_known_regular, ordered, bounds))


@dataclass(frozen=True)
class SampleParts:
    """What a gap is made of."""

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
        """Whether Student's curve has a part, so that a test of labels has to agree."""
        every = (self.pairs, *(self.single or ()))
        return any(part is not None and part.regular for part in every)

    @property
    def all_regular(self) -> bool:
        """Whether every part has Student's curve."""
        every = (self.pairs, *(self.single or ()))
        return all(part is None or part.regular for part in every)


@lru_cache(maxsize=MOST_REMEMBERED)
def _known_regular(sample: SampleKey, bounds: Bounds | None) -> bool:
    return _is_regular(sample.values, bounds)


def _is_regular(values: Vector, bounds: Bounds | None) -> bool:
    """Return whether Student's t can be relied on, for sorted values of a known range, or none."""
    if len(values) < LEAST_UNITS or is_flat(values, _scale(values, bounds)):
        return False
    if bounds is None:
        return True
    if len(values) < ENOUGH_UNITS:
        return False
    low, high = (values[round((len(values) - 1) * share)] for share in (0.25, 0.75))
    deviations = values - values.mean()
    squares = deviations * deviations  # many times as quick as a power of 3
    skewness = float((squares * deviations).mean() / squares.mean() ** 1.5)
    spread = float(high - low) >= LEAST_SPREAD * (bounds[1] - bounds[0])
    return spread and abs(skewness) <= MOST_SKEWNESS * sqrt(len(values))


def _scale(values: Vector, bounds: Bounds | None) -> float:
    return float(np.abs(values).max()) if bounds is None else max(map(abs, bounds))


def implied_bounds(values: Vector) -> Bounds | None:
    """Return the range that values speak of by themselves: shares, signed scores, or ratings.

    [0, 1] where all lie in it, [-1, 1] where all lie in that; for whole numbers the smallest usual
    scale of ratings that holds them all, such as 1 to 5. None elsewhere, as for lengths: the range
    is then taken as unknown. Give the values of all groups together, and declare the range instead
    wherever it is known.
    """
    least, largest, whole = inf, -inf, True
    for some in stretches(len(values)):
        there = values[some][np.isfinite(values[some])]
        if len(there):
            least, largest = min(least, float(there.min())), max(largest, float(there.max()))
            whole = whole and bool((there == np.rint(there)).all())
    return implied_bounds_of(least, largest, whole=whole) if least <= largest else None


def implied_bounds_of(least: float, largest: float, *, whole: bool) -> Bounds | None:
    """Return what `implied_bounds` does, of values that are known by their least and largest.

    `whole` says whether all of them are whole numbers.
    """
    scales = (*_CONTINUOUS, *_RATINGS) if whole else _CONTINUOUS
    return next(((low, high) for low, high in scales if low <= least and largest <= high), None)


_CONTINUOUS: tuple[Bounds, ...] = ((0.0, 1.0), (-1.0, 1.0))
_RATINGS: tuple[Bounds, ...] = (
    (1.0, 5.0), (0.0, 5.0), (-2.0, 2.0), (1.0, 7.0), (-3.0, 3.0), (1.0, 10.0), (0.0, 10.0),
)  # fmt: skip
