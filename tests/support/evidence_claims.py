"""Simulated monitors: banks asked again every round, and populations drawn anew."""

import numpy as np

from biaswatch.shared.stats.arrays import Floats
from tests.support import evidence_looks as looks
from tests.support.evidence_streams import ALPHA, Alarm


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
