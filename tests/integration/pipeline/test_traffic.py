"""Windows of production traffic on a real store: read in order, each user once, exact again."""

import asyncio
from datetime import timedelta

import pytest

from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.traffic.history import HistoryCommands
from biaswatch.services.gateway.traffic.watchers import response_of, without_position
from biaswatch.shared.contracts import (
    Evidence,
    Monitor,
    MonitorState,
    Response,
    Round,
    RoundEvidence,
    Target,
    Window,
)
from biaswatch.shared.contracts.evidence_rows import evidence_in
from biaswatch.shared.requests.evidence import window_view
from biaswatch.shared.store import Store
from tests.support.planned import gone_through, planned
from tests.support.records import make_exchange, make_traffic_monitor
from tests.support.traffic_platform import HOUR, LATE, MONITOR, NOON, TrafficPlatform, said


@pytest.fixture
def platform(traffic_store: Store) -> TrafficPlatform:
    platform = TrafficPlatform(traffic_store)
    platform.rounds.define(MONITOR)
    return platform


def test_windows_are_read_one_after_the_other_once_they_are_over(platform: TrafficPlatform) -> None:
    platform.hear(*said(range(4), NOON + timedelta(minutes=5)))
    place = platform.store.schedule.get(MONITOR.name)
    assert place is not None
    assert place.due == NOON + HOUR + LATE  # not overdue while the window lasts
    assert platform.read(NOON + HOUR) == []  # answers may still come
    [first] = platform.read(NOON + HOUR + LATE)
    assert first == Window(begins=NOON, ends=NOON + HOUR)
    later = platform.read(NOON + 4 * HOUR + LATE)
    assert [item.begins for item in later if item] == [NOON + n * HOUR for n in (1, 2, 3)]
    rounds = sorted(
        item.round for item in platform.store.records.of_monitor(Round, MONITOR.monitor_id)
    )
    assert rounds == [0, 1, 2, 3]


def test_a_user_enters_the_evidence_once_however_long_they_stay(platform: TrafficPlatform) -> None:
    for hour in range(3):
        platform.hear(*said(range(6 + hour), NOON + hour * HOUR))
        platform.read(NOON + (hour + 1) * HOUR + LATE)
    assert platform.units() == 8
    assert [description.answers for description in platform.descriptions()] == [6, 7, 8]
    assert [description.known_units["gender"] for description in platform.descriptions()] == [
        0,
        6,
        7,
    ]


def test_an_answer_sent_twice_counts_once_and_a_late_one_is_not_added(
    platform: TrafficPlatform,
) -> None:
    platform.hear(*said(range(4), NOON), *said(range(4), NOON))
    platform.read(NOON + HOUR + LATE)
    before = platform.increments()
    platform.hear(*said(range(10, 20), NOON, taken_at=platform.time))
    platform.read(NOON + 2 * HOUR + LATE)
    assert platform.units() == 4
    after = platform.increments()
    assert [item for item in after if item.round == 0] == before


def test_one_sending_that_says_two_moments_is_one_answer(platform: TrafficPlatform) -> None:
    moments = [NOON, NOON + timedelta(seconds=1)]
    both = [make_exchange(1, key="one", at=NOON, said_at=moment) for moment in moments]
    for _ in range(2):
        assert [item.probe.at for item in platform.hear(*both)] == [NOON]
    assert platform.store.window_answers.accounts(MONITOR.monitor_id).sent == 1


