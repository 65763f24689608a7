"""Users of two groups matched by the time of their first answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import Bools, Floats
from biaswatch.shared.stats.anytime.pairs import PairHistogram

MOST_USERS = 16
"""In a stretch of time: with half of them in either group, about a tenth of the evidence of two
groups of one level throughout is lost; with 15 % in one, next to nothing. Twice as many would halve
that, and quadruple what a level and a mix that move together within a stretch can add."""
SHORTEST_S = 1e-3
"""Users of one millisecond are of one moment."""
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Match:
    """Users of both groups who came at about the same time: one of one side, some of the other."""

    first: tuple[int, ...]
    """Places of the users of the first group, at least one."""
    second: tuple[int, ...]
    """Places of those of the second; one of the two has one user alone."""


def matches_in_time(
    times_s: Floats, first: NDArray[np.bool_], luck: Floats, *, within_s: float
) -> Iterator[Match]:
    """Return who is compared with whom, in the order of time; each user is in one match or none.

    Time is cut into stretches of `within_s`, and these into halves, and so on, until none has more
    than `MOST_USERS`; neither groups nor values decide where. So the users of a burst are compared
    with one another, and not with those who came slowly before. Within a stretch, the users of the
    smaller group each get their share of the larger, in the order of time. If at every moment both
    groups have the same mean, the mean difference of a match is 0 up to what the mean moves within
    a stretch, and that goes either way: where the mix stays within a stretch, any user of it is as
    likely to be of one group as any other.

    Parameters
    ----------
    times_s
        When each user's first answer was given, in seconds from any moment.
    first
        Whether the user is of the first group; the others are of the second.
    luck
        A number in [0, 1) per user that has nothing to do with any value: it orders users of the
        same moment, and decides who gets one more where shares are uneven.
    within_s
        The longest time between two users who are compared, at least 0.

    Raises
    ------
    ValueError
        The lengths differ, or `within_s` is below 0 or no number.

    Returns
    -------
    Matches one by one: there may be millions.

    References
    ----------
    Rosenbaum (1991), A characterization of optimal designs for observational studies, for matches
    of one with several.
    """
    if not len(times_s) == len(first) == len(luck):
        raise ValueError("times, groups and luck are of the same users")
    if not within_s >= 0:
        raise ValueError(f"a time between two users is at least 0 s, not {within_s:g}")
    return _matches(times_s, first, luck, within_s)


def _matches(
    times_s: Floats, first: NDArray[np.bool_], luck: Floats, within_s: float
) -> Iterator[Match]:
    order = np.lexsort((luck, times_s))
    sorted_s = times_s[order]
    for begin, end in _stretches(sorted_s, within_s):
        there = order[begin:end]
        yield from _matched(there[first[there]], there[~first[there]], luck)


def _stretches(sorted_s: Floats, within_s: float) -> Iterator[tuple[int, int]]:
    """Yield where each stretch begins and ends, in the order of time."""
    if not len(sorted_s):
        return
    width_s = max(within_s, SHORTEST_S)
    numbers = np.floor(sorted_s / width_s)
    begins = np.flatnonzero(np.diff(numbers, prepend=-np.inf))
    for begin, end in zip(begins, np.append(begins[1:], len(sorted_s)), strict=True):
        yield from _halves(sorted_s, int(begin), int(end), float(numbers[begin]) * width_s, width_s)


def _halves(
    sorted_s: Floats, begin: int, end: int, begin_s: float, width_s: float
) -> Iterator[tuple[int, int]]:
    """Yield a stretch, or both halves of one with too many users, and so on."""
    if end - begin <= MOST_USERS or width_s <= SHORTEST_S:
        yield begin, end
        return
    half_s = width_s / 2
    cut = begin + int(np.searchsorted(sorted_s[begin:end], begin_s + half_s))
    if cut > begin:
        yield from _halves(sorted_s, begin, cut, begin_s, half_s)
    if cut < end:
        yield from _halves(sorted_s, cut, end, begin_s + half_s, half_s)


def _matched(first: Places, second: Places, luck: Floats) -> Iterator[Match]:
    """Split the larger side in the order of time among the smaller; nobody, where one is empty."""
    few, many = (first, second) if len(first) <= len(second) else (second, first)
    if not len(few):
        return
    sizes = np.full(len(few), len(many) // len(few))
    sizes[np.argsort(luck[few])[: len(many) % len(few)]] += 1
    for one, some in zip(few.tolist(), np.split(many, np.cumsum(sizes)[:-1]), strict=True):
        each = ((one,), tuple(some.tolist()))
        yield Match(*(each if few is first else each[::-1]))


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
