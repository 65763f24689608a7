"""Units of a comparison: a prompt, a set of prompts, or each answer to fixed prompts."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.groupings import Grouping, grouping
from biaswatch.shared.analysis.findings.observations import Observations, Whole
from biaswatch.shared.lookup import grouped
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.comparisons.mean_interval import independent_units
from biaswatch.shared.stats.samples import CHUNK_VALUES

MAX_EXCHANGED_ROWS = 50_000
"""Answers of a table up to which those of twins are exchanged one by one."""


@dataclass(frozen=True)
class KeyedMeans:
    """Means of a group's values by some key, sorted by key."""

    keys: Whole
    """[n]: codes of prompts or of sets."""
    values: Floats
    """[n, features]: nan where nothing is present."""


@dataclass(frozen=True)
class SideUnits:
    """The units of one side of a comparison: a group, or all others together."""

    by_unit: KeyedMeans
    """The mean of each prompt over its answers."""
    by_set: KeyedMeans
    """The mean of each set over its prompts; empty where there are no sets."""
    alone: Floats
    """[n, features]: the means of the prompts that belong to no set."""
    clustered: bool
    """True if any set holds several prompts of this side, which then form one unit."""
    set_of: Whole
    """The set of each prompt of `by_unit`, -1 for none."""

    @classmethod
    def of(
        cls, observations: Observations, units: Whole, sets: Whole, rows: Whole | Bools
    ) -> "SideUnits":
        """Return the means of the prompts and sets of some rows."""
        by_unit, first = _means(observations.values[rows], units[rows])
        if sets is units:
            return cls(by_unit, by_unit, by_unit.values[:0], clustered=False, set_of=by_unit.keys)
        set_of = sets[rows][first]
        has = set_of >= 0
        by_set, _ = _means(by_unit.values[has], set_of[has])
        clustered = len(by_set.keys) < int(has.sum())
        return cls(by_unit, by_set, by_unit.values[~has], clustered, set_of)


class Units:
    """The units of every group of a grouping, and of all others of its domain."""

    def __init__(self, observations: Observations, grouping: Grouping) -> None:
        self._observations, self._grouping = observations, grouping
        self._units, self._sets = observations.unit_codes, observations.set_codes
        self._rests: dict[int, SideUnits] = {}

    @cached_property
    def groups(self) -> tuple[SideUnits, ...]:
        """The units of each group."""
        codes = self._grouping.codes
        return tuple(self._of(codes == group) for group in range(len(self._grouping.groups)))

    def rest(self, group: int) -> SideUnits:
        """Return the units of all other groups of a group's domain."""
        if group not in self._rests:
            domains = self._grouping.domain_of
            members = np.flatnonzero(domains == domains[group])
            members = members[members != group]
            self._rests[group] = self._of(np.isin(self._grouping.codes, members))
        return self._rests[group]

    def values(self, group: int, feature: int) -> Floats:
        """Return the means of a group's prompts that have any value."""
        means = self.groups[group].by_unit.values[:, feature]
        return means[np.isfinite(means)]

    def independent(self, group: int, feature: int) -> Floats:
        """Return a group's values, those of the prompts of one set together as one unit."""
        side = self.groups[group]
        means = side.by_unit.values[:, feature]
        present = np.isfinite(means)
        if side.set_of is side.by_unit.keys:  # each is a set by itself
            return means[present]
        return independent_units(means[present], side.set_of[present])

    def _of(self, belongs: Bools) -> SideUnits:
        return SideUnits.of(self._observations, self._units, self._sets, belongs)


def counted_units(values: Floats, units: Whole, rows: Bools) -> Whole:
    """Return [features]: how many units have a value in some rows; no means are made for it."""
    selected = np.flatnonzero(rows)
    order = selected[np.argsort(units[selected], kind="stable")]
    starts = _starts(units[order])
    present = (np.isfinite(column[order]) for column in values.T)
    counts = [np.count_nonzero(np.logical_or.reduceat(column, starts)) for column in present]
    return np.array(counts, dtype=np.intp)


