"""Questions beyond the twins at hand: names and texts as clusters, and declared horizons."""

from dataclasses import dataclass, replace

import numpy as np

from biaswatch.shared.analysis.monitors.alpha_shares import gap_alpha, gap_bound
from biaswatch.shared.analysis.monitors.gap_evidence import (
    EvidenceSummary,
    GapUnderWay,
    span_of,
    tolerance_of,
)
from biaswatch.shared.analysis.monitors.methods.matched import DIFFERENCES
from biaswatch.shared.analysis.monitors.pair_counts import block_differences, differences_of
from biaswatch.shared.contracts import ClusteredEvidence, Estimate, HorizonEvidence, Verdict
from biaswatch.shared.stats.anytime.bets import middles
from biaswatch.shared.stats.anytime.clusters import (
    Blocks,
    log_share_of_look,
    log_sum_after,
    look_number,
)
from biaswatch.shared.stats.anytime.horizons import (
    GUARD_UNITS,
    SEQUENTIAL_SHARE,
    WeightedMoments,
    sequential_bounds,
    z_statistics,
)
from biaswatch.shared.stats.estimate import DIFFERS, NOT_SHOWN, too_few

INTERVAL = "blocks of names and texts, valid at every look"
UNDECLARED = "no random factors are declared"
NO_FORECAST = "evidence beyond these names and texts grows with new ones"


@dataclass(frozen=True)
class BeyondTwins:
    """The answers about more than these names and texts, and the look at a horizon."""

    group_effect: str | None = None
    group_effect_reason: str | None = UNDECLARED
    clusters: ClusteredEvidence | None = None
    these: Estimate | None = None
    horizon: HorizonEvidence | None = None


def beyond_twins(gap: GapUnderWay, summary: EvidenceSummary) -> tuple[EvidenceSummary, BeyondTwins]:
    """Return the summary of a gap without alarm, as a claim about the group, and its evidence."""
    clusters = _clusters(gap)
    horizon = _horizon(gap, clusters)
    crosses = horizon is not None and horizon.z >= horizon.bound
    if clusters is None:
        if crosses and horizon is not None:
            summary = _disparity(summary, horizon)
        return summary, BeyondTwins(horizon=horizon)
    effect, reason = _group_effect(gap, clusters)
    claimed = _claimed(gap, summary, clusters)
    if crosses and horizon is not None and effect != _lacking(gap):
        effect, claimed = DIFFERS, _disparity(claimed, horizon)
    return claimed, BeyondTwins(effect, reason, clusters, summary.gap, horizon)


def _lacking(gap: GapUnderWay) -> str | None:
    factor = gap.blocks.lacking if gap.blocks else None
    return None if factor is None else too_few(factor)


def _clusters(gap: GapUnderWay) -> ClusteredEvidence | None:
    """Return the evidence of blocks after this round; looks are rounds 1, 2, 4 and so on."""
    if gap.blocks is None:
        return None
    differences = block_differences(gap.counts_of(gap.test.rounds))
    before, look = gap.clusters, look_number(gap.rounds_before + 1)
    levels = gap.blocks.levels
    if look is None or not differences.size:
        kept = before or ClusteredEvidence(blocks=0, levels=levels)
        return kept.model_copy(update={"blocks": len(differences)})
    blocks = Blocks(differences)
    logs = {
        name: log_sum_after(getattr(before, name, None), blocks.log_e_beyond(tolerance), look)
        for name, tolerance in (("log_e_gap", tolerance_of(gap.comparison)), ("log_e_effect", 0.0))
    }
    alpha = gap_alpha(gap.plan, gap.test.number) / len(gap.plan.all_comparisons)
    low, high = blocks.interval(alpha * float(np.exp(log_share_of_look(look))))
    return ClusteredEvidence(blocks=len(differences), levels=levels, low=low, high=high, **logs)


def _group_effect(gap: GapUnderWay, clusters: ClusteredEvidence) -> tuple[str, str | None]:
    if (answer := _lacking(gap)) is not None:
        counts = ", ".join(f"{level.factor}: {level.values}" for level in clusters.levels)
        return answer, f"values that the group with fewer of them has: {counts}"
    bound = gap_bound(gap.plan, gap.test.number)
    is_shown = (clusters.log_e_effect or 0.0) >= bound and gap.same.allows_more
    return DIFFERS if is_shown else NOT_SHOWN, None


