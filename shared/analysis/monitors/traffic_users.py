"""The users of a window who may be matched: each one's first moment, stratum and mean."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from biaswatch.shared.analysis.monitors.methods.two_groups import SIDES
from biaswatch.shared.analysis.monitors.traffic import (
    Entrants,
    entering,
    firsts_of,
    means_by_user,
    shares_of_range,
    side_histogram,
)
from biaswatch.shared.analysis.monitors.window_columns import ComparedRows, Numbers, WindowColumns
from biaswatch.shared.contracts import Comparison, StratumUsers, Traffic
from biaswatch.shared.stats.anytime.two_groups import VALUE_BINS
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS
from biaswatch.shared.stats.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class MatchableUsers:
    """Users who may be matched, in the order of their codes; all arrays have a row for each."""

    users: Ints
    """Codes."""
    first: Bools
    """True for a user of the first group."""
    at_s: Floats
    """When the first answer was given."""
    strata: Ints
    """Codes of the declared facts of that answer."""
    values: Floats
    """The mean of the answers that count, in the feature's units."""


@dataclass(frozen=True)
class WindowUsers:
    """The new users of a window, as one comparison sees them."""

    matchable: MatchableUsers
    missing: int
    """Users without any number."""
    without_stratum: int
    """Users whose first answer lacks a declared fact."""
    outside: int
    """Values beyond the declared range."""
    counting: Bools
    """[answers]: those of the stratum of their user, soon enough after the first."""


@dataclass
class _Found:
    """Known facts about the users, in parts."""

    users: list[Numbers] = field(default_factory=lambda: [np.empty(0, np.int32)])
    first: list[Numbers] = field(default_factory=lambda: [np.empty(0, np.bool_)])
    at_s: list[Numbers] = field(default_factory=lambda: [np.empty(0)])
    strata: list[Numbers] = field(default_factory=lambda: [np.empty(0, np.int32)])
    values: list[Numbers] = field(default_factory=lambda: [np.empty(0)])

    def matchable(self) -> MatchableUsers:
        """Concatenate the parts, freeing each."""
        return MatchableUsers(
            users=_joined(self.users),
            first=_joined(self.first),
            at_s=_joined(self.at_s),
            strata=_joined(self.strata),
            values=_joined(self.values),
        )


def _joined(parts: list[Numbers]) -> Numbers:
    joined = np.concatenate(parts)
    parts.clear()
    return joined


def window_users(
    comparison: Comparison, window: WindowColumns, who: Entrants, traffic: Traffic
) -> WindowUsers:
    """Return the users of a window, each with the answers that belong to the first one.

    A user is one of the moment and the stratum of the first answer: what comes later than
    neighbours may be apart, or in another stratum, depends on how long and about what else a user
    goes on, and would bring other moments and topics back in.
    """
    parts, counting = _Found(), np.zeros(window.size, dtype=np.bool_)
    missing = without_stratum = outside = 0
    for rows in entering(comparison, window, who):
        if not len(rows.rows):
            continue
        first, last = int(rows.rows[0]), int(rows.rows[-1]) + 1
        at_s = window.at_s.read(first, last)[rows.rows - first]
        strata = window.strata.read(first, last)[rows.rows - first]
        starts = firsts_of(rows.users)
        of_user = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(at_s))))
        known = strata[starts] >= 0
        until = at_s[starts] + traffic.max_distance_s
        own = (strata == strata[starts][of_user]) & (at_s <= until[of_user]) & known[of_user]
        counting[rows.rows[own]] = True
        inside = own & _within(comparison, rows)
        outside += int((own & ~np.isnan(rows.values) & ~inside).sum())
        users, means = means_by_user(rows.users[inside], rows.values[inside])
        without_stratum += int((~known).sum())
        missing += int(known.sum()) - len(users)
        own_starts = starts[np.isin(rows.users[starts], users, assume_unique=True)]
        parts.users.append(users.astype(np.int32))
        parts.first.append(~rows.second[own_starts])
        parts.at_s.append(at_s[own_starts])
        parts.strata.append(strata[own_starts])
        parts.values.append(means)
    return WindowUsers(parts.matchable(), missing, without_stratum, outside, counting)


