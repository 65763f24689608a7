"""What is simulated of evidence: streams without a difference, with one, and with pitfalls."""

from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np

from biaswatch.shared.stats.anytime.planning import fixed_size
from tests.support.evidence_claims import bank, population
from tests.support.evidence_streams import (
    ALPHA,
    Alarm,
    bets_at_the_tolerance,
    bets_on_features,
    bets_on_rates,
    discordant,
    family,
    four_fifths,
    odds_at_the_tolerance,
    odds_in_batches,
    odds_one_and_one,
    odds_under_drift,
    unpaired,
)

PAIRS = 10_000
ROUNDS = 365


@dataclass(frozen=True)
class FalseAlarmCheck:
    """A kind of stream without any difference, whose alarms are all false."""

    name: str
    alarm: Alarm
    length: int = PAIRS
    dear: bool = False
    """Whether the quick form takes fewer repetitions."""


def share_alarmed(
    check: FalseAlarmCheck, rng: np.random.Generator, times: int, length: int
) -> float:
    """Return the share of streams that alarm at any look."""
    return float(np.mean([check.alarm(rng, length) < inf for _ in range(times)]))


ERRORS = 3.5
"""Standard errors by which every simulation may miss its promise, in tests and tools alike.

About a hundred promises are simulated. By two standard errors, one in forty that is kept would miss
by luck, so that some test would always fail; by 3.5, one in several thousand does.
"""


def most_allowed(times: int, level: float = ALPHA) -> float:
    """Return the largest share of so many streams that keeps to a level at most."""
    return level + ERRORS * sqrt(level * (1 - level) / times)


def least_allowed(times: int, level: float) -> float:
    """Return the smallest share of so many streams that keeps to a level at least."""
    return level - ERRORS * sqrt(level * (1 - level) / times)


FALSE_ALARMS = [
    *(FalseAlarmCheck(f"fixed bets, rates of {p}", bets_on_rates(p, p)) for p in (0.02, 0.3)),
    *(
        FalseAlarmCheck(f"fixed bets, {shape} features", bets_on_features(a, b))
        for shape, a, b in (("bell-shaped", 2, 5), ("skewed", 0.1, 2), ("U-shaped", 0.5, 0.5))
    ),
    *(
        FalseAlarmCheck(f"odds ratio 1+1, rates of {p}", odds_one_and_one(p, p))
        for p in (0.02, 0.3)
    ),
    *(FalseAlarmCheck(f"odds ratio 10+10, rates of {p}", odds_in_batches(p)) for p in (0.02, 0.3)),
    FalseAlarmCheck("odds ratio, base rate and mix drift", odds_under_drift),
    FalseAlarmCheck("fixed bets, a gap of .02, tolerance .02", bets_at_the_tolerance(0.32, 0.30)),
    FalseAlarmCheck("odds ratio 10+10, log odds of .2, tolerance .2", odds_at_the_tolerance(0.2)),
    FalseAlarmCheck("family of 10 features, fixed bets", family(10), dear=True),
    *(FalseAlarmCheck(f"McNemar, rates of {p}", discordant(p)) for p in (0.02, 0.3)),
    *(
        FalseAlarmCheck(f"unpaired groups, {shape} features", unpaired(a, b), dear=True)
        for shape, a, b in (("bell-shaped", 2, 5), ("skewed", 0.1, 2), ("U-shaped", 0.5, 0.5))
    ),
    *(
        FalseAlarmCheck(f"four fifths, {p} of {q}", four_fifths(p, q))
        for p, q in ((0.4, 0.5), (0.04, 0.05))
    ),
]
"""Two rates or features without a difference, 20,000 observations, a look after every unit."""

CLAIMS = [
    *(
        FalseAlarmCheck(f"bank of {n}, interaction {sd}", bank(n, sd), ROUNDS, dear=n > 100)
        for n in (20, 100, 300)
        for sd in (0.05, 0.10)
    ),
    FalseAlarmCheck(
        "bank of 100, a tenth of the negative gaps missing", bank(100, 0.1, missing=0.1), ROUNDS
    ),
    *(
        FalseAlarmCheck(
            f"population, {n} new sets a round, interaction {sd}", population(n, sd), ROUNDS
        )
        for n in (20, 100)
        for sd in (0.05, 0.10)
    ),
]
"""365 rounds, each looked at when it closes."""


@dataclass(frozen=True)
class Delay:
    """A difference, the alarm that waits for it, and the test that looks once and knows it."""

    name: str
    alarm: Alarm
    fixed: int


DELAYS = [
    Delay(
        f"{name}, {p} against {q}",
        method(p, q),
        fixed_size(q - p, sqrt(p * (1 - p) + q * (1 - q)), alpha=ALPHA, power=0.8, tolerance=0),
    )
    for name, method in (("fixed bets", bets_on_rates), ("odds ratio 1+1", odds_one_and_one))
    for p, q in ((0.30, 0.35), (0.30, 0.50))
]


def delay_ratio(delay: Delay, rng: np.random.Generator, times: int) -> tuple[float, float]:
    """Return the pairs until half and 80 % of streams have alarmed, in fixed sizes."""
    alarms = sorted(delay.alarm(rng, 6 * delay.fixed) for _ in range(times))
    half, most = (alarms[ceil(share * times) - 1] for share in (0.5, 0.8))
    return half / delay.fixed, most / delay.fixed
