"""Bounds of the two sides of every set, for many features at once, with missing answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.monitors.pair_counts import PairBounds
from biaswatch.shared.analysis.monitors.round_answers import PlannedAnswer, RoundAnswers
from biaswatch.shared.contracts import WatchedFeature, WatchedPair
from biaswatch.shared.stats.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class FeatureValues:
    """Features of all answers of a round, as shares of their ranges: a row an answer."""

    shares: Floats
    """NaN for a missing value, or one beyond the range."""
    outside: Bools
    """True for a value beyond the range."""


def feature_values(features: Sequence[WatchedFeature], answers: RoundAnswers) -> FeatureValues:
    """Return what was read from the answers of a round, a column for each feature."""
    columns = [answers.column(watched.extractor, watched.feature) for watched in features]
    numbers = np.array(columns).reshape(len(features), len(answers.planned)).T
    low, high = (
        np.array([getattr(feature, end) for feature in features]) for end in ("low", "high")
    )
    outside = (numbers < low) | (numbers > high)
    return FeatureValues(np.where(outside, np.nan, (numbers - low) / (high - low)), outside)


@dataclass(frozen=True)
class Side:
    """One side of a comparison: a group, or all other groups of its dimension."""

    dimension: str
    group: str
    is_rest: bool = False


def sides_of(pair: WatchedPair) -> tuple[Side, Side]:
    """Return the first side of a comparison and the second."""
    first = Side(pair.dimension, pair.a)
    second = Side(pair.dimension, pair.a, is_rest=True) if pair.b is None else None
    return first, second or Side(pair.dimension, pair.b or "")


@dataclass(frozen=True)
class SideBounds:
    """Bounds of the mean of a side of each set in each feature, in [0, 1].

    The shape is (sides, sets, features).
    """

    low: Floats
    """With every missing answer at the low end of the range."""
    high: Floats
    """With every missing answer at the high end."""
    seen: Floats
    """The mean of the answers that arrived; NaN without any."""
    complete: Bools
    """Nothing is missing, so that all three are the mean."""
    answers: Ints
    """How many answers each side of a set has, shape (sides, sets)."""
    outside: Ints
    """How many values lie beyond the range, shape (sides, features)."""

    @property
    def present(self) -> Bools:
        """Return which sets have the side at all, shape (sides, sets)."""
        return self.answers > 0


@dataclass(frozen=True)
class SideRows:
    """Which answers are one side of each set, and what each weighs in the side's mean."""

    rows: Ints
    """Places among the planned answers, ordered by set."""
    weights: Floats
    """Groups weigh the same, within a group units do, and within a unit its repeats."""
    starts: Ints
    """Where each set begins among the rows."""
    sets: Ints
    """Which set that is."""

    def put_bounds(self, values: FeatureValues, bounds: SideBounds, side: int) -> None:
        """Write what the means of this side can be into its part of a table of all sides."""
        if not len(self.rows):
            return
        shares = values.shares[self.rows]
        missing = np.isnan(shares)
        low = self._sums(np.where(missing, 0.0, shares))
        lacking, count = self._sums(missing), np.add.reduceat(missing, self.starts, dtype=np.int64)
        sizes = np.diff(np.append(self.starts, len(self.rows)))[:, None]
        came = np.where(count == sizes, np.nan, 1.0 - lacking)
        bounds.low[side, self.sets], bounds.high[side, self.sets] = low, low + lacking
        bounds.seen[side, self.sets], bounds.complete[side, self.sets] = low / came, count == 0
        bounds.answers[side, self.sets] = sizes[:, 0]
        bounds.outside[side] = values.outside[self.rows].sum(axis=0)

    def _sums(self, values: Floats | Bools) -> Floats:
        return np.asarray(np.add.reduceat(values * self.weights[:, None], self.starts, axis=0))


