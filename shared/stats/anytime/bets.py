"""Fixed bets: their stakes, and what they earn on a histogram of differences."""

from functools import lru_cache
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STAKES = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)
"""Each below 1, so that no outcome can ruin a bet; enough for some hundred thousand units."""


def stakes_for(units: int, sd: float, *, alpha: float) -> tuple[float, ...]:
    """Return stakes that still find the smallest effect that so many units can show.

    The best stake against an effect just visible after n units is about sqrt(2 ln(1/alpha) / n)
    over the standard deviation. Smaller ones are added by halving; each doubling of their number
    costs ln 2 of evidence. They are chosen before the data: a monitor keeps its own.
    """
    smallest = sqrt(2 * log(1 / alpha) / units) / sd
    stakes = list(STAKES)
    while stakes[0] > smallest:
        stakes.insert(0, stakes[0] / 2)
    return tuple(stakes)


def both_ways(stakes: tuple[float, ...]) -> Floats:
    """Return each stake for a gap above the null, then each for one below it."""
    upwards = np.asarray(stakes, dtype=np.float64)
    return np.concatenate([upwards, -upwards])


def log_mean_exp(logs: Floats) -> Floats:
    """Return the logarithm of the mean of exponentials along the last axis."""
    largest = logs.max(axis=-1, keepdims=True)
    mean = np.exp(logs - largest).mean(axis=-1)
    return np.asarray(np.log(mean) + largest[..., 0], dtype=np.float64)


@lru_cache
def middles(bins: int) -> Floats:
    """Return the differences that the bins stand for."""
    return np.linspace(-1.0, 1.0, bins)


def log_es(counts: Floats, null: float = 0.0, stakes: tuple[float, ...] = STAKES) -> Floats:
    """Return the log e-values of many histograms, a row each, against one mean difference."""
    bets = both_ways(stakes) / (1 + abs(null))
    factors = np.log1p(bets * (middles(counts.shape[1])[:, None] - null))
    return log_mean_exp(counts @ factors)


def log_es_beyond(
    counts: Floats, tolerance: float, stakes: tuple[float, ...] = STAKES, *, absent: Floats
) -> Floats:
    """Return the log e-values of many histograms, a row each, against the tolerance."""
    if not 0 <= tolerance < 1:
        raise ValueError(f"a tolerance lies in [0, 1), not at {tolerance:g}")
    bets = both_ways(stakes) / (1 + tolerance)
    factors = np.log1p(bets * middles(counts.shape[1])[:, None] - np.abs(bets) * tolerance)
    worst = np.log1p(-np.abs(bets) * (1 + tolerance))
    return log_mean_exp(counts @ factors + np.multiply.outer(absent, worst))


def against(counts: Floats, absent: float, nulls: Floats, stakes: tuple[float, ...]) -> Floats:
    """Return the log e-values of one histogram against many mean differences."""
    bets = both_ways(stakes) / (1 + np.abs(nulls))[:, None]
    shifted = middles(len(counts))[:, None] - nulls[:, None, None]
    logs = np.log1p(bets[:, None, :] * shifted)
    worst = np.log1p(bets * (-np.sign(bets) - nulls[:, None]))
    return log_mean_exp(np.einsum("b,nbk->nk", counts, logs) + absent * worst)
