"""How far the outermost group lies from the others: Dixon's Q, and Z-scores."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.reasons import Floats

FEWEST = 3
SIMULATIONS = 10_000
CHUNK = 1 << 16
"""Normal values drawn at once."""


@dataclass(frozen=True)
class DixonQ:
    """Dixon's Q of each column at both ends, in [0, 1]; nan where it is 0 over 0."""

    low: Floats
    high: Floats

    @property
    def largest(self) -> Floats:
        """The larger of both ends, nan only where neither is defined."""
        return np.asarray(np.fmax(self.low, self.high))


def dixon(ordered: Floats, n: NDArray[np.intp], resolution: Floats | float = 0.0) -> DixonQ:
    """Return Dixon's ratio for columns of ascending values.

    Parameters
    ----------
    ordered
        [k, columns], ascending along the first axis, nan last.
    n
        [columns]: how many values each column has.
    resolution
        [columns] or one number: a span that is not above it is 0.

    Returns
    -------
    DixonQ
        r10 for 3 to 7 values, r11 for 8 to 10, r21 for 11 to 13, r22 from 14 on: the distance to
        the first (r2*: second) neighbour, over the range without the farthest (r*2: two farthest)
        at the other end. Nan for fewer than three values and where the denominator is 0.

    References
    ----------
    Dixon (1950), Analysis of extreme values; Rorabacher (1991) for the ranges of n.
    """
    neighbour = np.where(n <= 10, 1, 2)
    trimmed = np.where(n <= 7, 0, np.where(n <= 13, 1, 2))
    enough = n >= FEWEST

    def at(place: NDArray[np.intp]) -> Floats:
        if len(n) and n.min() == n.max():  # one place in every column
            return np.asarray(ordered[min(max(int(place[0]), 0), len(ordered) - 1)])
        kept = np.clip(place, 0, len(ordered) - 1)[None]
        return np.asarray(np.take_along_axis(ordered, kept, axis=0)[0])

    first, last = at(np.zeros_like(n)), at(n - 1)
    low = _over(at(neighbour) - first, at(n - 1 - trimmed) - first, enough, resolution)
    high = _over(last - at(n - 1 - neighbour), last - at(trimmed), enough, resolution)
    return DixonQ(low, high)


def dixon_p_values(
    largest: Floats, n: NDArray[np.intp], rng: np.random.Generator, simulations: int = SIMULATIONS
) -> Floats:
    """Return two-sided p-values of the larger of both ends; nan where Q is nan.

    p = (b + 1) / (m + 1), where b of m simulated samples of n independent normal values have a Q at
    least as large at either end. Each n is simulated once. The smallest p is 1 / (m + 1); its
    standard error at p is sqrt(p (1 - p) / m).

    Raises
    ------
    ValueError
        For fewer than one simulation.
    """
    p_values = np.full(largest.shape, np.nan)
    known = ~np.isnan(largest)
    for size in np.unique(n[known]):
        null = simulated(int(size), rng, simulations)
        mine = known & (n == size)
        above = simulations - np.searchsorted(null, largest[mine], side="left")
        p_values[mine] = (above + 1) / (simulations + 1)
    return p_values


def simulated(n: int, rng: np.random.Generator, simulations: int) -> Floats:
    """Return Q of the larger end of so many samples of n normal values, ascending."""
    if n < FEWEST:
        raise ValueError(f"Dixon's Q needs three values, not {n}")
    if simulations < 1:
        raise ValueError(f"a null distribution needs at least one simulation, not {simulations}")
    found, size = [], max(1, CHUNK // n)
    for start in range(0, simulations, size):
        samples = rng.standard_normal((min(size, simulations - start), n))
        samples.sort(axis=1)
        found.append(dixon(samples.T, np.full(len(samples), n)).largest)
    return np.sort(np.concatenate(found))


def _over(
    gap: Floats, span: Floats, enough: NDArray[np.bool_], resolution: Floats | float
) -> Floats:
    wide = span > resolution
    return np.asarray(np.where(enough & wide, gap, np.nan) / np.where(wide, span, 1.0))


def extreme_z_scores(
    low: Floats, high: Floats, mean: Floats, spread: Floats, k: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the largest and the smallest Z-score, and what neither can exceed in size.

    The standard deviation is that of the population (ddof 0). However far out a group lies, the
    bound is sqrt(k - 1).

    Parameters
    ----------
    low, high, mean, spread
        The smallest and largest of k values, their mean and their standard deviation with ddof 0.
        Nan where the spread is 0.
    k
        How many values there are.

    References
    ----------
    Shiffler (1988), Maximum Z scores and outliers: |z| <= sqrt(k - 1) with ddof 0. With five groups
    no Z-score exceeds 2, so a threshold of 3 never fires for fewer than eleven.
    """
    divisor = np.where(spread > 0, spread, np.nan)
    bound = np.sqrt(np.maximum(k - 1, 0))
    return (high - mean) / divisor, (low - mean) / divisor, bound
