"""Fixed bets: their stakes, and their wealth on histograms of differences."""

from functools import lru_cache
from math import log

import numpy as np

from biaswatch.shared.stats.arrays import Floats, Ints

STAKES = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)
"""Each below 1, so that no outcome can ruin a bet; enough for several hundred thousand units."""
TABLE_STEP = 0.02
"""Step of the table, in the artanh of a bet; its cubics are within 1e-9 a unit of the function."""
MAX_TABLE_ERROR = 1e-8
"""Error of a unit's log factor, which is subtracted from the evidence."""


def both_ways(stakes: tuple[float, ...]) -> Floats:
    """Return each stake for a gap above the null, then each for one below it."""
    upwards = np.asarray(stakes, dtype=np.float64)
    return np.concatenate([upwards, -upwards])


def log_mean_exp(logs: Floats) -> Floats:
    """Return the logarithm of the mean of exponentials along the last axis."""
    largest = logs.max(axis=-1, keepdims=True)
    mean = np.exp(logs - largest).mean(axis=-1)
    return np.asarray(np.log(mean) + largest[..., 0], dtype=np.float64)


def log_sum_exp(one: Floats, other: Floats) -> Floats:
    """Return the logarithm of the sum of two exponentials, in a quarter of `logaddexp`'s time."""
    larger, smaller = np.maximum(one, other), np.minimum(one, other)
    difference = np.subtract(smaller, larger, out=np.zeros_like(larger), where=np.isfinite(larger))
    return np.asarray(larger + np.log1p(np.exp(difference)), dtype=np.float64)


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
    upwards, downwards = log_factors[:, :half].T @ lower.T, log_factors[:, half:].T @ upper.T
    return np.concatenate([upwards, downwards]).T  # a bet is contiguous, and sums over bets quick


def log_wealths_at(lower: Floats, upper: Floats, null: float) -> Floats:
    """Return the log wealth of each bet against one mean difference; rows as given."""
    return log_wealths(lower, upper, _log_factors(null, lower.shape[-1]))


def log_wealths_beyond(lower: Floats, upper: Floats, tolerance: float) -> Floats:
    """Return the log wealth of each bet that the gap is beyond the tolerance; rows as given."""
    if not 0 <= tolerance < 1:
        raise ValueError(f"a tolerance lies in [0, 1), not at {tolerance:g}")
    return log_wealths(lower, upper, _log_factors_beyond(tolerance, lower.shape[-1]))


@lru_cache(maxsize=256)
def _log_factors(null: float, bins: int) -> Floats:
    bets = both_ways(STAKES) / (1 + abs(null))
    return np.log1p(bets * (middles(bins)[:, None] - null))


@lru_cache(maxsize=256)
def _log_factors_beyond(tolerance: float, bins: int) -> Floats:
    bets = both_ways(STAKES) / (1 + tolerance)
    return np.log1p(bets * middles(bins)[:, None] - np.abs(bets) * tolerance)


def log_growth(counts: Floats, nulls: Floats, bets: Floats) -> Floats:
    """Return [rows, bets]: the log wealth of bets of each row against its own null.

    Units are multiplied, some at a time, and then the logarithm is taken: it costs ten times as
    much as a product.

    Parameters
    ----------
    counts
        [rows, bins]
    nulls
        [rows]
    bets
        [rows, bets]: each times a unit's distance from the null is above -1.
    """
    units, bins = counts.sum(axis=1).astype(np.int64), counts.shape[1]
    rows, places = np.repeat(np.arange(len(counts)), units), np.flatnonzero(counts != 0)
    unit_bins = np.repeat(places, counts.ravel()[places].astype(np.int64)) - rows * bins
    table = np.zeros((len(counts), units.max(initial=0)))
    table[np.arange(table.shape[1]) < units[:, None]] = middles(bins)[unit_bins] - nulls[rows]
    distances = np.ascontiguousarray(table.T)
    by_bet = np.ascontiguousarray(bets.T)
    logs, factors = np.zeros_like(by_bet), np.empty_like(by_bet)
    for start in range(0, len(distances), MULTIPLIED_UNITS):
        product = np.ones_like(by_bet)
        for of_units in distances[start : start + MULTIPLIED_UNITS]:
            np.multiply(by_bet, of_units, out=factors)
            factors += 1
            product *= factors
        logs += np.log(product)
    return logs.T


