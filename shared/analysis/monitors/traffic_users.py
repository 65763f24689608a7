"""The users of a window who may be matched: each one's first moment, stratum and mean."""

from dataclasses import dataclass, field

import numpy as np

from biaswatch.shared.analysis.monitors.traffic import Entrants, entering, firsts_of, means_by_user
from biaswatch.shared.analysis.monitors.window_columns import (
    ComparedRows,
    Numbers,
    Places,
    WindowColumns,
)
from biaswatch.shared.contracts import Comparison, Traffic
from biaswatch.shared.stats.anytime.bets import Bools, Floats


@dataclass(frozen=True)
class MatchableUsers:
    """Users who may be matched, in the order of their codes; all arrays have a row for each."""

    users: Places
    """Codes."""
    first: Bools
    """Whether the user is of the first group."""
    at_s: Floats
    """When the first answer was given."""
    strata: Places
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
    """What is known of the users so far, in parts."""

    users: list[Numbers] = field(default_factory=lambda: [np.empty(0, np.int32)])
    first: list[Numbers] = field(default_factory=lambda: [np.empty(0, np.bool_)])
    at_s: list[Numbers] = field(default_factory=lambda: [np.empty(0)])
    strata: list[Numbers] = field(default_factory=lambda: [np.empty(0, np.int32)])
    values: list[Numbers] = field(default_factory=lambda: [np.empty(0)])

    def matchable(self) -> MatchableUsers:
        """Put the parts together, one after another: each part is let go of."""
        return MatchableUsers(
            users=_joined(self.users),
            first=_joined(self.first),
            at_s=_joined(self.at_s),
            strata=_joined(self.strata),
            values=_joined(self.values),
        )


def _joined(parts: list[Numbers]) -> Numbers:
    found = np.concatenate(parts)
    parts.clear()
    return found


def window_users(
    comparison: Comparison, window: WindowColumns, who: Entrants, traffic: Traffic
) -> WindowUsers:
    """Return the users of a window, each with the answers that belong to the first one.

    A user is one of the moment and the stratum of the first answer: what comes later than
    neighbours may be apart, or in another stratum, depends on how long and about what else a user
    goes on, and would bring other moments and topics back in.
    """
    found, counting = _Found(), np.zeros(window.size, dtype=np.bool_)
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
        until = at_s[starts] + traffic.longest_apart_s
        mine = (strata == strata[starts][of_user]) & (at_s <= until[of_user]) & known[of_user]
        counting[rows.rows[mine]] = True
        inside = mine & _within(comparison, rows)
        outside += int((mine & ~np.isnan(rows.values) & ~inside).sum())
        users, means = means_by_user(rows.users[inside], rows.values[inside])
        without_stratum += int((~known).sum())
        missing += int(known.sum()) - len(users)
        there = starts[np.isin(rows.users[starts], users, assume_unique=True)]
        found.users.append(users.astype(np.int32))
        found.first.append(~rows.second[there])
        found.at_s.append(at_s[there])
        found.strata.append(strata[there])
        found.values.append(means)
    return WindowUsers(found.matchable(), missing, without_stratum, outside, counting)


def _within(comparison: Comparison, rows: ComparedRows) -> Bools:
    watched = comparison.watched
    return (rows.values >= watched.low) & (rows.values <= watched.high)
