"""Traffic as it also comes: outages, one busy user, groups that come late, nothing to read."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf, log, nan

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.method import method_of
from biaswatch.shared.analysis.monitors.round_answers import Counts, summed
from biaswatch.shared.analysis.monitors.traffic_matching import count_users, user_matches
from biaswatch.shared.analysis.monitors.traffic_users import window_users
from biaswatch.shared.contracts import Method, Traffic
from tests.support.evidence_checks import most_allowed
from tests.support.traffic_streams import ALPHA, DAY_S, Stream, comparison_of, daily, steady
from tests.support.window_rows import TrafficAnswer, columns_of, entrants_of, plan_of

COMPARED = comparison_of(Method.MATCHED)
HOURLY = Traffic(window_s=3600)
PLAN = plan_of(COMPARED, HOURLY)
Window = list[TrafficAnswer]
Life = Callable[[Stream, int, np.random.Generator], Window]
"""What comes in a window, of users who come evenly otherwise."""
USUAL = Stream("usual", steady(0.4), steady(0.5), 40, 50)
WORSE = replace(USUAL, gap=0.3)


def outage(stream: Stream, number: int, rng: np.random.Generator) -> Window:
    """Bring nothing for ten windows, then all of it with one time stamp, at another level."""
    if 10 <= number < 20:
        return []
    if number != 20:
        return stream.window(number, rng)
    late = replace(stream, users=500, level=steady(0.7), first_share=steady(0.8))
    result = late.window(number, rng)
    return [replace(item, answered_at=result[0].answered_at) for item in result]


def late_group(stream: Stream, number: int, rng: np.random.Generator) -> Window:
    """Bring the first group from the twentieth window on, when the level has moved."""
    shown = replace(stream, first_share=steady(0.0), level=steady(0.2)) if number < 20 else stream
    return shown.window(number, rng)


def lost_group(stream: Stream, number: int, rng: np.random.Generator) -> Window:
    """Bring the first group not at all between the tenth and the thirtieth window."""
    shown = stream if not 10 <= number < 30 else replace(stream, first_share=steady(0.0))
    return replace(shown, level=steady(0.3 if number < 20 else 0.5)).window(number, rng)


def nothing_read(stream: Stream, number: int, rng: np.random.Generator) -> Window:
    """Read nothing in ten windows, of the first group alone in five of them."""
    return [
        replace(item, values=None, unscorable="refused")
        if 10 <= number < 20 and (number < 15 or item.groups["gender"] == "female")
        else item
        for item in stream.window(number, rng)
    ]


def beyond_the_range(stream: Stream, number: int, rng: np.random.Generator) -> Window:
    """Bring values that are no numbers, or not in the range, from every fifth answer."""
    odd = (1.5, -1.0, nan, inf, -inf)
    return [
        replace(answer, values={"refused": odd[n % 25 // 5]}) if n % 5 == 0 else answer
        for n, answer in enumerate(stream.window(number, rng))
    ]


def windows_again(stream: Stream, number: int, rng: np.random.Generator) -> Window:
    """Bring each window three times: its users enter once."""
    del rng
    return stream.window(number // 3, np.random.default_rng(1000 + number // 3))


LIVES = (outage, late_group, lost_group, nothing_read, beyond_the_range, windows_again)


def counted(heard: Iterable[TrafficAnswer], known: set[str]) -> Counts:
    there = list(heard)
    users, columns = {item.user for item in there if item.user}, columns_of(PLAN, there)
    who = entrants_of(columns, users - known)
    known |= users
    return count_users(COMPARED, columns, who, HOURLY)[0].counted.counts


def alarms_at(windows: Iterable[Window]) -> int | None:
    """Return the number of the window after which a monitor alarms, which looks after each."""
    known, counts = set[str](), None
    for number, heard in enumerate(windows):
        added = counted(heard, known)
        counts = added if counts is None else summed(counts, added)
        state = method_of(Method.MATCHED).evidence([counts])
        if state.log_es_beyond(np.zeros(1))[0] >= -log(ALPHA):
            return number
    return None


@pytest.mark.parametrize("life", LIVES)
def test_odd_traffic_of_equal_groups_raises_no_alarms(life: Life) -> None:
    times = 8
    false = 0
    for seed in range(times):
        rng = np.random.default_rng(seed)
        false += alarms_at(life(USUAL, n, rng) for n in range(USUAL.windows)) is not None
    assert false / times <= most_allowed(times)


@pytest.mark.parametrize("life", LIVES)
def test_after_odd_traffic_a_gap_is_found(life: Life) -> None:
    rng = np.random.default_rng(7)
    later = (WORSE.window(USUAL.windows + n, rng) for n in range(40))
    result = alarms_at([*(life(USUAL, n, rng) for n in range(USUAL.windows)), *later])
    assert result is not None
    assert result >= USUAL.windows


def test_a_user_with_ten_thousand_answers_counts_like_one_with_their_mean() -> None:
    rng = np.random.default_rng(2)
    heard = USUAL.window(0, rng)
    first = heard[0]
    many = [replace(first, key=f"more{n}", values={"refused": n % 2}) for n in range(10_000)]
    one = replace(first, values={"refused": 0.5})
    assert counted([*many, *heard[1:]], set()) == counted([one, *heard[1:]], set())


def test_a_daily_cycle_of_level_and_mix_leaves_next_to_nothing_in_a_days_differences() -> None:
    """Of each match, what its users' levels differ by; the whole of it against its deviation."""
    stream = Stream("day", daily(0.4, 0.1), daily(0.5, 0.3), 30, 400, DAY_S, by_day=True)
    traffic = Traffic(window_s=DAY_S)
    left, seen = list[float](), list[float]()
    for day in range(60):
        heard = stream.window(day % 30, np.random.default_rng(day))
        columns = columns_of(plan_of(COMPARED, traffic), heard)
        who = entrants_of(columns, {item.user for item in heard if item.user})
        users = window_users(COMPARED, columns, who, traffic).matchable
        parts = user_matches(columns, users, traffic, COMPARED.key)
        matches = [match for _, part in parts for match in part]
        by_moment = [
            [
                np.mean([stream.level(users.at_s[n] % DAY_S / DAY_S, "") for n in side])
                for side in (match.users.first, match.users.second)
            ]
            for match in matches
        ]
        left.append(float(sum(first - second for first, second in by_moment)))
        seen.append(float(sum(match.gap for match in matches)))
    assert 0 < sum(left) / len(left) < 0.06  # .03 on 800 days
    assert np.std(seen) == pytest.approx(7, rel=0.25)
