"""Histograms and references of the search for changes of gaps and levels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from biaswatch.shared.analysis.monitors.pair_counts import GAPS, LEVEL, MATCHED, pair_table
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.contracts import Bets, Reference
from biaswatch.shared.stats.anytime.bets import STAKES
from biaswatch.shared.stats.anytime.change_search import (
    References,
    TypicalRounds,
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


def late_starts_of(kept: Sequence[Bets]) -> LateStarts:
    """Return the table of bets, a row each; before their first round, they have earned nothing."""
    starts = LateStarts.none(len(kept), BETS)
    for row, bets in enumerate(kept):
        if bets.log_wealth:
            starts.log_wealth[row] = bets.log_wealth
            starts.log_best[row] = bets.log_best
            starts.starts[row] = bets.starts
    return starts


def bets_of(starts: LateStarts) -> list[Bets]:
    """Return what is kept of each row.

    What a bet would have earned since its best beginning is kept where it is a gain: otherwise its
    best beginning is the next round.
    """
    best = np.maximum(starts.log_best, 0)
    columns = (column.tolist() for column in (starts.log_wealth, best, starts.starts))
    return [
        # They come from numbers alone: to check each again would take longer than to compute it.
        Bets.model_construct(log_wealth=tuple(wealth), log_best=tuple(best), starts=tuple(starts))
        for wealth, best, starts in zip(*columns, strict=True)
    ]


Kept = tuple[Reference, ...]
"""The references of one search, the newest last."""


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
class SearchResult:
    """The result of one search after a round."""

    log_evidence: float | None = None
    """None before any round after a reference."""
    likeliest: int | None = None
    """The round with which a change began, most likely; None where no bet has earned anything."""
    smallest: float | None = None
    """The smallest change that would be found by now; None where none is."""


class ReferenceTable:
    """The references of searches: a row each, those of one search together."""

    def __init__(self, kept: Sequence[Kept]) -> None:
        self._kept = kept
        self._rows = [reference for references in kept for reference in references]
        sizes = [len(references) for references in kept]
        self.owners = np.repeat(np.arange(len(kept)), sizes)
        """The search of each row."""
        self._owning = np.flatnonzero(sizes)
        self._begins = (np.cumsum(sizes, dtype=np.int64) - sizes)[self._owning]
        values, allowed = (
            np.array([getattr(row, name) for row in self._rows], dtype=np.float64)
            for name in ("value", "allowed")
        )
        rounds = np.array([row.rounds for row in self._rows], dtype=np.int64)
        bets = late_starts_of([row.bets for row in self._rows])
        self._table = References(values, allowed, rounds, bets)

    def after(self, pairs: PairHistograms, steps: Sequence[int], round_: int) -> list[Kept]:
        """Return the references of each search after a round that adds these pairs to it."""
        if not self._rows:
            return list(self._kept)
        newest = np.append(np.diff(self.owners) != 0, True)
        shares = [share_of_attempt(steps[owner]) for owner in self.owners.tolist()]
        weights = np.where(newest, np.log(shares), -np.inf)
        after = self._table.after(pairs.of_rows(self.owners), weights, round_)
        references: list[list[Reference]] = [[] for _ in self._kept]
        bets = bets_of(after.bets)
        for owner, reference, its in zip(self.owners.tolist(), self._rows, bets, strict=True):
            references[owner].append(reference.model_copy(update={"bets": its}))
        return [tuple(row) for row in references]

    def results(self, searched: SearchedRounds) -> list[SearchResult]:
        """Return what the references of each search say."""
        results = [SearchResult()] * len(self._kept)
        if not self._rows:
            return results
        evidence = log_evidence(self._table, self._begins).tolist()
        smallest = np.minimum.reduceat(self._smallest(searched), self._begins).tolist()
        likeliest = self._likeliest()
        for place, owner in enumerate(self._owning.tolist()):
            has_started = isfinite(evidence[place])
            results[owner] = SearchResult(
                evidence[place] if has_started else None,
                likeliest[place] if has_started and likeliest[place] >= 0 else None,
                smallest[place] if isfinite(smallest[place]) else None,
            )
        return results

    def _smallest(self, searched: SearchedRounds) -> Floats:
        owners = self.owners
        return smallest_changes(
            self._table,
            searched.typical.of_rows(owners),
            searched.rounds[owners],
            searched.steps[owners],
            searched.bounds[owners],
        )

    def _likeliest(self) -> list[int]:
        """Return the round of the reference of each search with the largest evidence."""
        bets = self._table.bets
        evidence, rounds = bets.log_evidence, bets.likeliest
        ends = np.append(self._begins[1:], len(evidence))
        return [
            int(rounds[begin + int(np.argmax(evidence[begin:end]))])
            for begin, end in zip(self._begins.tolist(), ends.tolist(), strict=True)
        ]