class RoundRows:
    """The answers of a round by set, group and unit, sorted once for all comparisons."""

    def __init__(self, planned: Sequence[PlannedAnswer]) -> None:
        self._planned = planned
        self.sets = sorted({answer.set for answer in planned})
        """The names of the sets, in order."""
        repeated = {answer.set for answer in planned if answer.is_repeated}
        self.repeated = np.array([name in repeated for name in self.sets], dtype=np.bool_)
        """Which sets have an answer of an earlier round."""
        self._sets = _codes([answer.set for answer in planned], self.sets)
        self._units = _codes([answer.unit for answer in planned])
        self._groups: dict[str, tuple[Ints, list[str]]] = {}
        self._sides: dict[Side, SideRows] = {}

    def bounds(self, sides: Sequence[Side], values: FeatureValues) -> SideBounds:
        """Return what the means of sides can be."""
        shape = (len(sides), len(self.sets), values.shares.shape[1])
        bounds = SideBounds(
            np.full(shape, np.nan),
            np.full(shape, np.nan),
            np.full(shape, np.nan),
            np.zeros(shape, dtype=np.bool_),
            np.zeros(shape[:2], dtype=np.int64),
            np.zeros((shape[0], shape[2]), dtype=np.int64),
        )
        for place, side in enumerate(sides):
            self._of_side(side).put_bounds(values, bounds, place)
        return bounds

    def _of_side(self, side: Side) -> SideRows:
        if side not in self._sides:
            groups, names = self._by_dimension(side.dimension)
            own = groups == _code(names, side.group)
            chosen = (groups >= 0) & ~own if side.is_rest else own
            self._sides[side] = self._rows(np.flatnonzero(chosen), groups)
        return self._sides[side]

    def _by_dimension(self, dimension: str) -> tuple[Ints, list[str]]:
        if dimension not in self._groups:
            present = [answer.groups.get(dimension) for answer in self._planned]
            names = sorted(set(filter(None, present)))
            places = {name: place for place, name in enumerate(names)}
            codes = [-1 if name is None else places.get(name, -1) for name in present]
            self._groups[dimension] = np.array(codes, dtype=np.int64), names
        return self._groups[dimension]

    def _rows(self, rows: Ints, groups: Ints) -> SideRows:
        keys = (self._sets[rows], groups[rows], self._units[rows])
        order = np.lexsort(keys[::-1])
        sets, in_groups, units = (key[order] for key in keys)
        new_set = _changes(sets)
        new_group = new_set | _changes(in_groups)
        new_unit = new_group | _changes(units)
        weights = 1.0 / (
            _sizes(new_unit)
            * _number_within(new_unit, new_group)
            * _number_within(new_group, new_set)
        )
        starts = np.flatnonzero(new_set)
        return SideRows(rows[order], weights, starts, sets[starts])


def _codes(names: Sequence[str], known: Sequence[str] | None = None) -> Ints:
    places = {name: place for place, name in enumerate(known or sorted(set(names)))}
    return np.array([places[name] for name in names], dtype=np.int64)


def _code(names: list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _changes(sorted_codes: Ints) -> Bools:
    """Tell where another code begins."""
    return np.append(True, sorted_codes[1:] != sorted_codes[:-1])[: len(sorted_codes)]


def _sizes(begins: Bools) -> Ints:
    """Return for each row the size of the part that it is in."""
    part = np.cumsum(begins) - 1
    return np.asarray(np.bincount(part)[part], dtype=np.int64)


def _number_within(inner: Bools, outer: Bools) -> Ints:
    """Return for each row how many inner parts its outer part has."""
    part = np.cumsum(outer) - 1
    return np.asarray(np.bincount(part, weights=inner)[part], dtype=np.int64)


@dataclass(frozen=True)
class SidesOfComparisons:
    """Some comparisons, a column each; a row is a set."""

    bounds: SideBounds
    """The values of all sides."""
    first: Ints
    """Which of the sides is each comparison's first."""
    second: Ints
    """Which is its second."""
    features: Ints
    """Which of the features it is about."""

    @property
    def gaps(self) -> PairBounds:
        """Return first minus second: least where the first is lowest and the second highest."""
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
    def unbalanced(self) -> Ints:
        """Return how many sets of each comparison have sides of different sizes."""
        sizes = self.bounds.answers
        differ = (sizes[self.first] != sizes[self.second]).T & self._compared
        return np.asarray(differ.sum(axis=0), dtype=np.int64)

    @property
    def outside(self) -> Ints:
        """Return how many values lie beyond the range, those of sets with one side included."""
        sides = (self.bounds.outside[side, self.features] for side in (self.first, self.second))
        return np.asarray(sum(sides), dtype=np.int64)

    @cached_property
    def _sides(self) -> tuple[tuple[Floats, ...], tuple[Floats, ...]]:
        all_of = self.bounds.low, self.bounds.high, self.bounds.seen
        first, second = (
            tuple(column[side, :, self.features].T for column in all_of)
            for side in (self.first, self.second)
        )
        return first, second

    @cached_property
    def _compared(self) -> Bools:
        """Tell which sets have both sides."""
        present = self.bounds.present
        return np.asarray(present[self.first] & present[self.second]).T

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
