"""A recorded month has the evidence of the same month watched live, round for round."""

from collections.abc import Iterator
from datetime import timedelta

import numpy as np
import pytest

from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.traffic.history import HistoryCommands
from biaswatch.shared.contracts import (
    Exchange,
    Method,
    Monitor,
    RoundEvidence,
    Target,
    Traffic,
    WatchedFeature,
)
from biaswatch.shared.contracts.evidence_rows import evidence_in
from biaswatch.shared.store import Store
from tests.support.records import make_exchange, make_traffic_monitor
from tests.support.traffic_platform import HOUR, LATE, NOON, TrafficPlatform

DAY = 24 * HOUR
BEGIN = NOON - NOON.hour * HOUR
DAYS, ANSWERS = 30, 900
WORDS = WatchedFeature(extractor="words", feature="words", high=10, method=Method.MATCHED)
Numbers = dict[tuple[int, str], tuple[object, ...]]


def recorded_month(answers: int, source: str) -> Iterator[Exchange]:
    """Yield answers of users who come back, some without an answer, a group or a user."""
    rng = np.random.default_rng(4)
    for number in range(answers):
        at = BEGIN + DAYS * DAY * (number / answers)
        group = "female" if rng.random() < 0.4 else "male"
        words = int(rng.integers(1, 10 if group == "female" else 9))
        unanswered = rng.random() < (0.08 if group == "female" else 0.03)
        yield make_exchange(
            number,
            source=source,
            said_at=at,
            at=at + timedelta(seconds=1),
            text=None if unanswered else "yes " * words,
            reason="timeout" if unanswered else None,
            unit_id=None if rng.random() < 0.03 else f"user-{rng.integers(answers // 3)}",
            groups={} if rng.random() < 0.02 else {"gender": group},
        )


def monitor_of(source: str, **fields: object) -> Monitor:
    traffic_monitor = make_traffic_monitor(name=source)
    traffic = Traffic(window_s=int(DAY.total_seconds()), neighbours_within_s=4 * 3600)
    target = Target(name=f"traffic:{source}", provider="traffic", model=source)
    of = {"features": (WORDS,), "traffic": traffic, "target": target}
    return make_traffic_monitor(
        name=source, plan=traffic_monitor.plan.model_copy(update=of), **fields
    )


def watched_live(platform: TrafficPlatform, answers: int) -> Monitor:
    """Have each day's answers taken in as they come, and each day read when it is over."""
    monitor = monitor_of("live", since=BEGIN)
    platform.rounds.define(monitor)
    platform.store.records.write([monitor])
    left = list(recorded_month(answers, "live"))
    for day in range(1, DAYS + 1):
        platform.time = BEGIN + day * DAY + timedelta(seconds=1)
        platform.hear(*(item for item in left if item.at <= platform.time))
        left = [item for item in left if item.at > platform.time]
        platform.read(BEGIN + day * DAY + LATE)
    assert not left
    return monitor


def judged_afterwards(platform: TrafficPlatform, answers: int) -> Monitor:
    """Have the whole month taken in at once, in any order, and read."""
    live = monitor_of("log", since=platform.time)
    platform.store.records.write([live])
    platform.rounds.define(live)
    past = HistoryCommands(platform.store, MonitorQueries(platform.store), now=platform.now)
    [begun] = past.begin("log")
    platform.rounds.define(begun)
    recorded = [
        item.model_copy(update={"history": True, "at": platform.time})
        for item in recorded_month(answers, "log")
    ]
    np.random.default_rng(5).shuffle(recorded)
    for first in range(0, len(recorded), 500):
        platform.hear(*recorded[first : first + 500])
    for monitor in past.read("log"):
        platform.rounds.define(monitor)
    platform.read(platform.time)
    return begun


def evidence_of(store: Store, monitor: Monitor) -> Numbers:
    evidence = evidence_in(store.records.of_monitor(RoundEvidence, monitor.monitor_id))
    return {
        (item.round, item.comparison_key): (item.counts, item.units, item.gap, item.log_supremum)
        for item in evidence
    }


@pytest.mark.parametrize("answers", [ANSWERS])
def test_a_recorded_month_has_the_evidence_of_the_month_watched_live(
    store: Store, answers: int
) -> None:
    platform = TrafficPlatform(store)
    live = evidence_of(store, watched_live(platform, answers))
    past = judged_afterwards(platform, answers)
    assert evidence_of(store, past) == live
    assert len({round_ for round_, _ in live}) == DAYS
    accounts = store.window_answers.accounts(past.monitor_id)
    assert (accounts.sent, accounts.late, accounts.waiting) == (answers, 0, 0)
    assert accounts.evidence > answers / 10
