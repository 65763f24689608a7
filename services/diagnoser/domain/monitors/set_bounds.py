"""What the two sides of every set can be, of many features at once: bounds where answers lack."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from services.diagnoser.domain.monitors.round_answers import PlannedAnswer, Values, value_of
from shared.contracts import WatchedFeature, WatchedPair

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class FeatureValues:
    """Features of all answers of a round, as shares of their ranges: a row an answer."""

    shares: Floats
    """NaN where there is no value, or one beyond the range."""
    outside: Bools
    """Whether there was one beyond the range."""

    def of(self, columns: Sequence[int]) -> "FeatureValues":
        """Return some of the features."""
        return FeatureValues(self.shares[:, columns], self.outside[:, columns])


def feature_values(features: Sequence[WatchedFeature], values: Sequence[Values]) -> FeatureValues:
    """Return what an extractor read from the answers of a round, a column for each feature."""
    read = [[value_of(each, watched.feature) for watched in features] for each in values]
    found = np.array(read, dtype=np.float64).reshape(len(values), len(features))
    low, high = (np.array([getattr(each, end) for each in features]) for end in ("low", "high"))
    outside = (found < low) | (found > high)
    return FeatureValues(np.where(outside, np.nan, (found - low) / (high - low)), outside)


@dataclass(frozen=True)
class SideBounds:
    """The mean of one side of each set (a row) in each feature (a column), in [0, 1]."""

    low: Floats
    """With every missing answer at the low end of the range."""
    high: Floats
    """With every missing answer at the high end."""
    seen: Floats
    """Of the answers that came; NaN where none did."""
    complete: Bools
    """Nothing is missing, so that all three are the mean."""


@dataclass(frozen=True)
class SideRows:
    """Which answers are one side of each set, and what each weighs in the side's mean."""

    rows: Ints
    """Places among the planned answers, ordered by set."""
    weights: Floats
    """Groups weigh the same, within a group units do, and within a unit its repeats."""
    starts: Ints
    """Where each set begins among the rows."""

    def bounds(self, shares: Floats) -> SideBounds:
        """Return what the means of this side can be."""
        mine = shares[self.rows]
        missing = np.isnan(mine)
        low = self._sums(np.where(missing, 0.0, mine))
        lacking, count = self._sums(missing), np.add.reduceat(missing, self.starts, dtype=np.int64)
        sizes = np.diff(np.append(self.starts, len(self.rows)))[:, None]
        none_came = count == sizes
        came = np.where(none_came, np.nan, 1.0 - lacking)
        return SideBounds(low, low + lacking, low / came, count == 0)

    def _sums(self, each: Floats | Bools) -> Floats:
        return np.asarray(np.add.reduceat(each * self.weights[:, None], self.starts, axis=0))


@dataclass(frozen=True)
class PairRows:
    """The sets of a round that have both groups of a pair."""

    sets: Sequence[str]
    """Their names, in order."""
    a: SideRows
    b: SideRows
    all_rows: Ints
    """Every answer of either group, also of sets that have only one."""


class RoundRows:
    """The answers of a round by set, group and unit, sorted once for all comparisons."""

    def __init__(self, planned: Sequence[PlannedAnswer]) -> None:
        self._planned = planned
        self._names = sorted({each.set for each in planned})
        self._sets = _codes([each.set for each in planned], self._names)
        self._units = _codes([each.unit for each in planned])
        self._groups: dict[str, tuple[Ints, list[str]]] = {}

    def of_pair(self, pair: WatchedPair) -> PairRows:
        """Return the rows of a pair of groups, or of one group and all others."""
        groups, names = self._by_dimension(pair.dimension)
        in_a = groups == _code(names, pair.a)
        in_b = (groups >= 0) & ~in_a if pair.b is None else groups == _code(names, pair.b)
        both = np.intersect1d(self._sets[in_a], self._sets[in_b])
        whole = np.isin(self._sets, both)
        a, b = (self._side(np.flatnonzero(side & whole), groups) for side in (in_a, in_b))
        return PairRows([self._names[place] for place in both], a, b, np.flatnonzero(in_a | in_b))

    def _by_dimension(self, dimension: str) -> tuple[Ints, list[str]]:
        if dimension not in self._groups:
            there = [each.groups.get(dimension) for each in self._planned]
            names = sorted(set(filter(None, there)))
            places = {name: place for place, name in enumerate(names)}
            codes = [-1 if name is None else places.get(name, -1) for name in there]
            self._groups[dimension] = np.array(codes, dtype=np.int64), names
        return self._groups[dimension]

    def _side(self, rows: Ints, groups: Ints) -> SideRows:
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
        return SideRows(rows[order], weights, np.flatnonzero(new_set))


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
