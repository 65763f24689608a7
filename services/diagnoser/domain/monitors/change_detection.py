"""Whether gap and level are still what they were in the first rounds of their epoch."""

from collections.abc import Mapping
from math import log

import numpy as np

from services.diagnoser.domain.monitors.round_answers import Counts
from shared.contracts import Change, MonitorPlan
from shared.stats.anytime.change import Baseline, Detector
from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.rounding import uniforms

Both = tuple[float, float]
"""What a pair shows of the first group and of the second, each in [0, 1]."""
MATCHED = "matched"
"""The differences of pairs, from -1 to 1, of methods that keep no histogram of them."""
LEVEL = "level"
"""The means over both groups, from -1 to 1: a model may change and its gap stay."""


def counted_pairs(pairs: Mapping[str, Both], salt: str) -> dict[str, tuple[int, ...]]:
    """Count pairs, by the name of each, for both detectors."""
    return {
        MATCHED: _counts({name: a - b for name, (a, b) in pairs.items()}, f"{salt}/{MATCHED}"),
        LEVEL: counted_levels({name: a + b - 1 for name, (a, b) in pairs.items()}, salt),
    }


def counted_levels(values: Mapping[str, float], salt: str) -> tuple[int, ...]:
    """Count the levels of pairs, from -1 to 1."""
    return _counts(values, f"{salt}/{LEVEL}")


def random_pairs(
    first: Mapping[str, float], second: Mapping[str, float], salt: str
) -> dict[str, Both]:
    """Pair units of two groups: those of one set with each other, the others as their ids decide.

    Every unit is in at most one pair, and no set in two, so that pairs are as independent as sets.
    """
    twins = sorted(first.keys() & second.keys())
    alone = (sorted(units.keys() - set(twins)) for units in (first, second))
    a, b = (
        [names[place] for place in np.argsort(uniforms(names, f"{salt}/{side}"))]
        for names, side in zip(alone, "ab", strict=True)
    )
    chosen = [*zip(twins, twins, strict=True), *zip(a, b, strict=False)]
    return {f"{one} {other}": (first[one], second[other]) for one, other in chosen}


def _counts(values: Mapping[str, float], salt: str) -> tuple[int, ...]:
    # Rounding errors may put a value a hair beyond the ends.
    shares = np.clip(np.array(list(values.values()), dtype=np.float64), -1.0, 1.0)
    return PairHistogram.of(shares, uniforms(list(values), salt)).counts


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
