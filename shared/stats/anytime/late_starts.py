"""Bets that begin with any later round: alpha is shared among the rounds that may be the first."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import Floats, log_mean_exp

Ints = NDArray[np.int64]
DIGITS = 1e6
"""Wealth is kept in whole millionths, rounded down."""


@dataclass(frozen=True)
class LateStarts:
    """What bets have earned, summed over the rounds that they may have begun with: a row a search.

    M <- L (M + weight) for each bet, with weights whose sum over all rounds to come is at most 1:
    then the mean over bets is ever at 1/alpha with a probability of at most alpha (Shin, Ramdas and
    Rinaldo 2024). Weights of 1 would bound the average run length alone.
    """

    log_wealth: Floats
    """Of each bet, a column; -infinity before the first round that it may have begun with."""
    log_best: Floats
    """What each would have earned since its best beginning, had it known it."""
    starts: Ints
    """That beginning."""

    @classmethod
    def none(cls, rows: int, bets: int) -> "LateStarts":
        """Return searches before their first round."""
        shape = rows, bets
        return cls(np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape, dtype=np.int64))

    def of_rows(self, rows: Ints) -> "LateStarts":
        """Return some of the searches."""
        return LateStarts(self.log_wealth[rows], self.log_best[rows], self.starts[rows])

    def with_rows(self, rows: Ints, those: "LateStarts") -> "LateStarts":
        """Return all searches, some of them replaced."""
        found = (self.log_wealth.copy(), self.log_best.copy(), self.starts.copy())
        for mine, its in zip(found, (those.log_wealth, those.log_best, those.starts), strict=True):
            mine[rows] = its
        return LateStarts(*found)

    def after(self, factors: Floats, log_weights: Floats, round_: int) -> "LateStarts":
        """Return them after one more round.

        Parameters
        ----------
        factors
            The logarithm of what the whole closed round multiplies the wealth of each bet by.
        log_weights
            Of each row: with which weight bets begin with this round; -infinity where none does.
        """
        wealth = np.logaddexp(self.log_wealth, log_weights[:, None])
        starts = np.where(self.log_best <= 0, round_, self.starts)
        earned, most = (
            np.floor((logs + factors) * DIGITS) / DIGITS
            for logs in (wealth, np.maximum(self.log_best, 0))
        )
        return LateStarts(earned, most, starts)

    @property
    def log_evidence(self) -> Floats:
        """Return the logarithm of each row's mean over bets; -infinity before any round."""
        if not len(self.log_wealth):
            return np.empty(0)
        highest = self.log_wealth.max(axis=-1)
        begun = np.isfinite(highest)
        found = np.full(len(highest), -np.inf)
        found[begun] = log_mean_exp(self.log_wealth[begun])
        return found

    @property
    def likeliest(self) -> Ints:
        """Return each row's likeliest beginning: since it, a bet would have earned the most.

        -1 where no bet would have earned anything since any round.
        """
        best = np.argmax(self.log_best, axis=-1)[:, None]
        earned, starts = (
            np.take_along_axis(each, best, axis=-1)[:, 0] for each in (self.log_best, self.starts)
        )
        return np.where(earned > 0, starts, -1)
