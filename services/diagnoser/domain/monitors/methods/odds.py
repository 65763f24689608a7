"""A common odds ratio of being selected; a set is a batch."""

import numpy as np
from scipy.special import expit, logit

from services.diagnoser.domain.monitors.change_detection import counted_pairs
from services.diagnoser.domain.monitors.method import MonitorMethod, PlannedGap
from services.diagnoser.domain.monitors.round_answers import (
    ComparedSets,
    Counts,
    RoundCounts,
    RoundScope,
    selected_shares,
)
from shared.contracts import Comparison, WatchedFeature
from shared.stats.anytime.odds import Batch, CommonOdds
from shared.stats.anytime.planning import PlannedUnits, plan_rates


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
    found = CommonOdds.of(batches)
    counts = {
        "selected": (found.selected,), "normalisers": found.normalisers,
        "units": (found.units,), "silent": (found.silent,),
        **counted_pairs(selected_shares(compared.sets, limit), comparison.key),
    }  # fmt: skip
    return RoundCounts(counts, len(sets) - len(whole))


def _evidence(counts: Counts) -> CommonOdds:
    single = (counts[name][0] for name in ("units", "silent"))
    return CommonOdds(counts["selected"][0], counts["normalisers"], *single)


def planned_selections(
    watched: WatchedFeature, gap: PlannedGap, rng: np.random.Generator
) -> PlannedUnits:
    """Return the units that a gap in log odds is likely to need."""
    level = gap.level or 0.0
    first = float(expit(logit(level) + gap.effect))
    alpha, family = gap.alpha, gap.family
    return plan_rates(first, level, rng, alpha=alpha, family=family, tolerance=watched.tolerance)


METHOD = MonitorMethod(_count, _evidence, planned_selections)
