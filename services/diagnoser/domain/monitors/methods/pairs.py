"""Fixed bets on the differences of twins, within their set."""

import numpy as np

from services.diagnoser.domain.monitors.change_detection import LEVEL, counted_levels
from services.diagnoser.domain.monitors.method import MonitorMethod, PlannedGap
from services.diagnoser.domain.monitors.round_answers import (
    ComparedSets,
    RoundCounts,
    RoundScope,
    selections_of_pairs,
)
from shared.contracts import Claim, Comparison, WatchedFeature
from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.planning import PlannedUnits, plan_gap
from shared.stats.anytime.rounding import uniforms

SELECTIONS = "selections"
"""Pairs of selections for the four-fifths rule: both, first only, second only, neither."""


def _count(comparison: Comparison, compared: ComparedSets, scope: RoundScope) -> RoundCounts:
    """Count the gap of each set.

    A claim about a bank is about all of its sets, so one with a missing answer counts as the worst
    case for every bet. A claim about a population is about sets whose answers are not missing;
    whether answers are missing more often in one group is a comparison of its own.
    """
    watched = comparison.watched
    sets = {name: twins for name, twins in compared.sets.items() if twins.compared}
    gaps = {name: twins.gap for name, twins in sets.items() if twins.gap is not None}
    missing = len(sets) - len(gaps)
    # Rounding errors may put a share of the range a hair beyond 1.
    shares = np.clip(np.array(list(gaps.values())) / (watched.high - watched.low), -1.0, 1.0)
    jitter = uniforms([scope.unit_id(name) for name in gaps], comparison.key)
    absent = missing if scope.claim is Claim.BANK else 0
    found = PairHistogram.of(shares, jitter, absent=absent)
    counts = {"counts": found.counts, "absent": (found.absent,)}
    levels = {
        scope.unit_id(name): 2 * (twins.level - watched.low) / (watched.high - watched.low) - 1
        for name, twins in sets.items()
        if twins.level is not None
    }
    counts[LEVEL] = counted_levels(levels, comparison.key)
    if watched.selected_at_least is not None:
        counts[SELECTIONS] = selections_of_pairs(sets.values(), watched.selected_at_least)
    return RoundCounts(counts, missing)


def _planned_units(
    watched: WatchedFeature, gap: PlannedGap, rng: np.random.Generator
) -> PlannedUnits:
    span = watched.high - watched.low
    return plan_gap(
        gap.effect / span, (gap.sd or 0.0) / span, rng,
        alpha=gap.alpha, family=gap.family, tolerance=watched.tolerance / span, binary=gap.binary,
    )  # fmt: skip


METHOD = MonitorMethod(
    _count, lambda counts: PairHistogram(counts["counts"], *counts["absent"]), _planned_units
)