def _means(values: Floats, keys: Whole) -> tuple[KeyedMeans, Whole]:
    """Return the mean of each key, missing values left out, and the first row of each."""
    order = np.argsort(keys, kind="stable")
    starts = _starts(keys[order])
    if not len(starts):
        return KeyedMeans(keys, values), order
    means = np.empty((len(starts), values.shape[1]))
    for chunk in _whole_keys(starts, len(order), max(1, CHUNK_VALUES // max(1, values.shape[1]))):
        begin = starts[chunk.start]
        end = starts[chunk.stop] if chunk.stop < len(starts) else len(order)
        rows = order[begin:end]
        means[chunk] = _means_of_runs(values[rows], keys[rows], starts[chunk] - begin)
    first = order[starts]
    return KeyedMeans(keys[first], means), first


def shared_positions(a: Whole, b: Whole) -> tuple[Whole, Whole]:
    """Return the positions of the shared keys in both arrays; each is sorted and unique."""
    places = np.searchsorted(b, a)
    shared = places < len(b)
    shared[shared] = b[places[shared]] == a[shared]
    return np.flatnonzero(shared), places[shared]


def _starts(ordered: Whole) -> Whole:
    """Return where each of the sorted keys begins."""
    new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.flatnonzero(new)


def _whole_keys(starts: Whole, rows: int, most: int) -> Iterator[slice]:
    """Yield chunks of keys with about `most` rows each, to bound temporary memory."""
    begin = 0
    while begin < len(starts):
        end = int(np.searchsorted(starts, starts[begin] + most))
        end = len(starts) if starts[begin] + most >= rows else max(end, begin + 1)
        yield slice(begin, end)
        begin = end


def _means_of_runs(values: Floats, keys: Whole, starts: Whole) -> Floats:
    """Return the mean of each run of equal keys, missing values left out."""
    present = np.isfinite(values)
    known = np.where(present, values, 0.0)
    if len(starts) < len(keys):  # sums of the same values differ with the order of rows
        known = np.column_stack([column[np.lexsort((column, keys))] for column in known.T])
    sums = np.add.reduceat(known, starts, axis=0)
    counts = np.add.reduceat(present.astype(np.float64), starts, axis=0)
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means


def twin_sets(observations: Observations, of: Grouping) -> Whole:
    """Return the set of each answer together with its labels of all other dimensions.

    These are closer twins, and more of them: six sets of two races and two genders have twelve
    pairs of races. With one dimension, for very many answers or answers that are not drawn, and
    where an answer would lose its twins, they are the sets themselves.
    """
    other_names = [name for name in observations.groups if name != of.name]
    sets = observations.set_codes
    if not other_names or not observations.drawn or observations.rows > MAX_EXCHANGED_ROWS:
        return sets  # answers that are not drawn are compared with placebo twins of their set
    if not (sets >= 0).any():
        return sets
    labels = [grouping(observations, (name,)).codes for name in other_names]
    refined = np.unique(np.stack([sets, *labels]), axis=1, return_inverse=True)[1].reshape(-1)
    member = (sets >= 0) & (of.codes >= 0)
    if (_has_twins(sets, of.codes, member) & ~_has_twins(refined, of.codes, member)).any():
        return sets
    return np.where(sets >= 0, refined, -1)


def _has_twins(sets: Whole, codes: Whole, member: Bools) -> Bools:
    """Return [answers]: whether the set of an answer has members of several groups."""
    size = int(sets.max()) + 1
    lowest, highest = np.full(size, len(codes)), np.full(size, -1)
    np.minimum.at(lowest, sets[member], codes[member])
    np.maximum.at(highest, sets[member], codes[member])
    return np.asarray(member & (highest > lowest)[sets])


class FixedPrompts:
    """The answers of every group of a grouping, by prompt."""

    def __init__(self, observations: Observations, grouping: Grouping) -> None:
        self._values, self._grouping = observations.values, grouping
        self._units, sets = observations.unit_codes, observations.set_codes
        self._named = observations.units is not None
        has = sets >= 0
        codes = zip(self._units[has].tolist(), sets[has].tolist(), strict=True)
        self.sets = dict(codes) if observations.sets is not None and has.any() else None
        """The set of each prompt, where there are sets."""

    def answers(self, group: int, feature: int) -> Floats:
        """Return a group's present answers."""
        values: Floats = self._values[self._grouping.codes == group, feature]
        return np.asarray(values[np.isfinite(values)])

    def by_prompt(
        self, group: int, feature: int, *, rest: bool = False
    ) -> dict[Hashable, list[float | None]]:
        """Return the answers of a group, or of all others of its domain, missing ones as nan."""
        codes, domains = self._grouping.codes, self._grouping.domain_of
        belongs = codes == group
        if rest:
            same = np.flatnonzero(domains == domains[group])
            belongs = np.isin(codes, same) & ~belongs
        units, values = self._units[belongs], self._values[belongs, feature]
        # The same whatever the order of rows, which number the prompts that have no name.
        order = np.lexsort((values, units if self._named else np.zeros_like(units)))
        return grouped(
            (unit, value)
            for unit, value in zip(units[order].tolist(), values[order].tolist(), strict=True)
        )
