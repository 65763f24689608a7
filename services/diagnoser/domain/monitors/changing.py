"""Whether gap and level are still what they were in the first rounds of their epoch."""

from math import log

from services.diagnoser.domain.monitors.counting import Counts
from services.diagnoser.domain.monitors.matching import LEVEL, MATCHED
from shared.contracts import Change, MonitorPlan
from shared.stats.anytime.change import Baseline, Detector
from shared.stats.anytime.pairs import PairHistogram

SHARES = 8
"""Of alpha: half is for gaps; a quarter each for changes of gap and of level, and of each quarter
half for the reference and half for the detector."""


def change_bound(plan: MonitorPlan) -> float:
    """Return the log evidence of a change that alarms, for the whole family."""
    return log(SHARES * len(plan.watched) / plan.alpha)


def reference_of(counts: Counts, plan: MonitorPlan, *, level: bool = False) -> Change | None:
    """Return what later rounds are compared with: what the reference rounds show, with its doubt.

    What lies inside the interval of the reference, or nearer to it than the tolerance, is no
    change. None where nothing is left to bet on, and where rounds keep no pairs: in traffic, each
    user enters once, so that later windows are of other people.
    """
    pairs = _pairs(counts, level=level)
    value = pairs.estimate if pairs else None
    if pairs is None or value is None:
        return None
    low, high = pairs.interval(plan.alpha / SHARES / len(plan.watched))
    allowed = max(value - low, high - value) + plan.change_tolerance
    return Change(reference=value, allowed=allowed) if allowed < 1 else None


def next_change(change: Change, counts: Counts, *, level: bool = False) -> Change:
    """Add one closed round; the weights of all rounds sum to 1, so false alarms, ever, to alpha."""
    pairs = _pairs(counts, level=level)
    if pairs is None:  # closed by a version that kept none
        return change
    baseline = Baseline(gap=change.reference, tolerance=change.allowed)
    steps = change.steps + 1
    weight = -log(steps * (steps + 1))
    step = Detector.step(baseline.of_round(pairs), log_weight=weight)
    before = Detector(change.log_a, change.log_b, change.steps) if change.steps else None
    now = before.then(step) if before else step
    found = {"log_a": now.log_a, "log_b": now.log_b, "log_evidence": now.log_statistic}
    return change.model_copy(update={**found, "steps": steps})


def _pairs(counts: Counts, *, level: bool) -> PairHistogram | None:
    """Return the pairs that a round keeps: a bank's with what is absent, as the worst case."""
    found = counts.get(LEVEL) if level else counts.get("counts", counts.get(MATCHED))
    return None if found is None else PairHistogram(found, *counts.get("absent", ()))
