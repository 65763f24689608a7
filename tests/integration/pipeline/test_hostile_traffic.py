"""Traffic that is odd on purpose: equal groups raise no alarm, and every sending is accounted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import pi, sin

import numpy as np
import pytest

from biaswatch.shared.contracts import (
    Alarm,
    Exchange,
    Method,
    Monitor,
    Traffic,
    WatchedFeature,
    WatchedPair,
    total,
)
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.store import Store
from tests.support.records import make_exchange, make_traffic_monitor
from tests.support.traffic_platform import HOUR, LATE, NOON, TrafficPlatform

WINDOWS, ANSWERS = 6, 80
ON_ITS_WAY = timedelta(seconds=1)
"""From when an answer is given to its intake."""
WATCHED = WatchedFeature(extractor="words", feature="words", high=10, method=Method.MATCHED)


@dataclass(frozen=True)
class Said:
    """An answer as the attacker sends it."""

    key: str
    user: str | None
    group: str
    given_at: datetime
    """In truth."""
    moment: datetime
    """By the sender's clock."""
    words: int
    topic: str | None = None


Attack = Callable[[list[Said], np.random.Generator], Iterator[Said]]


def equal_groups(rng: np.random.Generator) -> list[Said]:
    """Return answers of groups that are equal at every moment; levels and mixes move together."""
    result = []
    for number in range(WINDOWS * ANSWERS):
        place = number / ANSWERS
        first = rng.random() < 0.5 + 0.3 * sin(2 * pi * place / WINDOWS)
        level = 4 + 2 * sin(2 * pi * place / WINDOWS)
        words = int(np.clip(rng.normal(level, 1.5), 1, 10))
        group = "female" if first else "male"
        at = NOON + place * HOUR
        result.append(Said(f"a-{number}", f"user-{number}", group, at, at, words))
    return result


def as_they_are(answers: list[Said], _: np.random.Generator) -> Iterator[Said]:
    yield from answers


def clocks_apart(answers: list[Said], _: np.random.Generator) -> Iterator[Said]:
    """One group's sender has a clock that is nine minutes fast, the other's nine minutes slow."""
    for answer in answers:
        skew = timedelta(minutes=9 if answer.group == "female" else -9)
        yield replace(answer, moment=max(answer.moment + skew, NOON))


def from_the_past(answers: list[Said], rng: np.random.Generator) -> Iterator[Said]:
    """A third of the answers says that it was given hours before it was."""
    for answer in answers:
        hours = int(rng.integers(1, 30)) if rng.random() < 0.33 else 0
        yield replace(answer, moment=answer.moment - hours * HOUR)


def from_the_future(answers: list[Said], rng: np.random.Generator) -> Iterator[Said]:
    """A third of one group's answers says that it will be given tomorrow: these are refused."""
    for answer in answers:
        ahead = answer.group == "female" and rng.random() < 0.33
        yield replace(answer, moment=answer.moment + 24 * HOUR) if ahead else answer


def again_in_every_window(answers: list[Said], _: np.random.Generator) -> Iterator[Said]:
    """The answers of one group are sent again in each later window, under the same name."""
    for answer in answers:
        yield answer
        yield answer
        if answer.group == "female" and answer.moment < NOON + HOUR:
            for later in range(1, WINDOWS):
                at = answer.moment + later * HOUR
                yield replace(answer, given_at=at, moment=at)


def of_both_groups(answers: list[Said], _: np.random.Generator) -> Iterator[Said]:
    """Every second user is of both groups at once, and hears more as one of them."""
    for number, answer in enumerate(answers):
        yield answer
        if number % 2:
            other = "male" if answer.group == "female" else "female"
            words = 9 if other == "female" else 1
            yield replace(answer, key=f"{answer.key}-b", group=other, words=words)


def a_group_that_comes_late(answers: list[Said], _: np.random.Generator) -> Iterator[Said]:
    yield from (e for e in answers if e.group == "male" or e.moment >= NOON + 3 * HOUR)


def one_user_of_nine_tenths(answers: list[Said], rng: np.random.Generator) -> Iterator[Said]:
    """One woman has nine tenths of all answers, and hears ten words in each."""
    for answer in answers:
        flood = rng.random() < 0.9
        yield replace(answer, user="flood", group="female", words=10) if flood else answer