def _within(comparison: Comparison, rows: ComparedRows) -> Bools:
    watched = comparison.watched
    return (rows.values >= watched.low) & (rows.values <= watched.high)


Stratum = tuple[str, ...]
MAX_STRATA = 20
"""Limit for a comparison in one window; facts may be anything that a sender writes."""
MAX_STRATA_PER_WINDOW = 150
"""Limit for all comparisons together, so that the record stays small."""
MAX_FACT_CHARACTERS = 40
"""Characters of a fact in the name of a stratum."""
AT_ONCE = 65_536


class StrataCounts:
    """The users of each stratum: the `most` largest by name, and the others together."""

    def __init__(
        self, comparison: Comparison, window: WindowColumns, users: MatchableUsers, most: int
    ) -> None:
        self._comparison, self._window, self._users = comparison, window, users
        sizes = np.bincount(users.strata, minlength=len(window.strata_by_code)).tolist()
        by_name: Counter[Stratum] = Counter()
        for stratum, count in zip(window.strata_by_code, sizes, strict=True):
            if count:
                by_name[_short(stratum)] += count
        kept = _largest(by_name, most)
        names = [short if (short := _short(s)) in kept else () for s in window.strata_by_code]
        self._names = sorted({name if name in kept else () for name in by_name})
        numbers = {name: number for number, name in enumerate(self._names)}
        self._number = np.array([numbers.get(name, -1) for name in names], dtype=np.int64)
        self._differences = np.zeros((len(self._names), DIFFERENCE_BINS), dtype=np.int64)
        self._matched = np.zeros((len(self._names), len(SIDES)), dtype=np.int64)

    def add(self, stratum: int, differences: Ints, matched: Sequence[int]) -> None:
        """Add matches of one stratum, by its code: their differences, and how many of each side."""
        number = self._number[stratum]
        self._differences[number] += differences
        self._matched[number] += matched

    def counted(self) -> tuple[StratumUsers, ...]:
        """Return the strata, by name."""
        first, second = (self._side(side) for side in range(len(SIDES)))
        return tuple(
            StratumUsers(
                facts=name,
                first=_sparse(first[number].tolist()),
                second=_sparse(second[number].tolist()),
                matched=tuple(self._matched[number].tolist()),
                differences=_sparse(self._differences[number].tolist()),
            )
            for number, name in enumerate(self._names)
        )

    def _side(self, side: int) -> Ints:
        """Return the histograms of one side's users, a row for each stratum."""
        histograms, users = np.zeros((len(self._names), VALUE_BINS), dtype=np.int64), self._users
        for begin in range(0, len(users.users), AT_ONCE):
            chunk = slice(begin, begin + AT_ONCE)
            own = users.first[chunk] == (side == 0)
            codes, numbers = users.users[chunk][own], self._number[users.strata[chunk][own]]
            shares = shares_of_range(self._comparison.watched, users.values[chunk][own])
            units = self._window.user_hashes(codes)
            for number in np.unique(numbers).tolist():
                in_stratum = numbers == number
                histograms[number] += side_histogram(
                    self._comparison, side, units[in_stratum], shares[in_stratum]
                )
        return histograms


def most_strata(comparisons: int) -> int:
    """Return the limit of strata for each of a number of comparisons."""
    return max(1, min(MAX_STRATA, MAX_STRATA_PER_WINDOW // max(1, comparisons)))


def _short(stratum: Stratum) -> Stratum:
    return tuple(fact[:MAX_FACT_CHARACTERS] for fact in stratum)


def _largest(by_name: Mapping[Stratum, int], most: int) -> set[Stratum]:
    ordered = sorted(by_name, key=lambda stratum: (-by_name[stratum], stratum))
    return set(ordered[:most])


def _sparse(counts: Iterable[int]) -> dict[int, int]:
    return {place: count for place, count in enumerate(counts) if count}
