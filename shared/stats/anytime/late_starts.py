"""Bets that may begin with any later round: alpha is shared among the possible first rounds."""

from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.anytime.bets import log_mean_exp, log_sum_exp
from biaswatch.shared.stats.arrays import Floats, Ints

WEALTH_UNITS = 1e6
"""Log wealth is stored in whole millionths, rounded down."""


@dataclass(frozen=True)
class LateStarts:
    """Wealth of bets, summed over their possible first rounds: a row for each search.

    M <- L (M + weight) for each bet, with weights whose sum over all rounds to come is at most 1:
    then the mean over bets is ever at 1/alpha with a probability of at most alpha (Shin, Ramdas and
    Rinaldo 2024). Weights of 1 would bound the average run length alone.
    """

    log_wealth: Floats
    """[searches, bets]: -infinity before the first possible round."""
    log_best: Floats
    """[searches, bets]: log wealth since the most profitable first round."""
    starts: Ints
    """[searches, bets]: that round."""

    @classmethod
    def none(cls, rows: int, bets: int) -> "LateStarts":
        """Return searches before their first round."""
        shape = rows, bets
        return cls(np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape, dtype=np.int64))

    def of_rows(self, rows: Ints) -> "LateStarts":
        """Return the searches of these rows."""
        return LateStarts(self.log_wealth[rows], self.log_best[rows], self.starts[rows])

    def with_rows(self, rows: Ints, update: "LateStarts") -> "LateStarts":
        """Return all searches, with these rows replaced."""
        arrays = (self.log_wealth.copy(), self.log_best.copy(), self.starts.copy())
        updates = (update.log_wealth, update.log_best, update.starts)
        for array, values in zip(arrays, updates, strict=True):
            array[rows] = values
        return LateStarts(*arrays)

    def after(self, factors: Floats, log_weights: Floats, round_: int) -> "LateStarts":
        """Return the searches after one more round.

        Parameters
        ----------
        factors
            [searches, bets]: log factor of the closed round for the wealth of each bet.
        log_weights
            [searches]: log weight of bets that begin with this round; -infinity without any.
        round_
            Number of the round.
        """
        wealth = log_sum_exp(self.log_wealth, log_weights[:, None])
        starts = np.where(self.log_best <= 0, round_, self.starts)
        earned, most = (
            np.floor((logs + factors) * WEALTH_UNITS) / WEALTH_UNITS
            for logs in (wealth, np.maximum(self.log_best, 0))
        )
        return LateStarts(earned, most, starts)

    @property
    def log_evidence(self) -> Floats:
        """Return the logarithm of each row's mean over bets; -infinity before any round."""
        if not len(self.log_wealth):
            return np.empty(0)
        highest = self.log_wealth.max(axis=-1)
        active = np.isfinite(highest)
        evidence = np.full(len(highest), -np.inf)
        evidence[active] = log_mean_exp(self.log_wealth[active])
        return evidence

    @property
    def likeliest(self) -> Ints:
        """Return each row's likeliest first round: since it, a bet has the largest wealth.

        -1 where no bet has a profit since any round.
        """
        best = np.argmax(self.log_best, axis=-1)[:, None]
        earned, starts = (
            np.take_along_axis(array, best, axis=-1)[:, 0] for array in (self.log_best, self.starts)
        )
        return np.where(earned > 0, starts, -1)
