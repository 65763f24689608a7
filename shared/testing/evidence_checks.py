"""What is simulated of evidence: streams without a difference, with one, and with pitfalls."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np

from shared.stats.anytime.change import Baseline
from shared.stats.anytime.planning import fixed_size
from shared.stats.anytime.stakes import Floats
from shared.testing import evidence_looks as looks

ALPHA = 0.05
PAIRS = 10_000
ROUNDS = 365

Alarm = Callable[[np.random.Generator, int], float]
"""Simulate one stream of so many pairs (or rounds) and give the first look that alarms."""


@dataclass(frozen=True)
class Check:
    """A kind of stream without any difference, whose alarms are all false."""

    name: str
    alarm: Alarm
    length: int = PAIRS
    dear: bool = False
    """Whether the quick form takes fewer repetitions."""


def share_alarmed(check: Check, rng: np.random.Generator, times: int, length: int) -> float:
    """Give the share of streams that alarm at any look."""
    return float(np.mean([check.alarm(rng, length) < inf for _ in range(times)]))


def most_allowed(times: int) -> float:
    """Give alpha and two standard errors of a simulation of so many streams."""
    return ALPHA + 2 * sqrt(ALPHA * (1 - ALPHA) / times)


def rates(
    rng: np.random.Generator, length: int, p_1: float, p_2: float
) -> tuple[looks.Ints, looks.Ints]:
    """Draw pairs of independent selections."""
    return rng.binomial(1, p_1, length), rng.binomial(1, p_2, length)


def bets_on_rates(p_1: float, p_2: float) -> Alarm:
    """Watch two rates by fixed bets."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        first, second = rates(rng, length, p_1, p_2)
        evidence = looks.pair_evidence((first - second).astype(float), np.zeros(length))
        return looks.first_over(evidence, ALPHA)

    return alarm


def bets_at_the_tolerance(p_1: float, p_2: float) -> Alarm:
    """Watch two rates by fixed bets, the difference being just what is tolerated."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        first, second = rates(rng, length, p_1, p_2)
        gaps = (first - second).astype(float)
        evidence = looks.pair_evidence(gaps, np.zeros(length), abs(p_1 - p_2))
        return looks.first_over(evidence, ALPHA)

    return alarm


def family(members: int) -> Alarm:
    """Watch several features that go together, each at its share of alpha."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        common = rng.uniform(-0.3, 0.3, length)
        return min(
            looks.first_over(
                looks.pair_evidence(common + rng.uniform(-0.5, 0.5, length), rng.random(length)),
                ALPHA / members,
            )
            for _ in range(members)
        )

    return alarm


def bets_on_features(a: float, b: float) -> Alarm:
    """Watch a feature by fixed bets, beta distributed in both groups."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        gaps = rng.beta(a, b, length) - rng.beta(a, b, length)
        return looks.first_over(looks.pair_evidence(gaps, rng.random(length)), ALPHA)

    return alarm


def odds_one_and_one(p_1: float, p_2: float) -> Alarm:
    """Watch two rates by the common odds ratio of batches of one and one."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        boundary = looks.odds_boundary(length, ALPHA)
        return looks.first_beyond(*rates(rng, length, p_1, p_2), boundary)

    return alarm


def odds_in_batches(p: float, each: int = 10) -> Alarm:
    """Watch two equal rates by the common odds ratio of batches of ten and ten."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        first, second = rng.binomial(each, p, (2, ceil(length / each)))
        n_1 = np.full(len(first), each)
        evidence = looks.odds_evidence(first, n_1, first + second, 2 * each)
        return looks.first_over(evidence, ALPHA)

    return alarm


def odds_at_the_tolerance(log_odds: float, each: int = 10) -> Alarm:
    """Watch two rates by the common odds ratio, being just what is tolerated, as rates drift."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        base = np.linspace(-2, 0, ceil(length / each))
        first, second = (
            rng.binomial(each, 1 / (1 + np.exp(-base - shift))) for shift in (log_odds, 0.0)
        )
        n_1 = np.full(len(first), each)
        evidence = looks.odds_evidence(first, n_1, first + second, 2 * each, log_odds)
        return looks.first_over(evidence, ALPHA)

    return alarm


