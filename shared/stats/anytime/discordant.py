"""McNemar's comparison, anytime: discordant pairs of binary outcomes, two whole numbers."""

from dataclasses import astuple, dataclass
from math import exp, log

import numpy as np
from scipy.special import betaln, expit

from biaswatch.shared.stats.anytime.inversion import invert
from biaswatch.shared.stats.anytime.odds import GRID, beyond
from biaswatch.shared.stats.arrays import Floats

MAX_LOG_ODDS = 30.0
"""Log odds ratio of pairs beyond which an end of an interval is infinite."""


@dataclass(frozen=True)
class DiscordantPairs:
    """Pairs with the outcome in one member only; states of disjoint units add up, in any order."""

    first: int = 0
    second: int = 0
    concordant: int = 0
    """Pairs that agree: counted, though they carry no information on the difference."""

    def __post_init__(self) -> None:
        """Raise ValueError for a count below 0."""
        if min(astuple(self)) < 0:
            raise ValueError("a count of pairs is at least 0")

    def __add__(self, other: "DiscordantPairs") -> "DiscordantPairs":
        sums = zip(astuple(self), astuple(other), strict=True)
        return DiscordantPairs(*(own + added for own, added in sums))

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

        Examples
        --------
        >>> round(DiscordantPairs(first=12, second=2).log_e(), 2)
        2.49
        """
        return float(self._log_es(np.array([null]))[0])

    def log_e_beyond(self, tolerance: float, times: float = 1.0) -> float:
        """Return the log e-value against a log odds ratio of at most the tolerance in size.

        Mixed over a grid of odds ratios, on which the tolerance is rounded outwards; a pair is a
        batch of one and one.

        Parameters
        ----------
        tolerance
            Largest log odds ratio that does not matter, at least 0.
        times
            Multiple of these pairs to evaluate, for forecasts.
        """
        logs = self.first * np.log(expit(GRID)) + self.second * np.log(expit(-GRID))
        return float(beyond(times * logs, tolerance))

    def within(self, tolerance: float, bound: float, times: float = 1.0) -> bool:
        """Return whether the interval lies within the tolerance: both its ends are rejected."""
        if self.estimate is None or abs(self.estimate) >= tolerance:
            return False
        return bool((self._log_es(np.array([-tolerance, tolerance]), times) >= bound).all())

    def interval(self, alpha: float) -> tuple[float | None, float | None]:
        """Return the log odds ratios not rejected at alpha; None is infinite."""
        n = self.first + self.second
        centre = log((self.first + 0.5) / (self.second + 0.5))
        limits = (-MAX_LOG_ODDS, MAX_LOG_ODDS)
        ends = invert(self._log_es, centre, 1 / (n + 1) ** 0.5, limits, alpha)
        low, high = (None if abs(end) >= MAX_LOG_ODDS else end for end in ends)
        return low, high

    def _log_es(self, nulls: Floats, times: float = 1.0) -> Floats:
        first, second = times * self.first, times * self.second
        at_null = first * np.log(expit(nulls)) + second * np.log(expit(-nulls))
        return np.asarray(betaln(1 + first, 1 + second) - at_null, dtype=np.float64)


def share(log_odds: float) -> float:
    """Return the share of discordant pairs in favour of the first, from their log odds ratio."""
    return 1 / (1 + exp(-log_odds))
