"""Evidence from production traffic keeps its word although users come back: each counts once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.method import method_of
from biaswatch.shared.analysis.monitors.round_answers import summed
from biaswatch.shared.analysis.monitors.traffic import count_window
from biaswatch.shared.contracts import Method
from tests.support.evidence_checks import most_allowed
from tests.support.records import make_traffic_monitor
from tests.support.traffic_streams import (
    BY_TOPIC,
    CONFOUNDED,
    EQUAL,
    PLANNED,
    Stream,
    planned_users,
    share_alarmed,
    users_needed,
)
from tests.support.window_rows import TrafficAnswer, columns_of, entrants_of

PLAN = make_traffic_monitor().plan
WORDS = PLAN.all_comparisons[0]
BOUND = -np.log(0.05)
WINDOWS = 12
REGULARS = 60
NEW_A_WINDOW = 10
ANSWERS = 4


@dataclass(frozen=True)
class User:
    name: str
    group: str
    level: float
    """What answers to this user are about, for ever: nothing that the group explains."""


def users(rng: np.random.Generator, names: Iterator[int], number: int, gap: float) -> list[User]:
    groups = rng.permutation(["female", "male"] * (number // 2))
    return [
        User(f"u{next(names)}", str(group), float(level) * 8 + 1 + gap * (group == "female"))
        for group, level in zip(groups, rng.beta(0.4, 0.4, number), strict=True)
    ]


def windows(rng: np.random.Generator, gap: float) -> Iterator[list[TrafficAnswer]]:
    """Return windows in which the regulars come every time, and others once."""
    names = iter(range(10_000))
    regulars = users(rng, names, REGULARS, gap)
    for _ in range(WINDOWS):
        there = [*regulars, *users(rng, names, NEW_A_WINDOW, gap)]
        yield [
            TrafficAnswer(
                key=f"{user.name}-{n}",
                user=user.name,
                groups={"gender": user.group},
                extractor="words",
                values={"words": float(np.clip(user.level + rng.normal(0, 0.3), 0, 10))},
            )
            for user in there
            for n in range(ANSWERS)
        ]


def alarms(seed: int, gap: float, *, again: bool = False) -> bool:
    """Tell whether a monitor ever alarms; `again` lets everybody enter in every window."""
    rng = np.random.default_rng(seed)
    known: set[str] = set()
    counts = None
    for heard in windows(rng, gap):
        there = {item.user for item in heard if item.user}
        columns = columns_of(PLAN, heard)
        who = entrants_of(columns, there if again else there - known)
        known |= there
        result = count_window(WORDS, columns, who)[0].counts
        counts = result if counts is None else summed(counts, result)
        state = method_of(Method.TWO_GROUPS).evidence([counts])
        if state.log_es_beyond(np.zeros(1))[0] >= BOUND:
            return True
    return False


def test_users_who_come_back_raise_no_false_alarms() -> None:
    repeats = 120
    false = sum(alarms(seed, 0.0) for seed in range(repeats)) / repeats
    assert false <= most_allowed(repeats)


@pytest.mark.slow
def test_letting_users_enter_in_every_window_would_raise_them() -> None:
    repeats = 100
    false = sum(alarms(seed, 0.0, again=True) for seed in range(repeats)) / repeats
    assert false > 0.15


def test_a_gap_between_users_is_found() -> None:
    assert sum(alarms(seed, 5.0) for seed in range(10)) == 10


@pytest.mark.parametrize(
    "stream",
    [EQUAL[0], *(pytest.param(stream, marks=pytest.mark.slow) for stream in (EQUAL[2], EQUAL[5]))],
    ids=lambda stream: stream.name,
)
def test_groups_that_are_equal_at_every_moment_raise_no_alarms(stream: Stream) -> None:
    times = 24
    assert share_alarmed(stream, times) <= most_allowed(times)


def test_pooling_the_users_of_all_windows_would_raise_them() -> None:
    assert share_alarmed(EQUAL[0], 12, Method.TWO_GROUPS) > 0.4


def test_topics_that_alone_differ_raise_no_alarms_where_they_are_declared() -> None:
    stream, times = CONFOUNDED[0], 16
    assert share_alarmed(stream, times, strata=BY_TOPIC) <= 2 / times
    assert share_alarmed(stream, times) > 0.4


def test_a_plan_is_near_the_users_that_are_needed() -> None:
    unequal = PLANNED[1]
    assert planned_users(unequal) == pytest.approx(users_needed(unequal, 30), rel=0.35)