def test_the_evidence_is_the_same_whether_or_not_ids_are_in_order(
    platform: TrafficPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hear(first: int, *, again: bool) -> list[Response]:
        return platform.hear(*said(range(first, first + 6), NOON), *said(range(6 * again), NOON))

    with monkeypatch.context() as before_the_upgrade:
        before_the_upgrade.setattr(
            "biaswatch.services.gateway.traffic.ingestion.response_of",
            lambda *given: without_position(response_of(*given)),
        )
        older = hear(0, again=False)
    newer = hear(6, again=True)  # the bus delivers the first six once more
    assert {item.id for item in older} < {item.id for item in newer}
    assert {item.probe.position is None for item in older} == {True}
    assert len({item.id[:16] for item in newer if item.probe.position is not None}) == 1
    platform.read(NOON + HOUR + LATE)
    assert platform.units() == 12
    [described] = platform.descriptions()
    assert described.answers == 12
    assert platform.store.window_answers.accounts(MONITOR.monitor_id).evidence == 12


def test_answers_without_a_user_are_described_and_no_evidence(platform: TrafficPlatform) -> None:
    nobody = [make_exchange(n, said_at=NOON, at=NOON, unit_id=None) for n in range(5)]
    platform.hear(*nobody, *said(range(10, 12), NOON))
    platform.read(NOON + HOUR + LATE)
    assert platform.units() == 2
    [result] = platform.descriptions()
    assert (result.answers, result.without_unit) == (7, 5)
    female = result.described[0].groups[0]
    assert (female.responses, female.mean.low) == (3, None)


def test_a_company_behind_users_is_pointed_out(platform: TrafficPlatform) -> None:
    platform.hear(
        *(
            make_exchange(n, said_at=NOON, at=NOON, facts={"company": f"c{n % 3}"})
            for n in range(12)
        )
    )
    platform.read(NOON + HOUR + LATE)
    [description] = platform.descriptions()
    assert description.shared_facts == {"company": 3}
    words = window_view(None, description, watched=True).dependence_words
    assert words is not None
    assert words.startswith("Several users share each value of company (3 values).")


def test_a_window_without_any_answer_is_a_round_that_adds_nothing(
    platform: TrafficPlatform,
) -> None:
    assert len(platform.read(NOON + HOUR + LATE)) == 1
    assert platform.units() == 0
    assert platform.descriptions()[0].described[0].groups[0].mean.value is None


def test_what_closes_a_window_again_after_a_death_finds_the_same_users_new(
    platform: TrafficPlatform,
) -> None:
    platform.hear(*said(range(6), NOON))
    platform.time = NOON + HOUR + LATE
    # A diagnoser that died right before it wrote had let the users in.
    users = [f"user-{n}" for n in range(6)]
    platform.store.enrolled_units.enroll(MONITOR.monitor_id, 0, "gender", users, 0)
    platform.read(platform.time)
    assert platform.units() == 6


def test_a_new_version_of_an_extractor_measures_the_window_again_and_begins_an_epoch(
    platform: TrafficPlatform,
) -> None:
    platform.hear(*said(range(4), NOON))
    platform.read(NOON + HOUR + LATE)
    responses = platform.hear(*said(range(8), NOON + HOUR))  # measured by version 1
    platform.version = "2"
    platform.announce()
    platform.time = NOON + 2 * HOUR + LATE
    [run] = platform.rounds.start_due()
    planned(platform.store, platform.plans, run)
    assert platform.close(run) == []  # nothing of version 2 is there yet
    assert [platform.plans.repair_stuck() for _ in range(2)] == [0, 1]
    asked = gone_through(platform.store, platform.plans)
    assert {item.id for item in asked} == {response.id for response in responses}
    features = [platform.measured(response) for response in responses]
    platform.store.records.write(features)
    asyncio.run(platform.plans.count_features(features))
    assert platform.close(run)
    last = platform.store.records.of_monitor(Round, MONITOR.monitor_id)
    assert max(last, key=lambda item: item.round).epoch == 1
    assert platform.units() == 8  # users enter anew: another epoch is other evidence


def test_windows_of_a_pause_are_not_read(platform: TrafficPlatform) -> None:
    platform.hear(*said(range(4), NOON))
    platform.read(NOON + HOUR + LATE)
    turned = {"moment_ms": MONITOR.moment_ms + 1, "state": MonitorState.PAUSED}
    platform.rounds.define(again(turned))
    assert platform.read(NOON + 5 * HOUR) == []
    back = {"moment_ms": MONITOR.moment_ms + 2, "since": NOON + 5 * HOUR + LATE}
    platform.rounds.define(again(back))
    platform.hear(*said(range(4, 6), NOON + 5 * HOUR))
    [window] = platform.read(NOON + 6 * HOUR + LATE)
    assert window == Window(begins=NOON + 5 * HOUR, ends=NOON + 6 * HOUR)
    assert platform.units() == 6


def test_what_comes_while_a_monitor_is_paused_or_has_ended_is_accounted_for(
    platform: TrafficPlatform,
) -> None:
    answers, id_ = platform.store.window_answers, MONITOR.monitor_id
    platform.store.records.write([MONITOR])
    platform.hear(*said(range(3), NOON))  # its window is never read: a pause comes first
    paused = again({"moment_ms": MONITOR.moment_ms + 1, "state": MonitorState.PAUSED})
    platform.store.records.write([paused])
    platform.rounds.define(paused)
    assert platform.hear(*said(range(3, 5), NOON)) == []
    last = {**MONITOR.upkeep.model_dump(), "most_rounds": 1}
    fields = {"moment_ms": MONITOR.moment_ms + 2, "since": NOON + 2 * HOUR, "upkeep": last}
    back = again(fields)
    platform.store.records.write([back])
    platform.rounds.define(back)
    platform.time = NOON + 2 * HOUR
    platform.hear(*said(range(5, 9), platform.time))
    platform.read(NOON + 3 * HOUR + LATE)
    platform.hear(*said(range(9, 10), platform.time))  # taken before anybody knows that it ends
    platform.read(NOON + 4 * HOUR + LATE)
    assert platform.hear(*said(range(10, 16), platform.time)) == []
    result = {name: count for name, count in answers.accounts(id_) if count}
    assert result == {"evidence": 4, "late": 3 + 1, "refused": 2 + 6}


def test_two_monitors_of_one_system_both_hear_it(platform: TrafficPlatform) -> None:
    other = make_traffic_monitor(name="other", since=NOON)
    platform.rounds.define(other)
    assert len(platform.hear(*said(range(3), NOON))) == 6


def test_the_past_is_judged_as_if_it_had_been_watched_live(platform: TrafficPlatform) -> None:
    store, hours = platform.store, (0, 1, 2, 5)
    for hour in hours:  # users come back, and nobody comes in between
        platform.time = NOON + hour * HOUR
        platform.hear(*said(range(hour, hour + 6), NOON + hour * HOUR))
        platform.read(NOON + (hour + 1) * HOUR + LATE)
    target = Target(name="traffic:log", provider="traffic", model="log")
    plan = MONITOR.plan.model_copy(update={"target": target})
    live = make_traffic_monitor(name="log", plan=plan, since=NOON + 6 * HOUR)
    store.records.write([live])
    platform.rounds.define(live)
    past = HistoryCommands(store, MonitorQueries(store), now=platform.now)
    [begun] = past.begin("log")
    platform.rounds.define(begun)
    recorded = [
        answer.model_copy(update={"history": True, "at": platform.time})
        for hour in reversed(hours)  # in any order
        for answer in said(range(hour, hour + 6), NOON + hour * HOUR, "log")
    ]
    watched = said(range(3), NOON + 6 * HOUR, "log", platform.time)  # this is watched live
    platform.hear(*recorded, *(item.model_copy(update={"history": True}) for item in watched))
    assert platform.read(platform.time) == []  # not before somebody says that it is all
    for monitor in past.read("log"):
        platform.rounds.define(monitor)
    read = platform.read(platform.time)
    assert [item.begins for item in read if item] == [NOON + hour * HOUR for hour in hours]
    [view] = past.show("log")
    assert view.read
    assert view.accounts.late == len(watched)
    begun_evidence, live_evidence = (
        [e for e in evidence_in(store.records.of_monitor(RoundEvidence, id_)) if e.round == last]
        for id_, last in ((begun.monitor_id, 3), (MONITOR.monitor_id, 5))
    )
    assert all(item.declared_after_data for item in begun_evidence)
    assert not any(item.declared_after_data for item in live_evidence)
    assert [
        (e.comparison_key, e.counts, e.units, e.log_supremum) for e in ordered(begun_evidence)
    ] == [(e.comparison_key, e.counts, e.units, e.log_supremum) for e in ordered(live_evidence)]


def test_more_of_the_past_is_read_after_what_was_read_and_not_before_it(
    platform: TrafficPlatform,
) -> None:
    store = platform.store
    store.records.write([MONITOR])
    past = HistoryCommands(store, MonitorQueries(store), now=platform.now)
    for days in (3, 2, 9):
        for monitor in past.begin("support"):
            platform.rounds.define(monitor)
        at = NOON - timedelta(days=days)
        platform.hear(
            *(item.model_copy(update={"history": True}) for item in said(range(4), at, "support",
              platform.time))
        )  # fmt: skip
        platform.time += HOUR / 60
        for monitor in past.read("support"):
            platform.rounds.define(monitor)
        platform.read(platform.time)
    [view] = past.show("support")
    assert (view.read, view.accounts.late, view.accounts.sent) == (True, 4, 12)


def ordered(evidence: list[Evidence]) -> list[Evidence]:
    return sorted(evidence, key=lambda item: item.comparison_key)


def again(fields: dict[str, object]) -> Monitor:
    return Monitor.model_validate({**MONITOR.model_dump(exclude={"id"}), **fields})
