"""Two histograms of the groups' values, where there are no twins."""

from collections.abc import Mapping

import numpy as np

from services.diagnoser.domain.monitors.change_detection import counted_pairs, random_pairs
from services.diagnoser.domain.monitors.method import MonitorMethod, PlannedGap
from services.diagnoser.domain.monitors.round_answers import ComparedSets, RoundCounts, RoundScope
from shared.contracts import Comparison, WatchedFeature
from shared.stats.anytime.planning import PlannedUnits
from shared.stats.anytime.rounding import uniforms
from shared.stats.anytime.two_groups import TwoHistograms
from shared.stats.anytime.two_groups_planning import plan_two_groups

SIDES = ("first", "second")


def share_of_range(watched: WatchedFeature, mean: float) -> float:
    """Return a mean from 0 to 1; rounding errors may put it a hair beyond the range."""
    return float(np.clip((mean - watched.low) / (watched.high - watched.low), 0.0, 1.0))


def side_counts(comparison: Comparison, side: str, shares: Mapping[str, float]) -> tuple[int, ...]:
    """Return the histogram of one side's units, by their ids."""
    jitter = uniforms(list(shares), f"{comparison.key}/{side}")
    values, nobody = np.array(list(shares.values()), dtype=np.float64), np.array([])
    return TwoHistograms.of(values, nobody, jitter, nobody).first


def _count(comparison: Comparison, compared: ComparedSets, scope: RoundScope) -> RoundCounts:
    counts, missing = {}, 0
    sides: dict[str, dict[str, float]] = {}
    for name in SIDES:
        answers = {n: (t.a if name == "first" else t.b) for n, t in compared.sets.items()}
        means = {unit: side.mean for unit, side in answers.items() if side.there}
        sides[name] = {
            unit: share_of_range(comparison.watched, mean)
            for unit, mean in means.items()
            if mean is not None
        }
        missing += len(means) - len(sides[name])
        by_id = {scope.unit_id(unit): value for unit, value in sides[name].items()}
        counts[name] = side_counts(comparison, name, by_id)
    pairs = random_pairs(sides["first"], sides["second"], comparison.key)
    return RoundCounts({**counts, **counted_pairs(pairs, comparison.key)}, missing)


def _planned_units(
    watched: WatchedFeature, gap: PlannedGap, rng: np.random.Generator
) -> PlannedUnits:
    span = watched.high - watched.low
    level = ((gap.level or 0.0) - watched.low) / span
    return plan_two_groups(
        gap.effect / span, ((gap.sd_first or 0.0) / span, (gap.sd or 0.0) / span), level, rng,
        alpha=gap.alpha, family=gap.family, tolerance=watched.tolerance / span,
    )  # fmt: skip


METHOD = MonitorMethod(
    _count, lambda counts: TwoHistograms(counts["first"], counts["second"]), _planned_units
)
