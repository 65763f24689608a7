"""A common odds ratio of being selected; a set is a batch."""

from collections.abc import Sequence

import numpy as np

from biaswatch.shared.analysis.monitors.change_detection import counted_pairs
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
    selected_shares,
)
from biaswatch.shared.contracts import Comparison, WatchedFeature
from biaswatch.shared.stats.anytime.odds import Batch, CommonOdds
from biaswatch.shared.stats.anytime.planning import PlannedUnits, plan_odds
from biaswatch.shared.stats.anytime.units import ONE_AND_ONE, SetShape


def _count(comparison: Comparison, compared: ComparedSets, scope: RoundScope) -> RoundCounts:
    limit = comparison.watched.selected_at_least or 0.0
    sets = [twins for twins in compared.sets.values() if twins.compared]
    whole = [twins for twins in sets if not (twins.a.missing or twins.b.missing)]
    batches = [
        Batch(
            sum(v >= limit for v in twins.a.units), len(twins.a.units),
            sum(v >= limit for v in twins.b.units), len(twins.b.units),
        )
        for twins in whole
    ]  # fmt: skip
    odds = CommonOdds.of(batches)
    counts = {
        "selected": (odds.selected,), "normalisers": odds.normalisers,
        "units": (odds.units,), "silent": (odds.silent,),
        **counted_pairs(selected_shares(compared.sets, limit), comparison.key),
    }  # fmt: skip
    return RoundCounts(counts, len(sets) - len(whole), compared.outside)


def _evidence(counts: Counts) -> CommonOdds:
    single = (counts[name][0] for name in ("units", "silent"))
    return CommonOdds(counts["selected"][0], counts["normalisers"], *single)


def _planned_units(
    watched: WatchedFeature, gap: PlannedGap, rng: np.random.Generator
) -> PlannedUnits:
    return planned_selections(watched, gap, rng, gap.missing.shapes)


def planned_selections(
    watched: WatchedFeature,
    gap: PlannedGap,
    rng: np.random.Generator,
    shapes: Sequence[SetShape] = ONE_AND_ONE,
) -> PlannedUnits:
    """Return the sets that a gap in log odds is likely to need, sets having these shapes."""
    planned = plan_odds(
        gap.effect, gap.level or 0.0, rng, alpha=gap.alpha, family=gap.family,
        tolerance=watched.tolerance, spread=gap.spread, shapes=shapes,
    )  # fmt: skip
    return planned.of_every(gap.missing.complete_sets)


METHOD = MonitorMethod(one_by_one(_count), row_by_row(_evidence), _planned_units)
