"""A closed round becomes whole numbers: the increment of one comparison."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from services.diagnoser.domain.monitors.answers import Sorted, Twins
from services.diagnoser.domain.monitors.matching import LEVEL, Both, at_random, levels, matched
from shared.contracts import Claim, Comparison, Method
from shared.stats.anytime.batches import Batch
from shared.stats.anytime.claims import Claim as StatedClaim
from shared.stats.anytime.claims import close_bank_round, close_population_round, unit_id
from shared.stats.anytime.odds import CommonOdds
from shared.stats.anytime.rounding import uniforms
from shared.stats.anytime.two_groups import TwoHistograms

Counts = dict[str, tuple[int, ...]]
SELECTIONS = "selections"
"""Pairs of selections for the four-fifths rule: both, first only, second only, neither."""


@dataclass(frozen=True)
class Counted:
    """What a round adds, and what it could not."""

    counts: Counts
    missing: int


@dataclass(frozen=True)
class Place:
    """Which round of which claim is counted."""

    claim: Claim
    round: int


def count(comparison: Comparison, seen: Sorted, place: Place) -> Counted:
    """Count one comparison in one closed round."""
    method = comparison.watched.method
    return _COUNTERS[method](comparison, seen, place)


def added(a: Counts, b: Counts) -> Counts:
    """Add the counts of disjoint units."""
    both = {name: zip(a[name], b[name], strict=True) for name in sorted(a)}
    return {name: tuple(x + y for x, y in places) for name, places in both.items()}


def _pairs(comparison: Comparison, seen: Sorted, place: Place) -> Counted:
    watched, key = comparison.watched, comparison.key
    span = watched.high - watched.low
    sets = {name: twins for name, twins in seen.sets.items() if twins.compared}
    gaps = {name: _share(twins.gap, span) for name, twins in sets.items()}
    if place.claim is Claim.BANK:
        closed = close_bank_round(gaps, round_number=place.round, salt=key)
    else:
        closed = close_population_round(gaps, entered=frozenset(), salt=key)
    counts = {"counts": closed.increment.counts, "absent": (closed.increment.absent,)}
    counts[LEVEL] = _levels(comparison, sets, place)
    if watched.selected_at_least is not None:
        counts[SELECTIONS] = _selections(sets, watched.selected_at_least)
    return Counted(counts, closed.missing)


def _levels(comparison: Comparison, sets: Mapping[str, Twins], place: Place) -> tuple[int, ...]:
    low, span = comparison.watched.low, comparison.watched.high - comparison.watched.low
    there = {n: t.level for n, t in sets.items() if t.level is not None}
    claim = StatedClaim(place.claim)
    values = {
        unit_id(claim, name, place.round): 2 * (level - low) / span - 1
        for name, level in there.items()
    }
    return levels(values, comparison.key)


def _share(gap: float | None, span: float) -> float | None:
    """Return a gap as a share of the range; rounding errors may put it a hair beyond 1."""
    return None if gap is None else float(np.clip(gap / span, -1.0, 1.0))


def _selections(sets: Mapping[str, Twins], limit: float) -> tuple[int, ...]:
    counts = [0, 0, 0, 0]
    for twins in sets.values():
        a, b = twins.a.units, twins.b.units
        if twins.gap is not None and len(a) == len(b) == 1:
            counts[(a[0] < limit) * 2 + (b[0] < limit)] += 1
    return tuple(counts)


def _odds(comparison: Comparison, seen: Sorted, place: Place) -> Counted:
    limit = comparison.watched.selected_at_least or 0.0
    sets = [twins for twins in seen.sets.values() if twins.compared]
    whole = [twins for twins in sets if not (twins.a.missing or twins.b.missing)]
    batches = [
        Batch(
            sum(v >= limit for v in twins.a.units), len(twins.a.units),
            sum(v >= limit for v in twins.b.units), len(twins.b.units),
        )
        for twins in whole
    ]  # fmt: skip
    found = CommonOdds.of(batches)
    counts = {
        "selected": (found.selected,), "normalisers": found.normalisers,
        "units": (found.units,), "silent": (found.silent,),
        **matched(_selected(seen.sets, limit), comparison.key),
    }  # fmt: skip
    return Counted(counts, len(sets) - len(whole))


def _discordant(comparison: Comparison, seen: Sorted, place: Place) -> Counted:
    limit = comparison.watched.selected_at_least or 0.0
    sets = {name: twins for name, twins in seen.sets.items() if twins.compared}
    both, first, second, neither = _selections(sets, limit)
    missing = len(sets) - (both + first + second + neither)
    shares = _selected(sets, limit)
    counts = {"pairs": (first, second, both + neither), **matched(shares, comparison.key)}
    return Counted(counts, missing)


def _selected(sets: Mapping[str, Twins], limit: float) -> dict[str, Both]:
    """Return the share of each group that a whole set selects."""
    whole = {name: each for name, each in sets.items() if each.gap is not None}
    return {
        name: (_share_of(twins.a.units, limit), _share_of(twins.b.units, limit))
        for name, twins in whole.items()
    }


def _share_of(units: list[float], limit: float) -> float:
    return sum(value >= limit for value in units) / len(units)


def _two_groups(comparison: Comparison, seen: Sorted, place: Place) -> Counted:
    counts, missing = {}, 0
    sides: dict[str, dict[str, float]] = {}
    for name in ("first", "second"):
        units, absent = _values(comparison, seen, name)
        sides[name] = units
        ids = [unit_id(StatedClaim(place.claim), unit, place.round) for unit in units]
        luck = uniforms(ids, f"{comparison.key}/{name}")
        values = np.array(list(units.values()), dtype=np.float64)
        nobody = np.array([], dtype=np.float64)
        counts[name] = TwoHistograms.of(values, nobody, luck, nobody).first
        missing += absent
    pairs = at_random(sides["first"], sides["second"], comparison.key)
    return Counted({**counts, **matched(pairs, comparison.key)}, missing)


def _values(comparison: Comparison, seen: Sorted, name: str) -> tuple[dict[str, float], int]:
    """Return the mean of each set on one side, from 0 to 1, and how many have none."""
    low, span = comparison.watched.low, comparison.watched.high - comparison.watched.low
    sides = {n: (t.a if name == "first" else t.b) for n, t in seen.sets.items()}
    there = {n: side.mean for n, side in sides.items() if side.there}
    found = {n: float(np.clip((m - low) / span, 0, 1)) for n, m in there.items() if m is not None}
    return found, len(there) - len(found)


_COUNTERS: dict[Method, Callable[[Comparison, Sorted, Place], Counted]] = {
    Method.PAIRS: _pairs,
    Method.ODDS: _odds,
    Method.DISCORDANT: _discordant,
    Method.TWO_GROUPS: _two_groups,
}
