"""Simulated rounds of suites whose answers are missing or go together, by the diagnoser's code."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from biaswatch.shared.analysis.monitors.method import counted, method_of
from biaswatch.shared.analysis.monitors.round_answers import (
    Counts,
    PlannedAnswer,
    RoundAnswers,
    RoundScope,
    summed,
)
from biaswatch.shared.contracts import Claim, Comparison, Method, WatchedFeature, WatchedPair
from biaswatch.shared.stats.anytime.odds import Batch, CommonOdds
from biaswatch.shared.stats.anytime.planning import plan_gap, plan_odds
from biaswatch.shared.stats.anytime.units import MissingAnswers, SetShape

Floats = NDArray[np.float64]
Answers = Callable[[np.random.Generator, int], Floats]
"""Draw a round: answers in [0, 1] by group, set and place; NaN is missing."""
ALPHA, FAMILY = 0.025, 2
SIDE = 10


@dataclass(frozen=True)
class Watched:
    """What is simulated, and how it is watched."""

    name: str
    answers: Answers
    method: Method = Method.PAIRS
    claim: Claim = Claim.BANK
    tolerance: float = 0.0


def alarm_units(watched: Watched, rng: np.random.Generator, sets: int, rounds: int) -> float:
    """Return the sets that were asked until the alarm; infinite where there is none."""
    feature = WatchedFeature(
        extractor="x", feature="f", method=watched.method, tolerance=watched.tolerance
    )
    comparison = Comparison(watched=feature, pair=WatchedPair(dimension="g", a="a", b="b"))
    total: Counts = {}
    for number in range(rounds):
        answers = _round(watched.answers(rng, sets), number, watched.claim)
        result, _ = counted([comparison], answers, RoundScope(watched.claim, number))
        total = summed(total, result[comparison.key].counts)
        state = method_of(watched.method).evidence([total])
        if state.log_es_beyond(np.array([watched.tolerance]))[0] >= log(FAMILY / ALPHA):
            return float((number + 1) * sets)
    return inf


def _round(drawn: Floats, number: int, claim: Claim) -> RoundAnswers:
    """Return answers as the diagnoser has them; a population draws new sets."""
    prefix = f"{number}-" if claim is Claim.POPULATION else ""
    planned, values = [], []
    for group, of_group in zip("ab", drawn, strict=True):
        for set_, of_set in enumerate(of_group.tolist()):
            for place, value in enumerate(of_set):
                name = f"{prefix}{set_}"
                planned.append(PlannedAnswer(name, f"{name}{group}{place}", {"g": group}, name))
                values.append(None if value != value else {"f": value})
    return RoundAnswers(planned, {"x": values})


def refused_where_low(rng: np.random.Generator, sets: int) -> Floats:
    """Draw equal groups of which only the first refuses, and only what it would rate low."""
    drawn = rng.beta(2, 2, (2, sets, SIDE))
    drawn[0][(drawn[0] < 0.3) & (rng.random(drawn[0].shape) < 0.5)] = np.nan
    return drawn


def refused_apart(rng: np.random.Generator, sets: int) -> Floats:
    """Draw equal groups of which one refuses the low end, the other the high one."""
    drawn = refused_where_low(rng, sets)
    drawn[1][(drawn[1] > 0.7) & (rng.random(drawn[1].shape) < 0.5)] = np.nan
    return drawn


def interacting(rng: np.random.Generator, sets: int) -> Floats:
    """Draw sets that each have a large gap of their own, and none on average."""
    own = rng.uniform(-0.45, 0.45, (sets, 1))
    noise = rng.uniform(-0.05, 0.05, (2, sets, 1))
    return 0.5 + np.stack([own, -own]) + noise


def chosen(rng: np.random.Generator, sets: int) -> Floats:
    """Draw twins of which one is chosen, because the other is not."""
    first = (rng.random((sets, 1)) < 0.5).astype(np.float64)
    return np.stack([first, 1 - first])


NULLS = [
    Watched("bank, the first group refuses what it would rate low", refused_where_low),
    Watched("bank, the groups refuse opposite ends", refused_apart),
    Watched("two groups, sets with gaps of their own", interacting, Method.TWO_GROUPS,
            Claim.POPULATION),
    Watched("two groups, one of two is chosen", chosen, Method.TWO_GROUPS, Claim.POPULATION),
]  # fmt: skip
"""None has a gap beyond its tolerance: every alarm is false."""

GAP, SD, TOLERANCE = 0.075, 0.25, 0.025


def with_gap(lacking: float) -> Watched:
    """Watch a gap of which this share of sets lacks one answer of 20."""

    def answers(rng: np.random.Generator, sets: int) -> Floats:
        gaps = np.clip(rng.normal(GAP, SD, sets), -1, 1)[:, None]
        drawn = np.repeat(np.stack([0.5 + gaps / 2, 0.5 - gaps / 2]), SIDE, axis=2)
        hit = np.flatnonzero(rng.random(sets) < lacking)
        drawn[rng.integers(0, 2, len(hit)), hit, 0] = np.nan
        return drawn

    return Watched(f"{lacking:.0%} of sets lack one answer of 20", answers, tolerance=TOLERANCE)


def reached(alarmed: list[float], share: float = 0.8) -> float:
    """Return the units by which this share of monitors has alarmed."""
    return sorted(alarmed)[ceil(share * len(alarmed)) - 1]


def planned_units(lacking: float) -> int | None:
    """Return what the plan says of the same."""
    missing = MissingAnswers(lacking / (2 * SIDE), (SetShape(SIDE, SIDE),))
    return plan_gap(
        GAP, SD, np.random.default_rng(1), alpha=ALPHA, family=FAMILY, tolerance=TOLERANCE,
        missing=missing,
    ).units  # fmt: skip


def difficult_sets(spread: float, rng: np.random.Generator, most: int) -> float:
    """Return the sets until a common odds ratio of twins has alarmed, sets differing so much."""
    centre = _centre(RATES[1], spread)
    log_odds = float(logit(RATES[0]) - logit(RATES[1]))
    state = CommonOdds()
    for number in range(1, most // OF_A_ROUND + 1):
        odds = rng.normal(centre, spread, OF_A_ROUND)
        first, second = (rng.random(OF_A_ROUND) < expit(item) for item in (odds + log_odds, odds))
        sides = zip(first.tolist(), second.tolist(), strict=True)
        state += CommonOdds.of(Batch(int(a), 1, int(b), 1) for a, b in sides)
        if state.log_e_beyond(0.0) >= log(FAMILY / ALPHA):
            return float(number * OF_A_ROUND)
    return inf


RATES, OF_A_ROUND = (0.4, 0.3), 50


def _centre(level: float, spread: float) -> float:
    """Return the log odds of the middle set where this share is selected over all."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    tried = np.linspace(-6, 6, 4001)
    levels = expit(tried[:, None] + spread * nodes) @ weights / weights.sum()
    return float(tried[int(np.argmin(np.abs(levels - level)))])


def planned_sets(spread: float) -> int | None:
    """Return what the plan says of the same."""
    log_odds = float(logit(RATES[0]) - logit(RATES[1]))
    rng = np.random.default_rng(1)
    return plan_odds(log_odds, RATES[1], rng, alpha=ALPHA, family=FAMILY, spread=spread).units