MULTIPLIED_UNITS = 128
"""Units whose factors are multiplied: each is between 0.05 and 2, so that no product is 0."""


class LogGrowth:
    """Wealth of bets on histograms of differences, a row each, each against its own nulls.

    A bet b against the null d has the factor 1 + b (g - d) = A (1 + (b / A) g), with A = 1 - b d.
    So a histogram is summarised by one function of x in (-1, 1), the sum of log(1 + x g) over its
    units: tabulated with its slopes, and interpolated by cubics.

    Parameters
    ----------
    lower, upper
        Counts per bin of the lower and upper bounds of gaps, shape (rows, bins): bets on a gap
        above a null take the former.
    """

    def __init__(self, lower: Floats, upper: Floats) -> None:
        counts = np.stack([upper, lower])
        # [2, rows, points]: bets downwards and bets upwards, each outwards from 0.
        self._values, self._slopes = (counts @ table for table in _tables(lower.shape[1]))
        self._slopes *= TABLE_STEP
        self._units = lower.sum(axis=1)

    def log_es(self, rows: Ints, nulls: Floats) -> Floats:
        """Return the log e-values of rows, each against its null, never above the exact one."""
        both = (self.log_es_one_way(rows, nulls, np.full(len(rows), way)) for way in (1, -1))
        return np.asarray(np.logaddexp(*both) - log(2), dtype=np.float64)

    def log_es_one_way(self, rows: Ints, nulls: Floats, ways: Ints) -> Floats:
        """Return the same of bets on gaps above the nulls alone (1), or below them (-1)."""
        stakes = np.array(STAKES)[:, None] / (1 + np.abs(nulls))
        rest, units = 1 - stakes * (ways * nulls), self._units[rows]
        firsts = ((ways > 0) * len(self._units) + rows) * self._values.shape[2]
        wealths = units * np.log(rest) + self._sums(firsts, stakes, rest)
        return np.asarray(log_mean_exp(wealths.T) - MAX_TABLE_ERROR * units, dtype=np.float64)

    def _sums(self, firsts: Ints, stakes: Floats, rest: Floats) -> Floats:
        """Return [bets, rows]: the sum of log(1 + x g) over units, for x of the size stake / rest.

        Parameters
        ----------
        firsts
            [rows]: where the table of a row and its way begins.
        """
        steps = np.log((rest + stakes) / (rest - stakes)) / (2 * TABLE_STEP)
        cells = steps.astype(np.int64)
        part, places = steps - cells, firsts + cells
        near, slope = self._values.take(places), self._slopes.take(places)
        places += 1
        rise, end_slope = self._values.take(places) - near, self._slopes.take(places)
        squared, cubed = 3 * rise - 2 * slope - end_slope, slope + end_slope - 2 * rise
        return np.asarray(near + part * (slope + part * (squared + part * cubed)))


@lru_cache
def _tables(bins: int) -> tuple[Floats, Floats]:
    """Return log(1 + x g) of every bin, and its slope in artanh |x|, for x downwards and upwards.

    The shape of each is (2, bins, points); points go from x = 0 to beyond the largest stake.
    """
    points = np.arange(int(np.ceil(np.arctanh(max(STAKES)) / TABLE_STEP)) + 2) * TABLE_STEP
    signs = np.array([-1.0, 1.0])[:, None, None]
    bets, gaps = signs * np.tanh(points), middles(bins)[:, None]
    return np.log1p(bets * gaps), signs * gaps * (1 - bets**2) / (1 + bets * gaps)
