"""Evidence about a group beyond its names and texts: each block of them is one factor, once."""

from dataclasses import dataclass
from math import log

import numpy as np

from biaswatch.shared.stats.anytime.bets import log_mean_exp
from biaswatch.shared.stats.anytime.judging import share_of_attempt
from biaswatch.shared.stats.arrays import Floats

SCALES = (0.5, 1.0, 2.0, 4.0)
"""Bets in units of the root mean square of the blocks' differences."""
STEPS = 40
"""Halvings of the search for an end of the interval."""


@dataclass(frozen=True)
class Blocks:
    """The mean differences of blocks that share no name and no text, in shares of the range."""

    differences: Floats
    """[blocks], each in [-1, 1]."""

    @property
    def mean(self) -> float:
        """Return the mean over blocks, each with the same weight."""
        return float(self.differences.mean())

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against a mean gap of at most the tolerance.

        Names and texts are random, with effects that are as likely to favour one group as the
        other. Then a block's difference, less the tolerance, has either sign with the same
        probability, or more often the one that speaks for the null: 1 + tanh(bet x difference) has
        a mean of at most 1. The size of the bets comes from the absolute differences, which say
        nothing about signs. With k blocks the e-value is at most 2^(k-1).

        Parameters
        ----------
        tolerance
            At least 0, as a share of the range.

        References
        ----------
        Fisher (1935); Clark (1973), The language-as-fixed-effect fallacy; Ramdas et al. (2023).

        Examples
        --------
        >>> same_sign = Blocks(np.full(8, 0.1))
        >>> 3 < same_sign.log_e_beyond(0.0) <= 7 * log(2)
        True
        >>> Blocks(np.array([0.1, -0.1])).log_e_beyond(0.0) <= 0
        True
        """
        sides = [self.differences - tolerance, -self.differences - tolerance]
        return float(log_mean_exp(np.concatenate([_log_wealths(side) for side in sides])))

    def log_e_at(self, null: float) -> float:
        """Return the log e-value against a mean gap of exactly the null."""
        return Blocks(self.differences - null).log_e_beyond(0.0)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the mean gaps that are not rejected at alpha; [-1, 1] with few blocks."""
        bound = -log(alpha)
        low, high = (self._end(end, bound) for end in (-1.0, 1.0))
        return low, high

    def _end(self, far: float, bound: float) -> float:
        near = self.mean
        if self.log_e_at(far) < bound:
            return far
        for _ in range(STEPS):
            middle = (near + far) / 2
            near, far = (near, middle) if self.log_e_at(middle) >= bound else (middle, far)
        return far


def _log_wealths(shifted: Floats) -> Floats:
    """Return [scales]: the log wealth of bets that the shifted differences are above 0."""
    size = float(np.sqrt(np.mean(shifted**2))) if shifted.size else 0.0
    if not size:
        return np.zeros(len(SCALES))
    scaled = np.multiply.outer(SCALES, shifted / size)
    return np.asarray((log(2) - np.logaddexp(0.0, -2 * scaled)).sum(axis=1), dtype=np.float64)


def look_number(rounds: int) -> int | None:
    """Return which look at the blocks the n-th round of a test is: rounds 1, 2, 4, 8 and so on.

    Examples
    --------
    >>> [look_number(rounds) for rounds in (1, 2, 3, 4)]
    [1, 2, None, 3]
    """
    return rounds.bit_length() if rounds and not rounds & (rounds - 1) else None


def log_share_of_look(look: int) -> float:
    """Return the log share of alpha of a look; those of all looks sum to 1."""
    return log(share_of_attempt(look))


def log_sum_after(before: float | None, log_e: float, look: int) -> float:
    """Return the log evidence after a look: the sum of each look's e-value times its share.

    The same names are behind every look, so that their e-values do not multiply. The sum never
    falls, and its expectation is at most 1: it exceeds 1 / alpha at any look with a probability of
    at most alpha, however looks depend on each other.
    """
    added = log_share_of_look(look) + log_e
    return added if before is None else float(np.logaddexp(before, added))
