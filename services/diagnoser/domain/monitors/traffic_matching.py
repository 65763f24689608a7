"""The users of a window of traffic, matched in time and within strata: what they add."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean

import numpy as np

from services.diagnoser.domain.monitors.methods.matched import DIFFERENCES, LEVELS, USERS
from services.diagnoser.domain.monitors.methods.two_groups import SIDES, share_of_range
from services.diagnoser.domain.monitors.round_answers import (
    ComparedSets,
    Counts,
    GroupAnswers,
    RoundCounts,
    SetAnswers,
    UnitAnswers,
    value_of,
)
from services.diagnoser.domain.monitors.traffic import (
    Entrants,
    TrafficAnswer,
    count_window,
    side_of,
)
from shared.contracts import Comparison, Method, Traffic
from shared.stats.anytime.bets import Floats
from shared.stats.anytime.matching import Match, matches_in_time
from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.rounding import uniforms

Stratum = tuple[str, ...]
LONGEST_FACT = 40
"""Characters of a fact in the name of a match."""


@dataclass(frozen=True)
class TrafficUser:
    """A user who may be matched, and what counts of the answers that the user got."""

    name: str
    first: bool
    """Whether the user is of the first group."""
    at_s: float
    """When the first answer was given."""
    stratum: Stratum
    """The declared facts of that answer."""
    value: float
    """The mean of the answers that count, in the feature's units."""
    answers: tuple[TrafficAnswer, ...]
    """Those of the same stratum, soon enough after the first."""


@dataclass(frozen=True)
class UserMatch:
    """Users of both groups who are compared."""

    first: tuple[TrafficUser, ...]
    second: tuple[TrafficUser, ...]

    @property
    def sides(self) -> tuple[float, float]:
        """Return the means of both sides, in the feature's units."""
        first, second = (fmean(user.value for user in side) for side in (self.first, self.second))
        return first, second

    @property
    def gap(self) -> float:
        """Return the first side less the second."""
        first, second = self.sides
        return first - second


@dataclass(frozen=True)
class WindowUsers:
    """The new users of a window, as one comparison sees them."""

    matchable: Sequence[TrafficUser]
    missing: int
    """Users without any number."""
    without_stratum: int
    """Users whose first answer lacks a declared fact."""
    outside: int
    """Values beyond the declared range."""


@dataclass(frozen=True)
class CountedUsers:
    """What one comparison takes from a window."""

    counted: RoundCounts
    heaviest: ComparedSets
    """The matches with the largest gaps either way, for an alarm to show."""
    matchable: Sequence[TrafficUser] = ()
    """The users who may be matched."""
    matches: Sequence[UserMatch] = ()


def count_users(
    comparison: Comparison, heard: Collection[TrafficAnswer], who: Entrants, traffic: Traffic
) -> CountedUsers:
    """Count one comparison of a window, as its method says."""
    pooled = count_window(comparison, heard, who)
    if comparison.watched.method is Method.TWO_GROUPS:
        return CountedUsers(pooled, ComparedSets({}, pooled.outside))
    users = window_users(comparison, heard, who, traffic)
    matches = user_matches(users.matchable, traffic.longest_apart_s, comparison.key)
    counts = {**matched_counts(comparison, matches, users), **pooled.counts}
    used = {a.key for m in matches for user in (*m.first, *m.second) for a in user.answers}
    counted = RoundCounts(counts, users.missing, users.outside, frozenset(used))
    heaviest = ComparedSets(_heaviest(matches), users.outside)
    return CountedUsers(counted, heaviest, users.matchable, matches)


def window_users(
    comparison: Comparison, heard: Iterable[TrafficAnswer], who: Entrants, traffic: Traffic
) -> WindowUsers:
    """Return the users of a window, each with the answers that belong to the first one.

    A user is one of the moment and the stratum of the first answer: what comes later than
    neighbours may be apart, or in another stratum, depends on how long and about what else a user
    goes on, and would bring other moments and topics back in.
    """
    matchable, missing, without_stratum, outside = [], 0, 0, 0
    for name, first, answers in _by_user(comparison, heard, who):
        stratum = _stratum(answers[0], traffic)
        if stratum is None:
            without_stratum += 1
            continue
        until = answers[0].at_s + traffic.longest_apart_s
        mine = [a for a in answers if a.at_s <= until and _stratum(a, traffic) == stratum]
        values = [value_of(each.values, comparison.watched.feature) for each in mine]
        numbers = [each for each in values if each is not None]
        inside = [n for n in numbers if comparison.watched.low <= n <= comparison.watched.high]
        outside += len(numbers) - len(inside)
        if not inside:
            missing += 1
            continue
        at_s, value = answers[0].at_s, fmean(inside)
        matchable.append(TrafficUser(name, first, at_s, stratum, value, tuple(mine)))
    return WindowUsers(matchable, missing, without_stratum, outside)


