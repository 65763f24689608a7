"""Two histograms of the groups' values, where there are no twins."""

from collections.abc import Mapping
from math import hypot

import numpy as np

from biaswatch.shared.analysis.monitors.change_detection import (
    counted_pairs,
    difference_counts,
    random_pairs,
)
from biaswatch.shared.analysis.monitors.method import (
    MonitorMethod,
    PlannedGap,
    one_by_one,
    row_by_row,
)
from biaswatch.shared.analysis.monitors.round_answers import (
    ComparedSets,
    Counts,
    RoundCounts,
    RoundScope,
)
from biaswatch.shared.contracts import Comparison, WatchedFeature
from biaswatch.shared.stats.anytime.planning import PlannedUnits, plan_gap
from biaswatch.shared.stats.anytime.two_groups import TwoHistograms
from biaswatch.shared.stats.anytime.two_groups_planning import plan_two_groups
from biaswatch.shared.stats.anytime.units import uniforms

SIDES = ("first", "second")
TWINS = "twins"
"""The differences of sets with both sides; traffic has none."""


def share_of_range(watched: WatchedFeature, mean: float) -> float:
    """Return a mean from 0 to 1; rounding errors may put it a hair beyond the range."""
    return float(np.clip((mean - watched.low) / (watched.high - watched.low), 0.0, 1.0))


def side_counts(comparison: Comparison, side: str, shares: Mapping[str, float]) -> tuple[int, ...]:
    """Return the histogram of one side's units, by their ids."""
    jitter = uniforms(list(shares), f"{comparison.key}/{side}")
    values, empty = np.array(list(shares.values()), dtype=np.float64), np.array([])
    return TwoHistograms.of(values, empty, jitter, empty).first


def _count(comparison: Comparison, compared: ComparedSets, scope: RoundScope) -> RoundCounts:
    """Count each side of a set as a unit, and the difference of sets that have both.

    Both sides of a set may go together in any way, so as two units they would not be independent.
    """
    sides = {
        name: {
            unit: share_of_range(comparison.watched, mean)
            for unit, answers in compared.sets.items()
            if (mean := (answers.a if name == "first" else answers.b).mean) is not None
        }
        for name in SIDES
    }
    present = sum(answers.a.present + answers.b.present for answers in compared.sets.values())
    twins = sides["first"].keys() & sides["second"].keys()
    counts: Counts = {}
    for name, shares in sides.items():
        alone = {scope.unit_id(unit): shares[unit] for unit in shares if unit not in twins}
        counts[name] = side_counts(comparison, name, alone)
    gaps = {scope.unit_id(n): sides["first"][n] - sides["second"][n] for n in sorted(twins)}
    counts[TWINS] = difference_counts(gaps, f"{comparison.key}/{TWINS}")
    pairs = random_pairs(sides["first"], sides["second"], comparison.key)
    counts |= counted_pairs(pairs, comparison.key)
    missing = present - sum(map(len, sides.values()))
    return RoundCounts(counts, missing, compared.outside)


def _evidence(counts: Counts) -> TwoHistograms:
    sides = (counts[name] for name in SIDES)
    return TwoHistograms(*sides, **({TWINS: counts[TWINS]} if TWINS in counts else {}))


def _planned_units(
    watched: WatchedFeature, gap: PlannedGap, rng: np.random.Generator
) -> PlannedUnits:
    span = watched.high - watched.low
    level = ((gap.level or 0.0) - watched.low) / span
    sds, tolerance = (
        ((gap.sd_first or 0.0) / span, (gap.sd or 0.0) / span),
        watched.tolerance / span,
    )
    if gap.twins:  # as if twins did not go together
        of_sets = plan_gap(
            gap.effect / span, hypot(*sds), rng,
            alpha=gap.alpha, family=gap.family, tolerance=tolerance, binary=gap.binary,
        )  # fmt: skip
        return of_sets.of_every(gap.missing.complete_sets / 2)  # two units each
    planned = plan_two_groups(
        gap.effect / span, sds, level, rng,
        alpha=gap.alpha, family=gap.family, tolerance=tolerance,
    )  # fmt: skip
    return planned.of_every(gap.missing.complete_sides)


METHOD = MonitorMethod(one_by_one(_count), row_by_row(_evidence), _planned_units)
