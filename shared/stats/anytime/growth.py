"""What fixed bets earn on a histogram against any null, read from a table: for intervals."""

from functools import lru_cache

import numpy as np

from shared.stats.anytime.bets import STAKES, Floats, both_ways, log_mean_exp, middles

SPACING = 0.02
"""Of the table, in the artanh of a bet; its cubics are within 1e-9 a unit of the function."""
ERROR = 1e-8
"""Of a unit's log factor: by so much evidence is taken as less than what is read."""


class LogGrowth:
    """What bets on differences earn on one histogram, against many nulls.

    A bet b against the null d has the factor 1 + b (g - d) = A (1 + (b / A) g), with A = 1 - b d.
    So all that a histogram says is one function, the sum of log(1 + x g) over its units, of x in
    (-1, 1): it is kept in a table with its slopes, and read by cubics between.

    Parameters
    ----------
    lower, upper
        Counts per bin of the least and of the most that gaps can be: bets on a gap above a null
        take the former.
    """

    def __init__(self, lower: Floats, upper: Floats, stakes: tuple[float, ...] = STAKES) -> None:
        values, slopes = _tables(len(lower), max(stakes))
        both = np.stack([upper, lower])[:, None, :]
        # A row for bets downwards and one for bets upwards, each outwards from 0.
        self._values, self._slopes = (both @ each for each in (values, slopes))
        self._units, self._stakes = float(lower.sum()), stakes

    def log_es(self, nulls: Floats) -> Floats:
        """Return the log e-values against these nulls, never above the exact ones."""
        bets = both_ways(self._stakes) / (1 + np.abs(nulls))[:, None]
        rest = 1 - bets * nulls[:, None]
        wealths = self._units * np.log(rest) + self._sums(bets / rest)
        return log_mean_exp(wealths) - ERROR * self._units

    def _sums(self, bets: Floats) -> Floats:
        """Return the sum of log(1 + bet g) over the units, for each bet."""
        steps = np.abs(np.arctanh(bets)) / SPACING
        cells = steps.astype(np.int64)
        part, side = steps - cells, (bets > 0).astype(np.int64)
        squared, cubed = part**2, part**3
        values, slopes = self._values[:, 0], self._slopes[:, 0]
        near, far = (side, cells), (side, cells + 1)
        first = values[near] + (3 * squared - 2 * cubed) * (values[far] - values[near])
        bent = (cubed - 2 * squared + part) * slopes[near] + (cubed - squared) * slopes[far]
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
