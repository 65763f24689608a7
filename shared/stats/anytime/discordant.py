"""McNemar's comparison, anytime: discordant pairs of binary outcomes, two whole numbers."""

from dataclasses import astuple, dataclass
from math import exp, log

import numpy as np
from scipy.special import betaln, expit

from biaswatch.shared.stats.anytime.bets import Bools, Floats
from biaswatch.shared.stats.anytime.inversion import invert
from biaswatch.shared.stats.anytime.odds import GRID, beyond

LIMIT = 30.0
"""Of the logarithm of the odds ratio of pairs."""


@dataclass(frozen=True)
class DiscordantPairs:
    """Pairs with the outcome in one member only; states of disjoint units add up, in any order."""

    first: int = 0
    second: int = 0
    concordant: int = 0
    """Pairs that agree tell nothing of the difference; they are counted."""

    def __post_init__(self) -> None:
        """Refuse counts that no pairs have."""
        if min(astuple(self)) < 0:
            raise ValueError("a count of pairs is at least 0")

    def __add__(self, other: "DiscordantPairs") -> "DiscordantPairs":
        both = zip(astuple(self), astuple(other), strict=True)
        return DiscordantPairs(*(mine + its for mine, its in both))

    @property
    def units(self) -> int:
        """Return the number of pairs."""
        return self.first + self.second + self.concordant

    @property
    def estimate(self) -> float | None:
        """Return the log odds ratio of pairs; None where it is infinite or undefined."""
        return log(self.first / self.second) if self.first and self.second else None

    def log_e(self, null: float = 0.0) -> float:
        """Return the log e-value against a log odds ratio of exactly the null.

        The share of discordant pairs in favour of the first is mixed uniformly over (0, 1).

        References
        ----------
        McNemar (1947) for the test; Ville (1939) for the mixture.
        """
        return float(self._log_es(np.array([null]))[0])

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against a log odds ratio of at most the tolerance in size.

        Mixed over a grid of odds ratios, on which the tolerance is rounded outwards; a pair is a
        batch of one and one.
        """
        return float(beyond(self._logs, tolerance))

    def within(self, tolerance: float, bound: float) -> bool:
        """Tell whether the interval lies within the tolerance: both its ends are rejected."""
        if self.estimate is None or abs(self.estimate) >= tolerance:
            return False
        return bool((self._log_es(np.array([-tolerance, tolerance])) >= bound).all())

    def beyond_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which multiples of these pairs the tolerance would be rejected."""
        return beyond(np.multiply.outer(factors, self._logs), tolerance) >= bound

    def within_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which multiples of these pairs the interval would lie within the tolerance."""
        if self.estimate is None or abs(self.estimate) >= tolerance:
            return np.zeros(len(factors), dtype=np.bool_)
        first, second = factors * self.first, factors * self.second
        ends = np.log(expit([tolerance, -tolerance]))
        against = np.maximum(first * ends[0] + second * ends[1], first * ends[1] + second * ends[0])
        return np.asarray(betaln(1 + first, 1 + second) - against >= bound)

    def interval(self, alpha: float) -> tuple[float | None, float | None]:
        """Return the log odds ratios not rejected at alpha; None is no bound."""
        n = self.first + self.second
        centre = log((self.first + 0.5) / (self.second + 0.5))
        ends = invert(self._log_es, centre, 1 / (n + 1) ** 0.5, (-LIMIT, LIMIT), alpha)
        low, high = (None if abs(end) >= LIMIT else end for end in ends)
        return low, high

    @property
    def _logs(self) -> Floats:
        """The log likelihood at each odds ratio of the grid."""
        logs = self.first * np.log(expit(GRID)) + self.second * np.log(expit(-GRID))
        return np.asarray(logs, dtype=np.float64)

    def _log_es(self, nulls: Floats) -> Floats:
        mixed = betaln(1 + self.first, 1 + self.second)
        against = self.first * np.log(expit(nulls)) + self.second * np.log(expit(-nulls))
        return np.asarray(mixed - against, dtype=np.float64)


def share(log_odds: float) -> float:
    """Return the share of discordant pairs in favour of the first that a log odds ratio means."""
    return 1 / (1 + exp(-log_odds))
