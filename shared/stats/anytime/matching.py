"""Users of two groups matched by the time of their first answers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Floats, Indices

MAX_WINDOW_USERS = 16
"""Users of one time window: with half of them in either group, matching loses about a tenth of the
evidence of two groups of constant level; with 15 % in one, next to nothing. Twice the number would
halve that loss, and quadruple the bias of a level and a mix that move together within a window."""
MIN_WINDOW_S = 1e-3
"""Users of one millisecond are simultaneous."""


@dataclass(frozen=True)
class Match:
    """Users of both groups with similar times: one of one side, at least one of the other."""

    first: tuple[int, ...]
    """Indices of the users of the first group, at least one."""
    second: tuple[int, ...]
    """Indices of those of the second; one of the two has one user alone."""


def matches_in_time(
    times_s: Floats, first: Bools, priority: Floats, *, within_s: float
) -> Iterator[Match]:
    """Return matches of users of both groups, in the order of time; a user is in one at most.

    Time is cut into windows of `within_s`, and these into halves, recursively, until none has more
    than `MAX_WINDOW_USERS`, independent of groups and values. So the users of a burst are compared
    with one another, and not with earlier ones. Within a window, the users of the smaller group
    each get their share of the larger, in the order of time. If at every moment both groups have
    the same mean, the mean difference of a match is 0 up to the movement of the mean within a
    window, in either direction: where the mix is constant within a window, all its users are
    equally likely to belong to a group.

    Parameters
    ----------
    times_s
        Time of each user's first answer, in seconds from any origin.
    first
        True for users of the first group; the others are of the second.
    priority
        A number in [0, 1) per user, independent of all values: it orders simultaneous users, and
        decides which gets one more where shares are uneven.
    within_s
        Longest time between two compared users, in seconds, at least 0.

    Raises
    ------
    ValueError
        The lengths differ, or `within_s` is below 0 or NaN.

    Returns
    -------
    Iterator of Match
        There may be millions.

    References
    ----------
    Rosenbaum (1991), A characterization of optimal designs for observational studies, for matches
    of one with several.
    """
    if not len(times_s) == len(first) == len(priority):
        raise ValueError("times, groups and luck are of the same users")
    if not within_s >= 0:
        raise ValueError(f"a time between two users is at least 0 s, not {within_s:g}")
    return _matches(times_s, first, priority, within_s)


def _matches(times_s: Floats, first: Bools, priority: Floats, within_s: float) -> Iterator[Match]:
    order = np.lexsort((priority, times_s))
    sorted_s = times_s[order]
    for begin, end in _windows(sorted_s, within_s):
        members = order[begin:end]
        yield from _matched(members[first[members]], members[~first[members]], priority)


def _windows(sorted_s: Floats, within_s: float) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each window, in the order of time."""
    if not len(sorted_s):
        return
    width_s = max(within_s, MIN_WINDOW_S)
    numbers = np.floor(sorted_s / width_s)
    begins = np.flatnonzero(np.diff(numbers, prepend=-np.inf))
    for begin, end in zip(begins, np.append(begins[1:], len(sorted_s)), strict=True):
        yield from _halves(sorted_s, int(begin), int(end), float(numbers[begin]) * width_s, width_s)


def _halves(
    sorted_s: Floats, begin: int, end: int, begin_s: float, width_s: float
) -> Iterator[tuple[int, int]]:
    """Yield a window, or recursively both halves of one with too many users."""
    if end - begin <= MAX_WINDOW_USERS or width_s <= MIN_WINDOW_S:
        yield begin, end
        return
    half_s = width_s / 2
    cut = begin + int(np.searchsorted(sorted_s[begin:end], begin_s + half_s))
    if cut > begin:
        yield from _halves(sorted_s, begin, cut, begin_s, half_s)
    if cut < end:
        yield from _halves(sorted_s, cut, end, begin_s + half_s, half_s)


def _matched(first: Indices, second: Indices, priority: Floats) -> Iterator[Match]:
    """Split the larger side among the smaller, in the order of time; nothing if one is empty."""
    few, many = (first, second) if len(first) <= len(second) else (second, first)
    if not len(few):
        return
    sizes = np.full(len(few), len(many) // len(few))
    sizes[np.argsort(priority[few])[: len(many) % len(few)]] += 1
    for one, partners in zip(few.tolist(), np.split(many, np.cumsum(sizes)[:-1]), strict=True):
        sides = ((one,), tuple(partners.tolist()))
        yield Match(*(sides if few is first else sides[::-1]))


def sides_of(matches: Iterable[Match], values: Floats) -> tuple[Floats, Floats]:
    """Return the mean values of the first and of the second group's users, one per match."""
    means = [
        (np.mean(values[list(match.first)]), np.mean(values[list(match.second)]))
        for match in matches
    ]
    first, second = np.array(means, dtype=np.float64).reshape(-1, 2).T
    return first, second
