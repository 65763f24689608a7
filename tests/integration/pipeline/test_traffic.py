"""Windows of production traffic on a real store: read in order, each user once, exact again."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from services.diagnoser.domain.findings import AnalysisPlan
from services.diagnoser.handlers import DiagnoseRun, OnCompletion, Watch
from services.gateway.handlers import Ingest
from services.planner.handlers import Plans, Rounds, completion_of
from shared.contracts import (
    RUN_GATHER,
    Description,
    Evidence,
    Exchange,
    ExtractorStatus,
    Features,
    Increment,
    Monitor,
    MonitorState,
    Record,
    Response,
    Round,
    Run,
    Window,
)
from shared.store import Store
from tests.support.records import make_exchange, make_traffic_monitor

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LATE = timedelta(seconds=60)
MONITOR = make_traffic_monitor(since=NOON)


class House:
    """Gateway, extractor, planner and diagnoser on one store, with a clock that a test moves."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.time = NOON
        self.version = "1"
        self.ingest = Ingest(store, now=self.now)
        self.rounds = Rounds(store, now=self.now, wall=self.now)
        self.plans = Plans(store, now=self.now, deadline_s=60)
        diagnose = DiagnoseRun(store, now=self.now, plan=AnalysisPlan(alpha=0.05, tolerance=0))
        self.complete = OnCompletion(store, diagnose, Watch(store, now=self.now))
        self.announce()

    def now(self) -> datetime:
        return self.time

    def announce(self) -> None:
        forever = NOON + timedelta(days=365 + int(self.version))
        self.store.extractors.announce(ExtractorStatus("words", self.version, ("words",), forever))

    def hear(self, *exchanges: Exchange) -> list[Response]:
        """Take answers in, and measure them by the version that runs."""
        said = list(self.ingest(exchanges))
        self.store.records.write([*said, *(self.measured(each) for each in said)])
        return said

    def measured(self, response: Response) -> Features:
        return Features(
            purpose=response.purpose, at=self.time, run_id=response.run,
            probe_id=response.probe.id, response_id=response.id, unit_id=response.unit,
            extractor="words", extractor_version=self.version,
            values={"words": float(len((response.text or "").split()))},
        )  # fmt: skip

    def read(self, at: datetime) -> list[Window | None]:
        """Let the planner look at this time, and close what it began; give the windows."""
        self.time = at
        windows = []
        while runs := self.rounds.due():
            for run in runs:
                asyncio.run(self.plans.plan(run))
                self.close(run)
                windows.append(run.window)
        return windows

    def close(self, run: Run) -> list[Record]:
        gathers = self.store.gathers(RUN_GATHER)
        gathers.expire(self.time)
        left: list[Record] = []
        for closing in gathers.due():
            [completion] = completion_of(closing)
            self.store.records.write([completion])
            left.extend(self.complete(completion))
            gathers.emitted(closing.key, self.time)
        return left

    def units(self) -> int:
        """Return the units in the evidence about words."""
        found = self.store.records.of_monitor(Evidence, MONITOR.monitor_id)
        words = [each for each in found if each.comparison.watched.feature == "words"]
        return max(words, key=lambda each: each.round).units

    def descriptions(self) -> list[Description]:
        found = self.store.records.of_monitor(Description, MONITOR.monitor_id)
        return sorted(found, key=lambda each: each.round)


@pytest.fixture
def house(store: Store) -> House:
    house = House(store)
    house.rounds.want(MONITOR)
    return house


def said(users: Iterable[int], at: datetime, source: str = "support") -> list[Exchange]:
    return [make_exchange(n, said_at=at, key=f"{n}@{at.isoformat()}", source=source) for n in users]


def test_windows_are_read_one_after_the_other_once_they_are_over(house: House) -> None:
    house.hear(*said(range(4), NOON + timedelta(minutes=5)))
    place = house.store.schedule.get(MONITOR.name)
    assert place is not None
    assert place.due == NOON + HOUR + LATE  # not overdue while the window lasts
    assert house.read(NOON + HOUR) == []  # answers may still come
    [first] = house.read(NOON + HOUR + LATE)
    assert first == Window(begins=NOON, ends=NOON + HOUR)
    later = house.read(NOON + 4 * HOUR + LATE)
    assert [each.begins for each in later if each] == [NOON + n * HOUR for n in (1, 2, 3)]
    rounds = sorted(
        each.round for each in house.store.records.of_monitor(Round, MONITOR.monitor_id)
    )
    assert rounds == [0, 1, 2, 3]


