"""Users of two groups matched by the time of their first answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import Floats

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


def sides_of(matches: Iterable[Match], values: Floats) -> tuple[Floats, Floats]:
    """Return, a number a match, the mean value of the first group's users, and the second's."""
    means = [
        (np.mean(values[list(each.first)]), np.mean(values[list(each.second)])) for each in matches
    ]
    first, second = np.array(means, dtype=np.float64).reshape(-1, 2).T
    return first, second
