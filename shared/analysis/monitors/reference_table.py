"""References of many searches as one table: their bets after a round, and what they say."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from biaswatch.shared.analysis.monitors.late_bets import bets_of, late_starts_of
from biaswatch.shared.contracts import Reference
from biaswatch.shared.stats.anytime.bets import Floats
from biaswatch.shared.stats.anytime.change_search import (
    Ints,
    References,
    TypicalRounds,
    log_evidence,
    smallest_changes,
)
from biaswatch.shared.stats.anytime.judging import share_of_attempt
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms

Kept = tuple[Reference, ...]
"""The references of one search, the newest last."""


@dataclass(frozen=True)
class SearchedRounds:
    """What the rounds of each search are, a number a search."""

    typical: TypicalRounds
    rounds: Ints
    """How many there are."""
    steps: Ints
    """How many of them follow the first reference."""
    bounds: Floats
    """The log evidence of an alarm."""


@dataclass(frozen=True)
class SaidOfSearch:
    """What the references of one search say after a round."""

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
        self._rows = [reference for each in kept for reference in each]
        sizes = [len(each) for each in kept]
        self.owners = np.repeat(np.arange(len(kept)), sizes)
        """The search of each row."""
        self._owning = np.flatnonzero(sizes)
        self._begins = (np.cumsum(sizes, dtype=np.int64) - sizes)[self._owning]
        values, allowed = (
            np.array([getattr(each, name) for each in self._rows], dtype=np.float64)
            for name in ("value", "allowed")
        )
        rounds = np.array([each.rounds for each in self._rows], dtype=np.int64)
        bets = late_starts_of([each.bets for each in self._rows])
        self._table = References(values, allowed, rounds, bets)

    def after(self, pairs: PairHistograms, steps: Sequence[int], round_: int) -> list[Kept]:
        """Return the references of each search after a round that adds these pairs to it."""
        if not self._rows:
            return list(self._kept)
        newest = np.append(np.diff(self.owners) != 0, True)
        shares = [share_of_attempt(steps[owner]) for owner in self.owners.tolist()]
        weights = np.where(newest, np.log(shares), -np.inf)
        after = self._table.after(pairs.of_rows(self.owners), weights, round_)
        found: list[list[Reference]] = [[] for _ in self._kept]
        bets = bets_of(after.bets)
        for owner, reference, its in zip(self.owners.tolist(), self._rows, bets, strict=True):
            found[owner].append(reference.model_copy(update={"bets": its}))
        return [tuple(each) for each in found]

    def said(self, searched: SearchedRounds) -> list[SaidOfSearch]:
        """Return what the references of each search say."""
        found = [SaidOfSearch()] * len(self._kept)
        if not self._rows:
            return found
        evidence = log_evidence(self._table, self._begins).tolist()
        smallest = np.minimum.reduceat(self._smallest(searched), self._begins).tolist()
        likeliest = self._likeliest()
        for place, owner in enumerate(self._owning.tolist()):
            begun = isfinite(evidence[place])
            found[owner] = SaidOfSearch(
                evidence[place] if begun else None,
                likeliest[place] if begun and likeliest[place] >= 0 else None,
                smallest[place] if isfinite(smallest[place]) else None,
            )
        return found

    def _smallest(self, searched: SearchedRounds) -> Floats:
        mine = self.owners
        return smallest_changes(
            self._table,
            searched.typical.of_rows(mine),
            searched.rounds[mine],
            searched.steps[mine],
            searched.bounds[mine],
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
