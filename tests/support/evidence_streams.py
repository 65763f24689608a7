"""Simulated streams of two rates or features, and the first look at which evidence alarms."""

from collections.abc import Callable
from math import ceil

import numpy as np

from tests.support import evidence_looks as looks

ALPHA = 0.05

Alarm = Callable[[np.random.Generator, int], float]
"""Simulate one stream of so many pairs (or rounds) and give the first look that alarms."""


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


def odds_in_batches(p: float, batch_size: int = 10) -> Alarm:
    """Watch two equal rates by the common odds ratio of batches of ten and ten."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        first, second = rng.binomial(batch_size, p, (2, ceil(length / batch_size)))
        n_1 = np.full(len(first), batch_size)
        evidence = looks.odds_evidence(first, n_1, first + second, 2 * batch_size)
        return looks.first_over(evidence, ALPHA)

    return alarm


def odds_at_the_tolerance(log_odds: float, batch_size: int = 10) -> Alarm:
    """Watch two rates by the common odds ratio, being just what is tolerated, as rates drift."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        base = np.linspace(-2, 0, ceil(length / batch_size))
        first, second = (
            rng.binomial(batch_size, 1 / (1 + np.exp(-base - shift))) for shift in (log_odds, 0.0)
        )
        n_1 = np.full(len(first), batch_size)
        evidence = looks.odds_evidence(first, n_1, first + second, 2 * batch_size, log_odds)
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
        values, jitter = rng.beta(a, b, (2, length)), rng.random((2, length))
        return looks.two_group_alarm(
            values[0], values[1], (jitter[0], jitter[1]), a / (a + b), ALPHA
        )

    return alarm


def four_fifths(p_1: float, p_2: float) -> Alarm:
    """Watch an impact ratio of exactly .8."""

    def alarm(rng: np.random.Generator, length: int) -> float:
        evidence = looks.four_fifths_evidence(*rates(rng, length, p_1, p_2))
        return looks.first_over(evidence, ALPHA)

    return alarm
