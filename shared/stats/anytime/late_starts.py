"""Bets that begin with any later round: alpha is shared among the rounds that may be the first."""

from dataclasses import dataclass

import numpy as np

from shared.stats.anytime.bets import Floats, log_mean_exp

DIGITS = 1e6
"""Wealth is kept in whole millionths, rounded down."""


@dataclass(frozen=True)
class LateStarts:
    """What bets have earned, summed over the rounds that they may have begun with.

    M <- L (M + weight) for each bet, with weights whose sum over all rounds to come is at most 1:
    then the mean over bets is ever at 1/alpha with a probability of at most alpha (Shin, Ramdas and
    Rinaldo 2024). Weights of 1 would bound the average run length alone.
    """

    log_wealth: tuple[float, ...] = ()
    """Per bet; empty before the first round."""
    log_best: tuple[float, ...] = ()
    """Per bet what it would have earned since its best beginning, had it known it."""
    starts: tuple[int, ...] = ()
    """Per bet that beginning."""

    def after(self, factors: Floats, log_weight: float | None, round_: int) -> "LateStarts":
        """Return them after one more round, with which bets may begin where it has a weight.

        Parameters
        ----------
        factors
            Per bet, the logarithm of what the whole closed round multiplies its wealth by.
        """
        bets = len(factors)
        wealth = np.array(self.log_wealth or (-np.inf,) * bets)
        best = np.array(self.log_best or (0.0,) * bets)
        starts = np.where(best <= 0, round_, np.array(self.starts or (round_,) * bets))
        if log_weight is not None:
            wealth = np.logaddexp(wealth, log_weight)
        earned, most = (
            np.floor((logs + factors) * DIGITS) / DIGITS for logs in (wealth, np.maximum(best, 0))
        )
        return LateStarts(tuple(earned.tolist()), tuple(most.tolist()), tuple(starts.tolist()))

    @property
    def log_evidence(self) -> float | None:
        """Return the logarithm of the mean over bets; None before any round."""
        return float(log_mean_exp(np.array(self.log_wealth))) if self.log_wealth else None

    @property
    def likeliest(self) -> int | None:
        """Return the likeliest beginning: since it, a bet would have earned the most."""
        return self.starts[int(np.argmax(self.log_best))] if self.log_best else None
