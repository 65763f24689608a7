"""Histograms and references of the search for changes of gaps and levels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.analysis.monitors.pair_counts import GAPS, LEVEL, MATCHED, pair_table
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.contracts.columns import Column, Columns, numbers_in
from biaswatch.shared.stats.anytime.bets import STAKES
from biaswatch.shared.stats.anytime.change_search import (
    MAX_REFERENCES,
    References,
    TypicalRounds,
    joined_references,
    log_evidence,
    smallest_changes,
)
from biaswatch.shared.stats.anytime.judging import share_of_attempt
from biaswatch.shared.stats.anytime.late_starts import LateStarts
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.units import binned_differences, uniforms
from biaswatch.shared.stats.arrays import Floats, Ints

Both = tuple[float, float]
"""The values of a pair in the first and in the second group, each in [0, 1]."""


def counted_pairs(pairs: Mapping[str, Both], salt: str) -> dict[str, tuple[int, ...]]:
    """Count pairs, by the name of each, for both detectors."""
    return {
        MATCHED: difference_counts(
            {name: a - b for name, (a, b) in pairs.items()}, f"{salt}/{MATCHED}"
        ),
        LEVEL: difference_counts(
            {name: a + b - 1 for name, (a, b) in pairs.items()}, f"{salt}/{LEVEL}"
        ),
    }


def random_pairs(
    first: Mapping[str, float], second: Mapping[str, float], salt: str
) -> dict[str, Both]:
    """Pair units of two groups: those of one set with each other, the others as their ids decide.

    Every unit is in at most one pair, and no set in two, so that pairs are as independent as sets.
    """
    twins = sorted(first.keys() & second.keys())
    alone = (sorted(units.keys() - set(twins)) for units in (first, second))
    a, b = (
        [names[place] for place in np.argsort(uniforms(names, f"{salt}/{side}"))]
        for names, side in zip(alone, "ab", strict=True)
    )
    chosen = [*zip(twins, twins, strict=True), *zip(a, b, strict=False)]
    return {f"{one} {other}": (first[one], second[other]) for one, other in chosen}


def difference_counts(values: Mapping[str, float], salt: str) -> tuple[int, ...]:
    """Count numbers from -1 to 1, by the name of the unit of each."""
    # Rounding errors may put a value a hair beyond the ends.
    shares = np.clip(np.array(list(values.values()), dtype=np.float64), -1.0, 1.0)
    return binned_differences(shares, uniforms(list(values), salt))


def kept_pairs(counts: Counts, *, level: bool) -> str | None:
    """Return the name of the pairs that a round keeps; None where it keeps none."""
    names = (LEVEL,) if level else (GAPS, MATCHED)
    return next((name for name in names if name in counts), None)


def pairs_of(counts: Sequence[Counts], *, level: bool) -> PairHistograms:
    """Return the pairs of rounds that keep some, those of a comparison a row.

    Bounds are among them where answers of a bank are missing.
    """
    names = [kept_pairs(round_counts, level=level) for round_counts in counts]
    return pair_table(counts, [name or GAPS for name in names])


BETS = 2 * len(STAKES)


def late_starts_in(columns: Columns, rows: int) -> LateStarts:
    """Return the table of bets, a row each; before their first round, they have earned nothing."""
    starts = LateStarts.none(rows, BETS)
    for name in ("log_wealth", "log_best", "starts"):
        for places, numbers in _filled(columns.get(name)):
            getattr(starts, name)[places] = numbers
    return starts


def _filled(column: Column | None) -> Iterator[tuple[Ints | slice, NDArray[Any]]]:
    """Return the rows of bets that have begun, and their places."""
    if column is None:
        return
    if "array" in column:
        if column["array"].shape[1]:
            yield slice(None), column["array"]
        return
    sizes, items = column["tuples"]
    if (started := np.flatnonzero(sizes)).size:
        yield started, items["array"].reshape(len(started), -1)


def bets_columns(starts: LateStarts) -> Columns:
    """Return what is kept of each row.

    What a bet would have earned since its best beginning is kept where it is a gain: otherwise its
    best beginning is the next round.
    """
    started = np.isfinite(starts.log_wealth[:, 0])
    arrays = {
        "log_wealth": starts.log_wealth,
        "log_best": np.maximum(starts.log_best, 0),
        "starts": starts.starts,
    }
    if started.all() or not started.any():
        return {name: {"array": array[:, : BETS * started.any()]} for name, array in arrays.items()}
    sizes = np.where(started, BETS, 0)
    return {
        name: {"tuples": [sizes, {"array": array[started].ravel()}]}
        for name, array in arrays.items()
    }


@dataclass(frozen=True)
class SearchedRounds:
    """The numbers of the rounds of each search, one column for each search."""

    typical: TypicalRounds
    rounds: Ints
    """How many there are."""
    steps: Ints
    """How many of them follow the first reference."""
    bounds: Floats
    """The log evidence of an alarm."""


@dataclass(frozen=True)
class ChangeSearchResults:
    """The results of searches after a round."""

    log_evidence: Floats
    """NaN before any round after a reference."""
    likeliest: Ints
    """The round with which a change began, most likely; -1 where no bet has earned anything."""
    smallest: Floats
    """The smallest change that would be found by now; NaN where none is."""


@dataclass(frozen=True)
class KeptReferences:
    """The references of searches: those of one search together, the newest last."""

    sizes: Ints
    """How many each search has."""
    table: References

    @classmethod
    def of(cls, column: Column | None, searches: int) -> "KeptReferences":
        """Return the references of a column of tuples."""
        sizes, items = column["tuples"] if column else (np.zeros(searches, dtype=np.int64), {})
        rows, fields = int(sizes.sum()), items.get("parts", {})
        value, allowed, rounds = (
            numbers_in(fields.get(name), rows, nan) for name in ("value", "allowed", "rounds")
        )
        bets = late_starts_in(fields["bets"]["parts"] if rows else {}, rows)
        return cls(sizes, References(value, allowed, rounds.astype(np.int64), bets))

    @property
    def column(self) -> Column:
        """Return the column of tuples."""
        table = self.table
        fields = {
            "value": {"array": table.values}, "allowed": {"array": table.allowed},
            "rounds": {"array": table.rounds}, "bets": {"parts": bets_columns(table.bets)},
        }  # fmt: skip
        return {"tuples": [self.sizes, {"parts": fields}]}

    @property
    def owners(self) -> Ints:
        """Return the search of each reference."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def _owning(self) -> Ints:
        return np.flatnonzero(self.sizes)

    def newest(self, numbers: Floats | Ints) -> Floats:
        """Return the number of the newest reference of each search, NaN without any."""
        newest = np.full(len(self.sizes), nan)
        newest[self._owning] = numbers[np.cumsum(self.sizes)[self._owning] - 1]
        return newest

    def after(self, pairs: PairHistograms, steps: Ints, round_: int) -> "KeptReferences":
        """Return the references of each search after a round that adds these pairs to it."""
        if not len(owners := self.owners):
            return self
        newest = np.append(np.diff(owners) != 0, True)
        shares = by_value(lambda step: log(share_of_attempt(step)), steps[owners])
        weights = np.where(newest, shares, -np.inf)
        return replace(self, table=self.table.after(pairs.of_rows(owners), weights, round_))

    def with_new(self, owners: Ints, newer: References) -> "KeptReferences":
        """Return the references with newer ones of some searches; the oldest are dropped."""
        order = np.argsort(np.concatenate([self.owners, owners]), kind="stable")
        sizes = self.sizes + np.bincount(owners, minlength=len(self.sizes))
        to_newest = np.repeat(np.cumsum(sizes), sizes) - np.arange(len(order))
        table = joined_references(self.table, newer, order[to_newest <= MAX_REFERENCES])
        return KeptReferences(np.minimum(sizes, MAX_REFERENCES), table)

    def results(self, searched: SearchedRounds) -> ChangeSearchResults:
        """Return what the references of each search say."""
        log_es, smallest = (np.full(len(self.sizes), nan) for _ in range(2))
        likeliest = np.full(len(self.sizes), -1)
        if (owning := self._owning).size:
            begins = (np.cumsum(self.sizes) - self.sizes)[owning]
            log_es[owning] = log_evidence(self.table, begins)
            smallest[owning] = np.minimum.reduceat(self._smallest(searched), begins)
            likeliest[owning] = self._likeliest(begins)
        has_started = np.isfinite(log_es)
        return ChangeSearchResults(
            np.where(has_started, log_es, nan),
            np.where(has_started, likeliest, -1),
            np.where(np.isfinite(smallest), smallest, nan),
        )

    def _smallest(self, searched: SearchedRounds) -> Floats:
        owners = self.owners
        return smallest_changes(
            self.table,
            searched.typical.of_rows(owners),
            searched.rounds[owners],
            searched.steps[owners],
            searched.bounds[owners],
        )

    def _likeliest(self, begins: Ints) -> Ints:
        """Return the round of the reference of each search with the largest evidence."""
        evidence = self.table.bets.log_evidence
        largest = np.repeat(np.maximum.reduceat(evidence, begins), self.sizes[self._owning])
        places = np.where(evidence == largest, np.arange(len(evidence)), len(evidence))
        return self.table.bets.likeliest[np.minimum.reduceat(places, begins)]


def by_value(of: Callable[[Any], float], values: Ints) -> Floats:
    """Return a function of numbers that are mostly the same, computed once for each."""
    different, places = np.unique(values, return_inverse=True)
    return np.array([of(value) for value in different.tolist()], dtype=np.float64)[places]
