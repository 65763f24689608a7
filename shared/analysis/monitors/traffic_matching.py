"""The users of a window of traffic, matched in time and within strata: what they add."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from statistics import fmean

import numpy as np

from biaswatch.shared.analysis.monitors.blocks import MAX_BLOCKS
from biaswatch.shared.analysis.monitors.methods.matched import DIFFERENCES, LEVELS, USERS
from biaswatch.shared.analysis.monitors.pair_counts import BLOCK_SUMS, BLOCK_UNITS, MILLION
from biaswatch.shared.analysis.monitors.round_answers import (
    ComparedSets,
    Counts,
    GroupAnswers,
    RoundCounts,
    SetAnswers,
    UnitAnswers,
)
from biaswatch.shared.analysis.monitors.traffic import (
    Entrants,
    count_window,
    firsts_of,
    shares_of_range,
)
from biaswatch.shared.analysis.monitors.traffic_users import (
    MAX_FACT_CHARACTERS,
    MatchableUsers,
    StrataCounts,
    WindowUsers,
    window_users,
)
from biaswatch.shared.analysis.monitors.window_columns import WindowColumns
from biaswatch.shared.contracts import Comparison, Method, StratumUsers, Traffic
from biaswatch.shared.stats.anytime.matching import Match, matches_in_time
from biaswatch.shared.stats.anytime.units import (
    DIFFERENCE_BINS,
    Hashes,
    binned_differences,
    hashes,
    uniform_table,
)
from biaswatch.shared.stats.arrays import Bools, Floats, Ints

AT_ONCE = 4096
"""Matches that are in memory together."""
USERS_PER_CHUNK = 65_536
MOST_SHOWN = 5
"""Matches of an alarm, and answers of each side of one."""


@dataclass(frozen=True)
class UserMatch:
    """Users of both groups who are compared, by their places among the matchable."""

    users: Match
    sides: tuple[float, float]
    """The means of both sides, in the feature's units."""

    @property
    def gap(self) -> float:
        """Return the first side minus the second."""
        return self.sides[0] - self.sides[1]


@dataclass(frozen=True)
class CountedUsers:
    """The counts that a window adds to one comparison."""

    counted: RoundCounts
    heaviest: ComparedSets
    """The matches with the largest gaps either way, for an alarm to show."""
    strata: tuple[StratumUsers, ...] = ()
    """The new users by stratum, where any are declared."""


def count_users(
    comparison: Comparison,
    window: WindowColumns,
    who: Entrants,
    traffic: Traffic,
    most_strata: int = 1,
) -> tuple[CountedUsers, Bools]:
    """Count one comparison of a window, as its method says, and tell which answers are counted."""
    pooled, used = count_window(comparison, window, who)
    if comparison.watched.method is Method.TWO_GROUPS:
        return CountedUsers(pooled, ComparedSets({}, pooled.outside)), used
    users = window_users(comparison, window, who, traffic)
    strata = StrataCounts(comparison, window, users.matchable, most_strata)
    tally = _MatchCounts(comparison, window, users.matchable, strata)
    tally.has_clusters = traffic.cluster is not None
    for stratum, matches in user_matches(window, users.matchable, traffic, comparison.key):
        tally.add(stratum, matches)
    counts = {**tally.counts(users), **pooled.counts}
    counted = CountedUsers(
        RoundCounts(counts, users.missing, users.outside),
        ComparedSets(_shown(tally.ends, window, users), users.outside),
        strata.counted() if traffic.matched_within else (),
    )
    return counted, _used(window, users, tally.is_matched)


def user_matches(
    window: WindowColumns, users: MatchableUsers, traffic: Traffic, salt: str
) -> Iterator[tuple[int, list[UserMatch]]]:
    """Match users within their strata; yield the code of a stratum and some matches in it.

    Neither values nor the order of the records matter.
    """
    order = np.argsort(users.strata, kind="stable")
    codes = users.strata[order]
    starts = firsts_of(codes).tolist()
    ranges = {
        int(codes[begin]): (begin, end)
        for begin, end in zip(starts, [*starts[1:], len(codes)][: len(starts)], strict=True)
    }
    for code in sorted(ranges, key=window.strata_by_code.__getitem__):
        begin, end = ranges[code]
        own = order[begin:end]
        uniform = _uniform(window, users.users[own], f"{salt}/order")
        matches = matches_in_time(
            users.at_s[own], users.first[own], uniform, within_s=traffic.max_distance_s
        )
        while batch := list(islice(matches, AT_ONCE)):
            yield code, [_match(match, own, users.values) for match in batch]


def _uniform(window: WindowColumns, users: Ints, salt: str) -> Floats:
    salts, uniform = hashes([salt]), np.empty(len(users))
    for begin in range(0, len(users), USERS_PER_CHUNK):
        chunk = slice(begin, begin + USERS_PER_CHUNK)
        uniform[chunk] = uniform_table(window.user_hashes(users[chunk]), salts)[:, 0]
    return uniform


def _match(match: Match, own: Ints, values: Floats) -> UserMatch:
    first, second = (own[list(side)] for side in (match.first, match.second))
    sides = fmean(values[first].tolist()), fmean(values[second].tolist())
    return UserMatch(Match(tuple(first.tolist()), tuple(second.tolist())), sides)