def odds_under_drift(rng: np.random.Generator, length: int) -> float:
    """Let the base rate rise from .1 to .5 while the groups' shares change places."""
    size = 20
    time = np.linspace(0, 1, 2 * length // size)
    n_1 = rng.binomial(size, 0.8 - 0.6 * time)
    first = rng.binomial(n_1, 0.1 + 0.4 * time)
    second = rng.binomial(size - n_1, 0.1 + 0.4 * time)
    return looks.first_over(looks.odds_evidence(first, n_1, first + second, size), ALPHA)


def discordant(p: float) -> Alarm:
    """Watch pairs of binary outcomes by McNemar's comparison."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        return looks.first_beyond(
            *rates(rng, length, p, p), looks.discordant_boundary(length, ALPHA)
        )

    return alarm


def unpaired(a: float, b: float) -> Alarm:
    """Watch a feature of two groups without pairs."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        values, luck = rng.beta(a, b, (2, length)), rng.random((2, length))
        return looks.two_group_alarm(values[0], values[1], (luck[0], luck[1]), a / (a + b), ALPHA)

    return alarm


def five_groups(a: float, b: float) -> Alarm:
    """Watch five groups, each against the rest."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        sets = length * 2 // 5
        evidence = looks.k_group_evidence(rng.beta(a, b, (sets, 5)), rng.random((sets, 5)))
        return looks.first_over(evidence, ALPHA)

    return alarm


def four_fifths(p_1: float, p_2: float) -> Alarm:
    """Watch an impact ratio of exactly .8."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        evidence = looks.four_fifths_evidence(*rates(rng, length, p_1, p_2))
        return looks.first_over(evidence, ALPHA)

    return alarm


def universal(p: float) -> Alarm:
    """Watch two rates by universal inference."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        evidence = looks.universal_evidence(*rates(rng, length, p, p))
        return looks.first_over(evidence, ALPHA)

    return alarm


def bank(sets: int, interaction: float, *, centred: bool = True, missing: float = 0.0) -> Alarm:
    """Ask one bank again every round, each set having a gap of its own.

    Where some are missing, it is always those whose gap is negative.
    """

    def alarm(rng: np.random.Generator, rounds: int) -> float:
        own = rng.normal(0, interaction, sets)
        own -= own.mean() if centred else 0
        gaps = own + _noise(rng, (rounds, sets))
        gaps[(rng.random(gaps.shape) < missing) & (own < 0)] = np.nan
        absent = np.isnan(gaps).sum(axis=1)
        return looks.first_over(looks.round_evidence(gaps, rng.random(gaps.shape), absent), ALPHA)

    return alarm


def population(sets: int, interaction: float) -> Alarm:
    """Draw new sets every round, each with a gap of its own."""

    def alarm(rng: np.random.Generator, rounds: int) -> float:
        gaps = rng.normal(0, interaction, (rounds, sets)) + _noise(rng, (rounds, sets))
        evidence = looks.round_evidence(
            gaps, rng.random(gaps.shape), np.zeros(rounds, dtype=np.int64)
        )
        return looks.first_over(evidence, ALPHA)

    return alarm


def _noise(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Draw what answers vary by: standard deviation .2, never beyond .35."""
    return rng.uniform(-0.35, 0.35, shape)


FALSE_ALARMS = [
    *(Check(f"fixed bets, rates of {p}", bets_on_rates(p, p)) for p in (0.02, 0.3)),
    *(
        Check(f"fixed bets, {shape} features", bets_on_features(a, b))
        for shape, a, b in (("bell-shaped", 2, 5), ("skewed", 0.1, 2), ("U-shaped", 0.5, 0.5))
    ),
    *(Check(f"odds ratio 1+1, rates of {p}", odds_one_and_one(p, p)) for p in (0.02, 0.3)),
    *(Check(f"odds ratio 10+10, rates of {p}", odds_in_batches(p)) for p in (0.02, 0.3)),
    Check("odds ratio, base rate and mix drift", odds_under_drift),
    Check("fixed bets, a gap of .02, tolerance .02", bets_at_the_tolerance(0.32, 0.30)),
    Check("odds ratio 10+10, log odds of .2, tolerance .2", odds_at_the_tolerance(0.2)),
    Check("family of 10 features, fixed bets", family(10), dear=True),
    *(Check(f"McNemar, rates of {p}", discordant(p)) for p in (0.02, 0.3)),
    *(
        Check(f"unpaired groups, {shape} features", unpaired(a, b), dear=True)
        for shape, a, b in (("bell-shaped", 2, 5), ("skewed", 0.1, 2), ("U-shaped", 0.5, 0.5))
    ),
    *(
        Check(f"five groups, {shape} features", five_groups(a, b))
        for shape, a, b in (("skewed", 0.1, 2), ("U-shaped", 0.5, 0.5))
    ),
    *(Check(f"four fifths, {p} of {q}", four_fifths(p, q)) for p, q in ((0.4, 0.5), (0.04, 0.05))),
    *(Check(f"universal inference, rates of {p}", universal(p)) for p in (0.02, 0.3)),
]
"""Two rates or features without a difference, 20,000 observations, a look after every unit."""

CLAIMS = [
    *(
        Check(f"bank of {n}, interaction {sd}", bank(n, sd), ROUNDS, dear=n > 100)
        for n in (20, 100, 300)
        for sd in (0.05, 0.10)
    ),
    Check("bank of 100, a tenth of the negative gaps missing", bank(100, 0.1, missing=0.1), ROUNDS),
    *(
        Check(f"population, {n} new sets a round, interaction {sd}", population(n, sd), ROUNDS)
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
    """Give the pairs until half and 80 % of streams have alarmed, in fixed sizes."""
    alarms = sorted(delay.alarm(rng, 6 * delay.fixed) for _ in range(times))
    half, most = (alarms[ceil(share * times) - 1] for share in (0.5, 0.8))
    return half / delay.fixed, most / delay.fixed


def detector_times(rng: np.random.Generator, times: int, length: int, threshold: float) -> Floats:
    """Give the steps to a false alarm of change detectors; what ran to the end counts as that."""
    gaps = rng.beta(2, 5, (times, length)) - rng.beta(2, 5, (times, length))
    return np.minimum(looks.detector_alarms(gaps, Baseline(), threshold), length)
