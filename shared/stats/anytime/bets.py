"""Fixed bets: their stakes, and their wealth on histograms of differences."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
STAKES = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)
"""Each below 1, so that no outcome can ruin a bet; enough for several hundred thousand units."""


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
    """Return the difference that each bin represents."""
    return np.linspace(-1.0, 1.0, bins)


def log_wealths(lower: Floats, upper: Floats, log_factors: Floats) -> Floats:
    """Return the log wealth of each bet (a column), for each histogram (a row).

    A bet on a gap above the null takes the lower bound of each unit's gap, a bet on one below the
    upper bound. That only lowers a unit's factor, so for any values of the missing answers the
    wealth is at most that of bets on the whole data.

    Parameters
    ----------
    lower, upper
        Counts per bin of the lower and upper bounds of gaps, shape (..., bins); equal without
        missing answers.
    log_factors
        Shape (bins, bets), the bets as `both_ways` orders them.
    """
    half = log_factors.shape[1] // 2
    upwards, downwards = lower @ log_factors[:, :half], upper @ log_factors[:, half:]
    return np.concatenate([upwards, downwards], axis=-1)


def log_es(
    lower: Floats, upper: Floats, null: float = 0.0, stakes: tuple[float, ...] = STAKES
) -> Floats:
    """Return the log e-values of many histograms, a row each, against one mean difference."""
    return log_mean_exp(log_wealths_at(lower, upper, null, stakes))


def log_wealths_at(
    lower: Floats, upper: Floats, null: float, stakes: tuple[float, ...] = STAKES
) -> Floats:
    """Return the log wealth of each bet against one mean difference; rows as given."""
    return log_wealths(lower, upper, _log_factors(null, lower.shape[-1], stakes))


def log_es_beyond(
    lower: Floats, upper: Floats, tolerance: float, stakes: tuple[float, ...] = STAKES
) -> Floats:
    """Return the log e-values of many histograms, a row each, against the tolerance."""
    return log_mean_exp(log_wealths_beyond(lower, upper, tolerance, stakes))


def log_wealths_beyond(
    lower: Floats, upper: Floats, tolerance: float, stakes: tuple[float, ...] = STAKES
) -> Floats:
    """Return the log wealth of each bet that the gap is beyond the tolerance; rows as given."""
    if not 0 <= tolerance < 1:
        raise ValueError(f"a tolerance lies in [0, 1), not at {tolerance:g}")
    return log_wealths(lower, upper, _log_factors_beyond(tolerance, lower.shape[-1], stakes))


@lru_cache(maxsize=256)
def _log_factors(null: float, bins: int, stakes: tuple[float, ...]) -> Floats:
    bets = both_ways(stakes) / (1 + abs(null))
    return np.log1p(bets * (middles(bins)[:, None] - null))


@lru_cache(maxsize=256)
def _log_factors_beyond(tolerance: float, bins: int, stakes: tuple[float, ...]) -> Floats:
    bets = both_ways(stakes) / (1 + tolerance)
    return np.log1p(bets * middles(bins)[:, None] - np.abs(bets) * tolerance)


def log_es_at(lower: Floats, upper: Floats, nulls: Floats, stakes: tuple[float, ...]) -> Floats:
    """Return the log e-values of one histogram against many mean differences."""
    bets = both_ways(stakes) / (1 + np.abs(nulls))[:, None]
    half = bets.shape[1] // 2
    sides = ((lower, bets[:, :half]), (upper, bets[:, half:]))
    return log_mean_exp(np.concatenate([_log_wealths(*side, nulls) for side in sides], axis=-1))


def _log_wealths(counts: Floats, bets: Floats, nulls: Floats) -> Floats:
    """Return the log wealth of each bet against each null, shape (nulls, bets)."""
    filled = np.flatnonzero(counts)
    shifted = middles(len(counts))[filled] - nulls[:, None]
    logs = np.log1p(bets[:, :, None] * shifted[:, None, :])
    return np.asarray(logs @ counts[filled], dtype=np.float64)