def half_without_a_topic(answers: list[Said], rng: np.random.Generator) -> Iterator[Said]:
    """Half of the answers lacks the declared topic."""
    for answer in answers:
        yield replace(answer, topic=None if rng.random() < 0.5 else "billing")


def a_third_group(answers: list[Said], rng: np.random.Generator) -> Iterator[Said]:
    """A third group hears more than both, and its share grows as theirs falls."""
    for number, answer in enumerate(answers):
        if rng.random() < number / len(answers) * 0.8:
            yield replace(answer, group="other", words=10)
        else:
            yield answer


ATTACKS: list[Attack] = [
    as_they_are, clocks_apart, from_the_past, from_the_future, again_in_every_window,
    of_both_groups, a_group_that_comes_late, one_user_of_nine_tenths, half_without_a_topic,
    a_third_group,
]  # fmt: skip


def monitor_of(attack: Attack) -> Monitor:
    strata = ("topic",) if attack is half_without_a_topic else ()
    pair = WatchedPair(dimension="gender", a="female", b="male")
    traffic_monitor = make_traffic_monitor(since=NOON)
    traffic = Traffic(window_s=3600, strata=strata, neighbours_within_s=1800)
    fields = {"features": (WATCHED,), "comparisons": (pair,), "traffic": traffic}
    return make_traffic_monitor(plan=traffic_monitor.plan.model_copy(update=fields), since=NOON)


def exchange(answer: Said, sending: int) -> Exchange:
    return make_exchange(
        key=answer.key,
        said_at=answer.moment,
        at=answer.given_at + ON_ITS_WAY,
        sending=sending,
        text="yes " * answer.words,
        unit_id=answer.user,
        groups={"gender": answer.group},
        facts={} if answer.topic is None else {"topic": answer.topic},
    )


def played(store: Store, attack: Attack) -> tuple[list[Said], TrafficPlatform, Monitor]:
    """Send what the attacker sends, window by window, and have the windows read."""
    rng = np.random.default_rng(7)
    sent = list(attack(equal_groups(rng), rng))
    monitor = monitor_of(attack)
    platform = TrafficPlatform(store)
    store.records.write([monitor])
    platform.rounds.define(monitor)
    left = [exchange(answer, number) for number, answer in enumerate(sent)]
    for hour in range(1, WINDOWS + 1):
        platform.time = NOON + hour * HOUR + ON_ITS_WAY
        hear(platform, [item for item in left if item.at <= platform.time])
        left = [item for item in left if item.at > platform.time]
        platform.read(NOON + hour * HOUR + LATE)
    assert not left
    platform.read(NOON + (WINDOWS + 2) * HOUR)
    return sent, platform, monitor


def hear(platform: TrafficPlatform, exchanges: list[Exchange]) -> None:
    """Take answers in as the gateway's worker does: those that are refused go by themselves."""
    future = [exchange for exchange in exchanges if exchange.said_at > platform.time + HOUR]
    platform.hear(*(exchange for exchange in exchanges if exchange not in future))
    for item in future:
        for _ in range(2):  # a dead letter may come again after a death, and counts once
            with pytest.raises(PoisonError, match="is in the future"):
                platform.hear(item)


def with_a_gap(answers: list[Said], _: np.random.Generator) -> Iterator[Said]:
    for answer in answers:
        more = 3 if answer.group == "female" else 0
        yield replace(answer, words=min(answer.words + more, 10))


def test_a_true_gap_in_the_same_traffic_raises_an_alarm(store: Store) -> None:
    _, _, monitor = played(store, with_a_gap)
    [alarm, *_] = store.records.of_monitor(Alarm, monitor.monitor_id)
    assert alarm.gap.value == pytest.approx(2.7, abs=0.8)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_odd_traffic_of_equal_groups_raises_no_alarm_and_is_accounted_for(
    store: Store, attack: Attack
) -> None:
    sent, platform, monitor = played(store, attack)
    assert [item.reason for item in store.records.of_monitor(Alarm, monitor.monitor_id)] == []
    result = store.window_answers.accounts(monitor.monitor_id)
    assert result.sent == len(sent), result.in_words
    windows = store.window_answers.latest(monitor.monitor_id, 1000)
    assert total(window.accounts for window in windows) == result
    assert result.waiting == result.unmeasured == 0
    assert result.refused == sum(item.moment > item.given_at + HOUR for item in sent)
    assert 0 < platform.units(monitor) <= len({item.user for item in sent})