def test_a_user_enters_the_evidence_once_however_long_they_stay(house: House) -> None:
    for hour in range(3):
        house.hear(*said(range(6 + hour), NOON + hour * HOUR))
        house.read(NOON + (hour + 1) * HOUR + LATE)
    assert house.units() == 8
    assert [each.answers for each in house.descriptions()] == [6, 7, 8]
    assert [each.known_units["gender"] for each in house.descriptions()] == [0, 6, 7]


def test_an_answer_sent_twice_counts_once_and_a_late_one_is_not_added(house: House) -> None:
    house.hear(*said(range(4), NOON), *said(range(4), NOON))
    house.read(NOON + HOUR + LATE)
    before = list(house.store.records.of_monitor(Increment, MONITOR.monitor_id))
    house.hear(*said(range(10, 20), NOON))
    house.read(NOON + 2 * HOUR + LATE)
    assert house.units() == 4
    after = list(house.store.records.of_monitor(Increment, MONITOR.monitor_id))
    assert [each for each in after if each.round == 0] == before


def test_answers_without_a_user_are_described_and_no_evidence(house: House) -> None:
    nobody = [make_exchange(n, said_at=NOON, unit_id=None) for n in range(5)]
    house.hear(*nobody, *said(range(10, 12), NOON))
    house.read(NOON + HOUR + LATE)
    assert house.units() == 2
    [found] = house.descriptions()
    assert (found.answers, found.without_unit) == (7, 5)
    female = found.described[0].groups[0]
    assert (female.responses, female.mean.low) == (3, None)


def test_a_window_without_any_answer_is_a_round_that_adds_nothing(house: House) -> None:
    assert len(house.read(NOON + HOUR + LATE)) == 1
    assert house.units() == 0
    assert house.descriptions()[0].described[0].groups[0].mean.value is None


def test_what_closes_a_window_again_after_a_death_finds_the_same_users_new(house: House) -> None:
    house.hear(*said(range(6), NOON))
    house.time = NOON + HOUR + LATE
    # A diagnoser that died right before it wrote had let the users in.
    users = [f"user-{n}" for n in range(6)]
    house.store.enrolled_units.enroll(MONITOR.monitor_id, 0, "gender", users, 0)
    house.read(house.time)
    assert house.units() == 6


def test_a_new_version_of_an_extractor_measures_the_window_again_and_begins_an_epoch(
    house: House,
) -> None:
    house.hear(*said(range(4), NOON))
    house.read(NOON + HOUR + LATE)
    responses = house.hear(*said(range(8), NOON + HOUR))  # measured by version 1
    house.version = "2"
    house.announce()
    house.time = NOON + 2 * HOUR + LATE
    [run] = house.rounds.due()
    asyncio.run(house.plans.plan(run))
    assert house.close(run) == []  # nothing of version 2 is there yet
    asked = [house.plans.reconciliation.stuck() for _ in range(2)][1]
    assert {each.id for each in asked} == {each.id for each in responses}
    features = [house.measured(each) for each in responses]
    house.store.records.write(features)
    asyncio.run(house.plans.note(features))
    assert house.close(run)
    last = house.store.records.of_monitor(Round, MONITOR.monitor_id)
    assert max(last, key=lambda each: each.round).epoch == 1
    assert house.units() == 8  # users enter anew: another epoch is other evidence


def test_windows_of_a_pause_are_not_read(house: House) -> None:
    house.hear(*said(range(4), NOON))
    house.read(NOON + HOUR + LATE)
    turned = {"moment_ms": MONITOR.moment_ms + 1, "state": MonitorState.PAUSED}
    house.rounds.want(again(turned))
    assert house.read(NOON + 5 * HOUR) == []
    back = {"moment_ms": MONITOR.moment_ms + 2, "since": NOON + 5 * HOUR + LATE}
    house.rounds.want(again(back))
    house.hear(*said(range(4, 6), NOON + 5 * HOUR))
    [window] = house.read(NOON + 6 * HOUR + LATE)
    assert window == Window(begins=NOON + 5 * HOUR, ends=NOON + 6 * HOUR)
    assert house.units() == 6


def test_two_monitors_of_one_system_both_hear_it(house: House) -> None:
    other = make_traffic_monitor(name="other", since=NOON)
    house.rounds.want(other)
    assert len(house.hear(*said(range(3), NOON))) == 6


def again(fields: dict[str, object]) -> Monitor:
    return Monitor.model_validate({**MONITOR.model_dump(exclude={"id"}), **fields})
