"""Mann-Whitney's rank test of two groups."""

from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.relabelling import RESAMPLES, Stratum, permutation_test
from biaswatch.shared.stats.samples import Vector

MAX_EXACT_VALUES = 8
"""Values of the smaller group up to which the normal approximation is not used."""


def mann_whitney_p(
    a: Vector, b: Vector, rng: np.random.Generator, *, resamples: int = RESAMPLES
) -> float | None:
    """Test whether a's values tend to be larger or smaller than b's, two-sided.

    The p-value is exact where the smaller group has at most 8 values: of the distribution without
    ties, or of relabelled ranks. Otherwise it is that of the normal distribution, corrected for
    ties and continuity. None where a group is empty or all values are identical.

    Parameters
    ----------
    a, b
        One value per unit, none missing; units are independent.
    rng, resamples
        For tied values with more than 10,000 relabellings.

    References
    ----------
    Mann and Whitney (1947); ties: Lehmann (1975), Nonparametrics.
    """
    if not len(a) or not len(b):
        return None
    ranks, ties = _ranked(np.concatenate([a, b]))
    if np.ptp(ranks) == 0:
        return None
    if min(len(a), len(b)) > MAX_EXACT_VALUES:
        return _normal_p(ranks, ties, len(a))
    if (ties > 1).any():
        strata = [Stratum(ranks[: len(a)], ranks[len(a) :])]
        return permutation_test(strata, rng, resamples).p_value
    from scipy import stats  # slow to load

    return float(stats.mannwhitneyu(a, b, method="exact").pvalue)


def _ranked(values: Vector) -> tuple[Vector, Vector]:
    """Return ranks from 1, the mean of their places for equal values; and how many are equal."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse.reshape(-1)]
    return np.asarray(ranks), counts.astype(np.float64)


def _normal_p(ranks: Vector, ties: Vector, n_a: int) -> float:
    """Return the two-sided normal p-value; scipy's costs ten times as much for one pair."""
    n, n_b = len(ranks), len(ranks) - n_a
    shrunk = (n + 1) - float((ties**3 - ties).sum()) / (n * (n - 1))
    distance = abs(float(ranks[:n_a].sum()) - n_a * (n + 1) / 2) - 0.5
    return min(1.0, 2 * float(special.ndtr(-distance / sqrt(n_a * n_b / 12 * shrunk))))
