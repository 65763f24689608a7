"""The bets on a histogram of differences, against one null or many."""

from functools import lru_cache

import numpy as np

from shared.stats.anytime.stakes import STAKES, Floats, both_ways, log_mean_exp


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
