"""Counts of many comparisons as columns: a part of the counts is a table, with a row for each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.monitors.pair_counts import INCOMPLETE, REPEATED
from biaswatch.shared.analysis.monitors.round_answers import Counts, RoundCounts
from biaswatch.shared.contracts import Comparison
from biaswatch.shared.contracts.column_joins import Block, joined
from biaswatch.shared.contracts.columns import (
    Column,
    Columns,
    column_of,
    fields_in,
    present_in,
    taken,
)
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.arrays import Floats, Ints, adjacent

Part = tuple[Ints, Ints]
"""The rows that keep a part, in order, and their counts."""


@dataclass(frozen=True)
class CountColumns:
    """The counts of comparisons, by the name of each part."""

    rows: int
    parts: dict[str, Part]

    @classmethod
    def of(cls, column: Column, rows: int) -> "CountColumns":
        """Return the counts of a column of mappings."""
        places = np.arange(rows)
        parts = {
            name: (part["some"][0], part["some"][1]["array"])
            if "some" in part
            else (places, part["array"])
            for name, part in column["parts"].items()
        }
        return cls(rows, parts)

    @property
    def column(self) -> Column:
        """Return the column of mappings."""
        columns: Columns = {}
        for name, (at, counts) in self.parts.items():
            if len(at):
                whole: Column = {"array": counts}
                columns[name] = whole if len(at) == self.rows else {"some": [at, whole]}
        return {"parts": columns}

    def plus(self, other: "CountColumns") -> "CountColumns":
        """Return the counts of disjoint units together."""
        names = sorted(self.parts.keys() | other.parts.keys())
        return CountColumns(self.rows, {name: self._sum(other, name) for name in names})

    def _sum(self, other: "CountColumns", name: str) -> Part:
        blocks = [counts.parts[name] for counts in (self, other) if name in counts.parts]
        if len(blocks) == 1:
            return blocks[0]
        (one, counts), (another, more) = blocks
        at = one if len(one) == self.rows else np.union1d(one, another)
        total = np.zeros((len(at), counts.shape[1]), dtype=np.int64)
        total[adjacent(np.searchsorted(at, one))] = counts
        total[adjacent(np.searchsorted(at, another))] += more
        return at, total

    def histogram(self, name: str, *, new: bool = False) -> Floats:
        """Return [rows, bins]: a part as numbers; `new` leaves out repeated answers."""
        at, counts = self.parts[name]
        numbers = np.zeros((self.rows, counts.shape[1]))
        numbers[adjacent(at)] = counts
        return self._less(numbers, REPEATED) if new else numbers

    def pairs(self, name: str, *, new: bool = False) -> PairHistograms:
        """Return histograms of pairs; `new` leaves out repeated answers."""
        complete = self.histogram(name, new=new)
        seen, lower, upper = (self._with(complete, name, part, new=new) for part in INCOMPLETE)
        return PairHistograms(lower, upper, seen)

    def _with(self, complete: Floats, name: str, part: str, *, new: bool) -> Floats:
        if f"{name}_{part}" not in self.parts:
            return complete
        at, counts = self.parts[f"{name}_{part}"]
        numbers = complete.copy()
        numbers[adjacent(at)] += counts
        return self._less(numbers, f"{REPEATED}_{part}") if new else numbers

    def _less(self, numbers: Floats, name: str) -> Floats:
        """Take a part away, where it is kept."""
        if name in self.parts:
            at, counts = self.parts[name]
            numbers[adjacent(at)] -= counts
        return numbers

    def keep(self, names: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Tell which rows keep all of these parts."""
        kept = np.zeros((len(names), self.rows), dtype=np.bool_)
        for has, name in zip(kept, names, strict=True):
            if name in self.parts:
                has[self.parts[name][0]] = True
        return np.asarray(kept.all(axis=0))


@dataclass(frozen=True)
class CountedComparisons(Mapping[str, RoundCounts]):
    """The additions of a round to comparisons: columns of counts, and of missing answers."""

    comparisons: Sequence[Comparison]
    columns: Columns

    @classmethod
    def of(
        cls, comparisons: Sequence[Comparison], counted: Sequence[RoundCounts]
    ) -> "CountedComparisons":
        """Return what was counted one by one."""
        names = ("counts", "missing", "outside")
        columns = {name: column_of([getattr(one, name) for one in counted]) for name in names}
        return cls(comparisons, present_in(columns))

    @classmethod
    def joined(
        cls, comparisons: Sequence[Comparison], blocks: Sequence[Block]
    ) -> "CountedComparisons":
        """Return what was counted in blocks, by the places of their comparisons."""
        return cls(comparisons, joined(blocks, len(comparisons)))

    def with_more(self, more: Mapping[int, Counts]) -> "CountedComparisons":
        """Return the counts with further parts of some comparisons, by their places."""
        if not more:
            return self
        places, parts = np.array(list(more)), column_of(list(more.values())) or {"parts": {}}
        all_places = np.arange(len(self.comparisons))
        blocks = [(all_places, self.columns["counts"]["parts"]), (places, parts["parts"])]
        counts = joined(blocks, len(all_places))
        return replace(self, columns={**self.columns, "counts": {"parts": counts}})

    def __getitem__(self, key: str) -> RoundCounts:
        """Return what is counted of one comparison."""
        row = taken(self.columns, np.array([self._places[key]]))
        [fields] = fields_in(row, 1)
        counts = {name: tuple(numbers) for name, numbers in fields["counts"].items()}
        return RoundCounts(counts, fields["missing"], fields["outside"])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self.comparisons)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {comparison.key: place for place, comparison in enumerate(self.comparisons)}
