"""Monitors whose gap and level never change, through the diagnoser's own code: all alarms false."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import inf

import numpy as np
from numpy.typing import NDArray

from services.diagnoser.domain.monitors.change_detection import (
    LEVEL,
    SHARES,
    change_bound,
    next_change,
    reference_of,
)
from services.diagnoser.domain.monitors.round_answers import Counts, summed
from shared.contracts import Change, MonitorPlan, Target, WatchedFeature, WatchedPair
from shared.stats.anytime.pairs import PairHistogram

Floats = NDArray[np.float64]
Answers = Callable[[np.random.Generator, Floats], Floats]
GAP = "gap"


def rates(rng: np.random.Generator, means: Floats) -> Floats:
    """Draw answers that are right or wrong."""
    return rng.binomial(1, means).astype(np.float64)


def ratings(rng: np.random.Generator, means: Floats) -> Floats:
    """Draw answers on a scale, most near its ends."""
    return rng.beta(means, 1 - means)


@dataclass(frozen=True)
class Still:
    """A bank of twins whose means stay; each set has a gap and a level of its own."""

    name: str
    answers: Answers
    sets: int
    spread: float = 0.2


STILL = [
    Still("ratings, a bank of 20", ratings, 20),
    Still("rates, a bank of 20", rates, 20),
    Still("rates, a bank of 100", rates, 100),
]


def plan_of_one(alpha: float) -> MonitorPlan:
    """Return a monitor of one feature and one comparison; missing answers are the second."""
    return MonitorPlan(
        suite="still",
        suite_hash="a" * 32,
        target=Target(name="replay:still", provider="replay", model="still"),
        features=(WatchedFeature(extractor="rating", feature="rating"),),
        comparisons=(WatchedPair(dimension="side", a="a", b="b"),),
        alpha=alpha,
    )


def share_of(plan: MonitorPlan) -> float:
    """Return the chance of a false alarm, ever, that one detector and its reference get."""
    return 2 * plan.alpha / SHARES / len(plan.watched)


def false_alarms(
    still: Still,
    plan: MonitorPlan,
    rng: np.random.Generator,
    times: int,
    rounds: int,
    *,
    doubted: bool = True,
) -> dict[str, Floats]:
    """Return the round of the first false alarm of each monitor, by detector; infinite where none.

    Without the doubt of the reference, what its few rounds show is taken for the truth.
    """
    found: dict[str, list[float]] = {GAP: [], LEVEL: []}
    for _ in range(times):
        seen = list(_rounds(still, rng, rounds))
        for detector, alarms in found.items():
            change = _reference(seen, plan, detector, doubted=doubted)
            alarms.append(_alarm(seen, plan, change, detector))
    return {detector: np.array(alarms) for detector, alarms in found.items()}


def mean_time(alarms: Floats, rounds: int) -> float:
    """Return the mean round of a false alarm, at least: who never alarmed counts as at the end."""
    return float(np.minimum(alarms, rounds).mean())


def _rounds(still: Still, rng: np.random.Generator, rounds: int) -> Iterator[Counts]:
    means = np.clip(rng.normal(0.4, still.spread, (2, still.sets)), 0.02, 0.98)
    for _ in range(rounds):
        a, b = still.answers(rng, means)
        yield {
            "counts": PairHistogram.of(a - b, rng.random(still.sets)).counts,
            LEVEL: PairHistogram.of(a + b - 1, rng.random(still.sets)).counts,
            "absent": (0,),
        }


def _reference(rounds: list[Counts], plan: MonitorPlan, detector: str, *, doubted: bool) -> Change:
    whole = reduce(summed, rounds[: plan.reference_rounds])
    found = reference_of(whole, plan, level=detector == LEVEL)
    if found is None:
        raise ValueError("the reference rounds of a simulated monitor show nothing")
    return found if doubted else found.model_copy(update={"allowed": 0.0})


def _alarm(rounds: list[Counts], plan: MonitorPlan, change: Change, detector: str) -> float:
    bound = change_bound(plan)
    for number in range(plan.reference_rounds, len(rounds)):
        change = next_change(change, rounds[number], level=detector == LEVEL)
        if change.log_evidence is not None and change.log_evidence >= bound:
            return float(number + 1)
    return inf
