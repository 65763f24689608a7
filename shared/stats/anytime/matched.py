"""Two groups of users who are matched in time: evidence from the differences of matches."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.anytime.bets import Bools, Floats
from biaswatch.shared.stats.anytime.matching import Match
from biaswatch.shared.stats.anytime.pairs import PairHistogram


@dataclass(frozen=True)
class MatchedUsers:
    """The mean differences of matches, counted, and how many users they are of.

    The null is that at every moment, in every stratum, both groups have means that differ by at
    most the tolerance. Levels and mixes may move in any way, also together: each match compares
    users of one moment. States of disjoint users add up, in any order.
    """

    differences: PairHistogram
    """Of matches: the mean of the first group's users less that of the second's, in [-1, 1]."""
    users: int
    """Users in these matches, of both groups."""

    def __add__(self, other: "MatchedUsers") -> "MatchedUsers":
        return MatchedUsers(self.differences + other.differences, self.users + other.users)

    @property
    def units(self) -> int:
        """Return the number of users who are evidence."""
        return self.users

    @property
    def estimate(self) -> float | None:
        """Return the mean difference of matches; None before the first."""
        return self.differences.estimate

    def log_e(self, null: float = 0.0) -> float:
        """Return the log e-value against a difference of exactly the null at every moment."""
        return self.differences.log_e(null)

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against differences of at most the tolerance in size."""
        return self.differences.log_e_beyond(tolerance)

    def within(self, tolerance: float, bound: float) -> bool:
        """Tell whether the interval lies within the tolerance: both its ends are rejected."""
        return self.differences.within(tolerance, bound)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the differences not rejected at alpha: valid at every look at once."""
        return self.differences.interval(alpha)

    def beyond_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which multiples of these users the tolerance would be rejected."""
        return self.differences.beyond_at(factors, tolerance, bound)

    def within_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which multiples of these users the interval would lie within the tolerance."""
        return self.differences.within_at(factors, tolerance, bound)


def sides_of(matches: Iterable[Match], values: Floats) -> tuple[Floats, Floats]:
    """Return, a number a match, the mean value of the first group's users, and the second's."""
    means = [
        (np.mean(values[list(each.first)]), np.mean(values[list(each.second)])) for each in matches
    ]
    first, second = np.array(means, dtype=np.float64).reshape(-1, 2).T
    return first, second
