"""Whether a gap is still what it was in the first rounds of its epoch."""

from math import log

import numpy as np

from services.diagnoser.domain.monitors.counting import Counts
from services.diagnoser.domain.monitors.reading import state_of
from shared.contracts import Change, Comparison, Method, MonitorPlan
from shared.stats.anytime.change import Baseline, Detector
from shared.stats.anytime.pairs import PairHistogram


def change_bound(plan: MonitorPlan) -> float:
    """Give the log evidence of a change that alarms: a quarter of alpha, for the whole family."""
    return log(4 * len(plan.watched) / plan.alpha)


def reference_of(comparison: Comparison, counts: Counts, plan: MonitorPlan) -> Change | None:
    """Give what later rounds are compared with: the gap of the reference rounds, with its doubt.

    The interval of the reference misses the gap with a quarter of alpha over the whole family; a
    gap inside it, or nearer than the tolerance, is no change. None where no bet could be placed.
    """
    if comparison.watched.method is not Method.PAIRS:
        return None
    pairs = state_of(Method.PAIRS, counts)
    value = pairs.estimate
    if not isinstance(pairs, PairHistogram) or value is None:
        return None
    low, high = pairs.interval(plan.alpha / 4 / len(plan.watched))
    allowed = max(value - low, high - value) + plan.change_tolerance
    return Change(reference=value, allowed=allowed) if allowed < 1 else None


def next_change(change: Change, counts: Counts) -> Change:
    """Add one closed round; the weights of all rounds sum to 1, so false alarms, ever, to alpha."""
    pairs = state_of(Method.PAIRS, counts)
    if not isinstance(pairs, PairHistogram):
        return change
    baseline = Baseline(gap=change.reference, tolerance=change.allowed)
    steps = change.steps + 1
    step = Detector.step(baseline.of_round(pairs), log_weight=-float(np.log(steps * (steps + 1))))
    before = Detector(change.log_a, change.log_b, change.steps) if change.steps else None
    now = before.then(step) if before else step
    return change.model_copy(
        update={
            "log_a": now.log_a,
            "log_b": now.log_b,
            "steps": steps,
            "log_evidence": now.log_statistic,
        }
    )
