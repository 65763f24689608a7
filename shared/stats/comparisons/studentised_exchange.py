"""Exchange of the labels of two independent samples, studentised for unequal spread."""

from itertools import combinations
from math import comb

import numpy as np

from biaswatch.shared.stats.arrays import Floats, Indices
from biaswatch.shared.stats.samples import Vector, is_flat

MAX_ENUMERATED = 10_000
"""Exchanges up to which all are enumerated; beyond, random ones are drawn."""
EXCHANGES = 2999
"""Random exchanges: the smallest p-value is 0.00033."""
ENOUGH_AS_LARGE = 100
"""Exchanges as extreme as the observed labels after which no more are drawn."""
TIE_RTOL = 1e-9
"""Relative to the observed statistic: closer ones are equal."""
_BLOCK_EXCHANGES = 500
_BLOCK_VALUES = 2**21


def studentised_exchange_p(
    a: Vector, b: Vector, rng: np.random.Generator, exchanges: int = EXCHANGES
) -> float | None:
    """Return the two-sided p-value of equal means, by exchanges of Welch's t.

    Exact where both groups have one distribution. Without studentising, groups of 25 and 200 with
    SDs of 1.2 and 0.4 and equal means differ at 0.05 in 0.34 of studies; with it, in 0.05.

    Parameters
    ----------
    a, b
        [n], finite: independent units of both groups, at least two each.
    rng, exchanges
        Where there are more than 10,000 exchanges, up to `exchanges` random ones are drawn, fewer
        where 100 are as extreme as the observed labels.

    Returns
    -------
    float or None
        In (0, 1]; None with fewer than two units in a group, or where all values are equal.

    References
    ----------
    Janssen (1997), Studentized permutation tests for non-i.i.d. hypotheses; Chung and Romano
    (2013), Exact and asymptotically robust permutation tests; Besag and Clifford (1991), Sequential
    Monte Carlo p-values.

    Examples
    --------
    >>> a, b = np.array([3.0, 4.0, 5.0, 6.0]), np.array([0.0, 1.0, 2.0, 1.0])
    >>> round(studentised_exchange_p(a, b, np.random.default_rng(0)), 3)
    0.029
    """
    pooled = np.concatenate([a, b])
    if min(len(a), len(b)) < 2 or is_flat(pooled):
        return None
    moved = pooled - pooled.mean()
    moved = moved / np.abs(moved).max()
    observed = _welch(moved, np.arange(len(a))[None])[0]
    least = observed * (1 - TIE_RTOL)
    ways = comb(len(pooled), len(a)) if len(pooled) <= MAX_ENUMERATED else MAX_ENUMERATED + 1
    if ways <= MAX_ENUMERATED:
        chosen = np.array(list(combinations(range(len(pooled)), len(a))), dtype=np.intp)
        return float((_welch(moved, chosen) >= least).mean())
    return _random_p(moved, len(a), float(least), rng, exchanges)


def _random_p(
    moved: Vector, size: int, least: float, rng: np.random.Generator, exchanges: int
) -> float:
    block = max(1, min(_BLOCK_EXCHANGES, _BLOCK_VALUES // len(moved)))
    drawn = as_large = 0
    order = np.arange(len(moved), dtype=np.intp)
    while drawn < exchanges and as_large < ENOUGH_AS_LARGE:
        times = min(block, exchanges - drawn)
        chosen = rng.permuted(np.tile(order, (times, 1)), axis=1)[:, :size]
        large = np.flatnonzero(_welch(moved, chosen) >= least)
        if as_large + len(large) >= ENOUGH_AS_LARGE:
            return ENOUGH_AS_LARGE / (drawn + int(large[ENOUGH_AS_LARGE - as_large - 1]) + 1)
        drawn, as_large = drawn + times, as_large + len(large)
    return (as_large + 1) / (drawn + 1)


def _welch(values: Vector, chosen: Indices) -> Floats:
    """Return [exchanges]: the absolute values of Welch's t with these units as the first group."""
    n, size = len(values), chosen.shape[1]
    units = values[chosen]
    sums, squares = units.sum(axis=1), np.square(units).sum(axis=1)
    other_sums, other_squares = values.sum() - sums, np.square(values).sum() - squares
    rest = n - size
    variance = (squares - sums**2 / size) / (size - 1) / size
    variance = variance + (other_squares - other_sums**2 / rest) / (rest - 1) / rest
    gap = np.abs(sums / size - other_sums / rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = gap / np.sqrt(np.maximum(variance, 0.0))
    return np.where(gap <= TIE_RTOL, 0.0, np.where(variance <= TIE_RTOL**2, np.inf, t))
