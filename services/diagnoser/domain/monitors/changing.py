"""Whether gap and level are still what they were in the first rounds of their epoch."""

from math import log

from services.diagnoser.domain.monitors.counting import LEVEL, Counts
from shared.contracts import Change, Comparison, Method, MonitorPlan
from shared.stats.anytime.change import Baseline, Detector
from shared.stats.anytime.pairs import PairHistogram

SHARES = 8
"""Of alpha: half is for gaps; a quarter each for changes of gap and of level, and of each quarter
half for the reference and half for the detector."""


def change_bound(plan: MonitorPlan) -> float:
    """Give the log evidence of a change that alarms, for the whole family."""
    return log(SHARES * len(plan.watched) / plan.alpha)


def reference_of(
    comparison: Comparison, counts: Counts, plan: MonitorPlan, *, level: bool = False
) -> Change | None:
    """Give what later rounds are compared with: what the reference rounds show, with its doubt.

    What lies inside the interval of the reference, or nearer to it than the tolerance, is no
    change. None where nothing is left to bet on.
    """
    if comparison.watched.method is not Method.PAIRS:
        return None
    pairs = _pairs(counts, level=level)
    value = pairs.estimate
    if value is None:
        return None
    low, high = pairs.interval(plan.alpha / SHARES / len(plan.watched))
    allowed = max(value - low, high - value) + plan.change_tolerance
    return Change(reference=value, allowed=allowed) if allowed < 1 else None


def next_change(change: Change, counts: Counts, *, level: bool = False) -> Change:
    """Add one closed round; the weights of all rounds sum to 1, so false alarms, ever, to alpha."""
    baseline = Baseline(gap=change.reference, tolerance=change.allowed)
    steps = change.steps + 1
    weight = -log(steps * (steps + 1))
    step = Detector.step(baseline.of_round(_pairs(counts, level=level)), log_weight=weight)
    before = Detector(change.log_a, change.log_b, change.steps) if change.steps else None
    now = before.then(step) if before else step
    found = {"log_a": now.log_a, "log_b": now.log_b, "log_evidence": now.log_statistic}
    return change.model_copy(update={**found, "steps": steps})


def _pairs(counts: Counts, *, level: bool) -> PairHistogram:
    return PairHistogram(counts[LEVEL if level else "counts"], counts["absent"][0])