def user_matches(users: Iterable[TrafficUser], within_s: float, salt: str) -> list[UserMatch]:
    """Match users within their strata; neither values nor the order of the records matter."""
    strata: dict[Stratum, list[TrafficUser]] = defaultdict(list)
    for user in users:
        strata[user.stratum].append(user)
    return [
        UserMatch(tuple(mine[n] for n in each.first), tuple(mine[n] for n in each.second))
        for _, mine in sorted(strata.items())
        for each in _matches(mine, within_s, salt)
    ]


def _matches(users: Sequence[TrafficUser], within_s: float, salt: str) -> list[Match]:
    times_s = np.array([user.at_s for user in users])
    first = np.array([user.first for user in users])
    luck = uniforms([user.name for user in users], f"{salt}/order")
    return matches_in_time(times_s, first, luck, within_s=within_s)


def matched_counts(
    comparison: Comparison, matches: Sequence[UserMatch], users: WindowUsers
) -> Counts:
    """Return what matches add up to: their differences, their levels, and their users."""
    matched = [sum(len(m.first) for m in matches), sum(len(m.second) for m in matches)]
    there = [sum(user.first is first for user in users.matchable) for first in (True, False)]
    alone = [there[0] - matched[0], there[1] - matched[1]]
    return {
        DIFFERENCES: match_differences(comparison, matches),
        LEVELS: _counted(
            comparison, LEVELS, matches, _sides_of(comparison, matches).sum(axis=1) - 1
        ),
        USERS: (*matched, *alone, users.without_stratum),
    }


def match_differences(comparison: Comparison, matches: Sequence[UserMatch]) -> tuple[int, ...]:
    """Return the histogram of the first side less the second, as shares of the range."""
    sides = _sides_of(comparison, matches)
    return _counted(comparison, DIFFERENCES, matches, sides[:, 0] - sides[:, 1])


def _sides_of(comparison: Comparison, matches: Iterable[UserMatch]) -> Floats:
    """Return [matches, 2]: the means of both sides, from 0 to 1."""
    ends = [[share_of_range(comparison.watched, mean) for mean in m.sides] for m in matches]
    return np.array(ends, dtype=np.float64).reshape(-1, 2)


def _counted(
    comparison: Comparison, name: str, matches: Sequence[UserMatch], values: Floats
) -> tuple[int, ...]:
    names = [f"{each.first[0].name} {each.second[0].name}" for each in matches]
    luck = uniforms(names, f"{comparison.key}/{name}")
    # Rounding errors may put a value a hair beyond the ends.
    return PairHistogram.of(np.clip(values, -1.0, 1.0), luck).counts


def _by_user(
    comparison: Comparison, heard: Iterable[TrafficAnswer], who: Entrants
) -> list[tuple[str, bool, list[TrafficAnswer]]]:
    """Return the users who may enter, whether each is of the first group, and their answers."""
    found: dict[str, tuple[bool, list[TrafficAnswer]]] = {}
    for each in heard:
        side = side_of(comparison.pair, each.groups)
        if side is None or each.extractor != comparison.watched.extractor or each.user is None:
            continue
        if each.user in who.new and each.user not in who.mixed:
            found.setdefault(each.user, (side == SIDES[0], []))[1].append(each)
    return [
        (name, first, sorted(answers, key=lambda each: (each.at_s, each.key)))
        for name, (first, answers) in sorted(found.items())
    ]


def _stratum(answer: TrafficAnswer, traffic: Traffic) -> Stratum | None:
    """Return the declared facts of an answer; None where one is not given."""
    given = [answer.facts.get(name) for name in traffic.strata]
    known = tuple(fact for fact in given if fact is not None)
    return known if len(known) == len(given) else None


MOST_SHOWN = 5
"""Matches of an alarm, and answers of each side of one."""


def _heaviest(matches: Sequence[UserMatch]) -> dict[str, SetAnswers]:
    """Return the matches with the largest gaps either way, as sets by a name that people read."""
    ordered = sorted(matches, key=lambda each: each.gap)
    ends = [*ordered[:MOST_SHOWN], *ordered[MOST_SHOWN:][-MOST_SHOWN:]]
    return {
        _name(each, number): SetAnswers(_side(each.first), _side(each.second))
        for number, each in enumerate(ends, start=1)
    }


def _name(match: UserMatch, number: int) -> str:
    moment = datetime.fromtimestamp(min(u.at_s for u in (*match.first, *match.second)), UTC)
    facts = "".join(f", {fact[:LONGEST_FACT]}" for fact in match.first[0].stratum)
    return f"users of {moment:%Y-%m-%d %H:%M} UTC{facts} ({number})"


def _side(users: Iterable[TrafficUser]) -> GroupAnswers:
    there = list(users)
    units = {user.name: UnitAnswers([user.value]) for user in there}
    responses = [each.response_id for user in there for each in user.answers]
    return GroupAnswers({"": units}, responses[:MOST_SHOWN])
