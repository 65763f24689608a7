"""Users of production traffic who are matched in time and within strata."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from biaswatch.shared.analysis.monitors.count_columns import CountedComparisons
from biaswatch.shared.analysis.monitors.method import MonitorMethod, PlannedGap, SortedRound
from biaswatch.shared.analysis.monitors.methods.two_groups import SIDES
from biaswatch.shared.analysis.monitors.pair_counts import pair_table
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.contracts import Comparison, Estimate, UserCounts, WatchedFeature
from biaswatch.shared.stats.anytime.matched_planning import Arrivals, plan_matched
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.planning import PlannedUnits
from biaswatch.shared.stats.anytime.two_groups import VALUE_BINS
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples

DIFFERENCES = "differences"
"""Differences of matches, from -1 to 1. Their name differs from that of twins, whose changes are
watched: later windows are of users who come more rarely."""
LEVELS = "levels"
"""The means over both sides of matches, from -1 to 1."""
USERS = "users"
"""The counts of users, in the order of `UserCounts`."""
UNADJUSTED = "all users of all moments and strata, at one look; no evidence"


def user_counts_of(counts: Counts) -> UserCounts | None:
    """Return the counts of users; None for a comparison that does not match users."""
    if USERS not in counts:
        return None
    return UserCounts(**dict(zip(UserCounts.model_fields, counts[USERS], strict=True)))


def unadjusted_gap(comparison: Comparison, counts: Counts, alpha: float) -> Estimate | None:
    """Return the gap between all users, whenever they came and whatever they asked.

    Its interval is for one look at independent users whose moments and strata do not matter. It
    is shown beside the evidence: a stratum may itself be how a model treats groups differently.
    """
    if USERS not in counts:
        return None
    watched = comparison.watched
    ends = np.linspace(watched.low, watched.high, VALUE_BINS)
    a, b = (np.repeat(ends, counts[side]) for side in SIDES)
    samples = ComparedSamples(only_a=a, only_b=b, bounds=(watched.low, watched.high))
    gap = compare_samples(samples, alpha=alpha, tolerance=0.0).marginal
    return replace(gap, method=UNADJUSTED)


def _count(comparisons: Sequence[Comparison], closed: SortedRound) -> CountedComparisons:
    del closed
    raise ValueError(f"{comparisons[0].key}: users are matched in traffic, which asks no suite")


def _evidence(counts: Sequence[Counts]) -> PairHistograms:
    """Return the differences of matches, whose units are the users of both groups in them."""
    users = [sum(row[USERS][:2]) for row in counts]
    differences = pair_table(counts, [DIFFERENCES] * len(counts))
    return replace(differences, users=np.array(users, dtype=np.float64))


def _planned_units(
    watched: WatchedFeature, gap: PlannedGap, rng: np.random.Generator
) -> PlannedUnits:
    span = watched.high - watched.low
    level = ((gap.level or 0.0) - watched.low) / span
    return plan_matched(
        gap.effect / span, ((gap.sd_first or 0.0) / span, (gap.sd or 0.0) / span), level, rng,
        alpha=gap.alpha, family=gap.family, tolerance=watched.tolerance / span,
        arrivals=gap.arrivals or Arrivals(),
    )  # fmt: skip


METHOD = MonitorMethod(_count, _evidence, _planned_units)
