"""What fixed bets earn on histograms against any null, read from a table: for intervals."""

from functools import lru_cache

import numpy as np

from shared.stats.anytime.bets import STAKES, Floats, both_ways, log_mean_exp, middles

SPACING = 0.02
"""Of the table, in the artanh of a bet; its cubics are within 1e-9 a unit of the function."""
ERROR = 1e-8
"""Of a unit's log factor: by so much evidence is taken as less than what is read."""


class LogGrowth:
    """What bets on differences earn on histograms, a row each, each against nulls of its own.

    A bet b against the null d has the factor 1 + b (g - d) = A (1 + (b / A) g), with A = 1 - b d.
    So all that a histogram says is one function, the sum of log(1 + x g) over its units, of x in
    (-1, 1): it is kept in a table with its slopes, and read by cubics between.

    Parameters
    ----------
    lower, upper
        Counts per bin of the least and of the most that gaps can be, shape (rows, bins): bets on
        a gap above a null take the former.
    """

    def __init__(self, lower: Floats, upper: Floats, stakes: tuple[float, ...] = STAKES) -> None:
        values, slopes = _tables(lower.shape[1], max(stakes))
        # A row for bets downwards and one for bets upwards, each outwards from 0.
        self._values, self._slopes = (
            np.stack([upper @ each[0], lower @ each[1]], axis=1) for each in (values, slopes)
        )
        self._units, self._stakes = lower.sum(axis=1), stakes

    def log_es(self, nulls: Floats) -> Floats:
        """Return the log e-value of each row against its null, never above the exact one."""
        bets = both_ways(self._stakes) / (1 + np.abs(nulls))[:, None]
        rest = 1 - bets * nulls[:, None]
        wealths = self._units[:, None] * np.log(rest) + self._sums(bets / rest)
        return np.asarray(log_mean_exp(wealths) - ERROR * self._units, dtype=np.float64)

    def _sums(self, bets: Floats) -> Floats:
        """Return the sum of log(1 + bet g) over the units of a row, for each of its bets."""
        steps = np.abs(np.arctanh(bets)) / SPACING
        cells = steps.astype(np.int64)
        part, side = steps - cells, (bets > 0).astype(np.int64)
        squared, cubed = part**2, part * part**2
        row = np.arange(len(bets))[:, None]
        near, far = (row, side, cells), (row, side, cells + 1)
        first = self._values[near] + (3 * squared - 2 * cubed) * (
            self._values[far] - self._values[near]
        )
        bent = (cubed - 2 * squared + part) * self._slopes[near]
        bent += (cubed - squared) * self._slopes[far]
        return np.asarray(first + bent * SPACING, dtype=np.float64)


@lru_cache(maxsize=16)
def _tables(bins: int, largest: float) -> tuple[Floats, Floats]:
    """Return log(1 + x g) of every bin, and its slope in artanh |x|, for x downwards and upwards.

    The shape of each is (2, bins, points); points go from x = 0 to beyond the largest bet.
    """
    points = np.arange(int(np.ceil(np.arctanh(largest) / SPACING)) + 2) * SPACING
    signs = np.array([-1.0, 1.0])[:, None, None]
    bets, gaps = signs * np.tanh(points), middles(bins)[:, None]
    return np.log1p(bets * gaps), signs * gaps * (1 - bets**2) / (1 + bets * gaps)