class _MatchCounts:
    """Adds matches up: their differences, their levels, and who is in them."""

    def __init__(
        self,
        comparison: Comparison,
        window: WindowColumns,
        users: MatchableUsers,
        strata: StrataCounts,
    ) -> None:
        self._comparison, self._window, self._users = comparison, window, users
        self._strata = strata
        self._differences, self._levels = (
            np.zeros(DIFFERENCE_BINS, dtype=np.int64) for _ in range(2)
        )
        self._block_units = np.zeros(MAX_BLOCKS, dtype=np.int64)
        self._block_sums = np.zeros(MAX_BLOCKS)
        self.has_clusters = False
        """True if each value of a declared cluster is one factor of the evidence."""
        self._matched = [0, 0]
        self.is_matched = np.zeros(len(users.users), dtype=np.bool_)
        """[users]: who is in a match."""
        self.ends: list[UserMatch] = []
        """Matches with the largest gaps in either direction, in the order of gaps."""

    def add(self, stratum: int, matches: Sequence[UserMatch]) -> None:
        """Add some matches of a stratum."""
        sides = shares_of_range(self._comparison.watched, np.array([m.sides for m in matches]))
        names = self._names(matches)
        differences = self._counted(DIFFERENCES, names, sides[:, 0] - sides[:, 1])
        self._differences += differences
        if self.has_clusters:
            self._add_to_block(stratum, sides[:, 0] - sides[:, 1])
        self._levels += self._counted(LEVELS, names, sides.sum(axis=1) - 1)
        matched = [sum(len(places) for places in side) for side in _places(matches)]
        self._matched = [sum(pair) for pair in zip(self._matched, matched, strict=True)]
        self._strata.add(stratum, differences, matched)
        for side in _places(matches):
            self.is_matched[[place for places in side for place in places]] = True
        ordered = sorted([*self.ends, *matches], key=lambda match: match.gap)
        self.ends = [*ordered[:MOST_SHOWN], *ordered[MOST_SHOWN:][-MOST_SHOWN:]]

    def _add_to_block(self, stratum: int, differences: Floats) -> None:
        """Add the differences to the block of their cluster, the last fact of a stratum."""
        cluster = self._window.strata_by_code[stratum][-1]
        block = int(hashes([cluster])[0] % np.uint64(MAX_BLOCKS))
        self._block_units[block] += len(differences)
        self._block_sums[block] += float(differences.sum())

    def _names(self, matches: Sequence[UserMatch]) -> Hashes:
        name, users = self._window.name, self._users.users
        return hashes(
            [f"{name(users[m.users.first[0]])} {name(users[m.users.second[0]])}" for m in matches]
        )

    def _counted(self, name: str, matches: Hashes, values: Floats) -> Ints:
        uniform = uniform_table(matches, hashes([f"{self._comparison.key}/{name}"]))[:, 0]
        # Rounding errors may put a value a hair beyond the ends.
        return np.array(binned_differences(np.clip(values, -1.0, 1.0), uniform), dtype=np.int64)

    def counts(self, users: WindowUsers) -> Counts:
        """Return what matches add up to: their differences, their levels, and their users."""
        first = int(users.matchable.first.sum())
        sizes = (first, len(users.matchable.first) - first)
        alone = [all_ - matched for all_, matched in zip(sizes, self._matched, strict=True)]
        blocks: Counts = {}
        if self.has_clusters:
            sums = np.rint(self._block_sums * MILLION).astype(np.int64)
            blocks[BLOCK_UNITS] = tuple(self._block_units.tolist())
            blocks[BLOCK_SUMS] = tuple(sums.tolist())
        return {
            **blocks,
            DIFFERENCES: tuple(self._differences.tolist()),
            LEVELS: tuple(self._levels.tolist()),
            USERS: (*self._matched, *alone, users.without_stratum),
        }


def _places(matches: Sequence[UserMatch]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    return [m.users.first for m in matches], [m.users.second for m in matches]


def _used(window: WindowColumns, users: WindowUsers, is_matched: Bools) -> Bools:
    """Return which answers of matched users count."""
    matched = np.zeros(window.users, dtype=np.bool_)
    matched[users.matchable.users[is_matched]] = True
    used = np.zeros(window.size, dtype=np.bool_)
    for block in window.blocks(nameless=False):
        rows = slice(block.rows.start, block.rows.stop)
        used[rows] = users.counting[rows] & matched[window.users_of(block)]
    return used


def _shown(
    matches: Sequence[UserMatch], window: WindowColumns, users: WindowUsers
) -> dict[str, SetAnswers]:
    """Return matches as sets by a name that people read."""
    return {
        _name(match, window, users.matchable, number): SetAnswers(
            _side(match.users.first, window, users), _side(match.users.second, window, users)
        )
        for number, match in enumerate(matches, start=1)
    }


def _name(match: UserMatch, window: WindowColumns, users: MatchableUsers, number: int) -> str:
    users_ = [*match.users.first, *match.users.second]
    moment = datetime.fromtimestamp(float(users.at_s[users_].min()), UTC)
    stratum = window.strata_by_code[int(users.strata[users_[0]])]
    facts = "".join(f", {fact[:MAX_FACT_CHARACTERS]}" for fact in stratum)
    return f"users of {moment:%Y-%m-%d %H:%M} UTC{facts} ({number})"


def _side(places: Sequence[int], window: WindowColumns, users: WindowUsers) -> GroupAnswers:
    codes = users.matchable.users[list(places)].tolist()
    values = users.matchable.values[list(places)].tolist()
    units = {
        window.name(user): UnitAnswers([value]) for user, value in zip(codes, values, strict=True)
    }
    rows = (
        row
        for user in codes
        for row in range(int(window.starts[user]), int(window.starts[user + 1]))
        if users.counting[row]
    )
    responses = [window.response_id(row) for row in islice(rows, MOST_SHOWN)]
    return GroupAnswers({"": units}, responses)