def _claimed(
    gap: GapUnderWay, summary: EvidenceSummary, clusters: ClusteredEvidence
) -> EvidenceSummary:
    """Return a summary whose verdict and interval are about the group beyond names and texts."""
    log_e, bound = clusters.log_e_gap or 0.0, gap_bound(gap.plan, gap.test.number)
    interval = _interval(gap, summary, clusters)
    is_shown = _lacking(gap) is None and log_e >= bound and gap.same.allows_more
    verdict = Verdict.DISPARITY if is_shown else Verdict.INCONCLUSIVE
    if not is_shown and _is_within(interval, gap.comparison.watched.tolerance):
        verdict = Verdict.NO_DISPARITY
    reasons = {
        Verdict.DISPARITY: "the evidence beyond these names and texts is enough",
        Verdict.NO_DISPARITY: "the interval beyond these names and texts lies within the tolerance",
        Verdict.INCONCLUSIVE: _lacking(gap)
        or f"the log evidence beyond these names and texts is {log_e:.2f} of {bound:.2f}",
    }
    return replace(
        summary,
        gap=interval,
        log_e=log_e,
        verdict=verdict,
        reason=reasons[verdict],
        more_units=None,
        expected_verdict=None,
        no_forecast=NO_FORECAST if verdict is Verdict.INCONCLUSIVE else None,
    )


def _interval(gap: GapUnderWay, summary: EvidenceSummary, clusters: ClusteredEvidence) -> Estimate:
    """Return the gap with the interval of the last look; it contains the gap of all sets."""
    span, value = span_of(gap.comparison), summary.gap.value
    if value is None or clusters.low is None or clusters.high is None:
        return replace(summary.gap, low=None, high=None, method=INTERVAL)
    low, high = min(clusters.low * span, value), max(clusters.high * span, value)
    return replace(summary.gap, low=low, high=high, method=INTERVAL)


def _is_within(interval: Estimate, tolerance: float) -> bool:
    if not tolerance or interval.low is None or interval.high is None:
        return False
    return -tolerance < interval.low and interval.high < tolerance


def _disparity(summary: EvidenceSummary, horizon: HorizonEvidence) -> EvidenceSummary:
    reason = (
        f"at look {horizon.look} of {horizon.looks}, z is {horizon.z:.2f}, at or above the bound"
        f" of {horizon.bound:.2f}"
    )
    return replace(
        summary,
        verdict=Verdict.DISPARITY,
        reason=reason,
        more_units=None,
        expected_verdict=None,
        no_forecast=None,
    )


def _horizon(gap: GapUnderWay, clusters: ClusteredEvidence | None) -> HorizonEvidence | None:
    """Return the look at a declared horizon; None without one, and beyond it."""
    looks, look = gap.plan.looks, gap.rounds_before + 1
    if looks is None or look > looks:
        return None
    alpha = (
        SEQUENTIAL_SHARE * gap_alpha(gap.plan, gap.test.number) / len(gap.plan.all_comparisons) / 2
    )
    bound = float(sequential_bounds(looks, alpha).bounds[look - 1])
    counts = gap.counts_of(gap.test.rounds)
    if clusters is None:
        histogram = differences_of(counts)
        if not histogram.size:
            histogram = np.array(counts.get(DIFFERENCES, ()), dtype=np.float64)
        values, weights, guard = middles(len(histogram)), histogram, GUARD_UNITS
    else:
        values = block_differences(counts)
        weights, guard = np.ones(len(values)), 0.0
    tolerance = np.array([tolerance_of(gap.comparison)])
    sides = z_statistics(WeightedMoments.of(values, weights), tolerance, guard)
    z = float(np.maximum(*sides)[0])
    return HorizonEvidence(look=look, looks=looks, z=max(z, -MAX_Z), bound=bound)


MAX_Z = 40.0
"""Limit of a z-statistic, which too few units have below."""
