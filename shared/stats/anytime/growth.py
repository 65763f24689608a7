"""What fixed bets earn on histograms against any null, read from a table: for intervals."""

from functools import lru_cache

import numpy as np

from biaswatch.shared.stats.anytime.bets import STAKES, Floats, both_ways, log_mean_exp, middles

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
        values, slopes = (
            # A row for bets downwards and one for bets upwards, each outwards from 0.
            np.stack([upper @ each[0], lower @ each[1]], axis=1)
            for each in _tables(lower.shape[1], max(stakes))
        )
        self._cubics, self._cells = _cubics(values, slopes * SPACING), values.shape[2] - 1
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
        rows = 2 * np.arange(len(bets))[:, None] + (bets > 0)
        constant, linear, squared, cubed = np.moveaxis(
            self._cubics.take(rows * self._cells + cells, axis=0), -1, 0
        )
        part = steps - cells
        return np.asarray(constant + part * (linear + part * (squared + part * cubed)))


def _cubics(values: Floats, slopes: Floats) -> Floats:
    """Return the cubics between the points of tables, shape (tables * cells, 4), from constants on.

    Slopes are those over a whole cell. So all that a bet reads lies together.
    """
    near, far = values[..., :-1], values[..., 1:]
    here, there, rise = slopes[..., :-1], slopes[..., 1:], far - near
    found = [near, here, 3 * rise - 2 * here - there, here + there - 2 * rise]
    return np.asarray(np.stack(found, axis=-1).reshape(-1, 4), dtype=np.float64)


@lru_cache(maxsize=16)
def _tables(bins: int, largest: float) -> tuple[Floats, Floats]:
    """Return log(1 + x g) of every bin, and its slope in artanh |x|, for x downwards and upwards.

    The shape of each is (2, bins, points); points go from x = 0 to beyond the largest bet.
    """
    points = np.arange(int(np.ceil(np.arctanh(largest) / SPACING)) + 2) * SPACING
    signs = np.array([-1.0, 1.0])[:, None, None]
    bets, gaps = signs * np.tanh(points), middles(bins)[:, None]
    return np.log1p(bets * gaps), signs * gaps * (1 - bets**2) / (1 + bets * gaps)
