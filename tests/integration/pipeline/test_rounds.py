"""The schedule of monitors on a real store: each round once, none piling up, none lost."""

from datetime import UTC, datetime, timedelta

import pytest

from biaswatch.services.planner.handlers.monitor_rounds import RoundScheduler
from biaswatch.services.planner.handlers.runs import RunPlanner
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Claim,
    ExtractorStatus,
    Monitor,
    MonitorState,
    Purpose,
    Run,
    Suite,
    SuiteProbe,
    Upkeep,
    probes_of,
    questions_of,
)
from biaswatch.shared.store import Store
from tests.support.planned import planned
from tests.support.records import make_monitor, make_plan

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SUITE = Suite(
    name="coasts",
    extractors=("words",),
    probes=tuple(
        SuiteProbe(key=f"{set_}-{group}", prompt="?", set=f"s{set_}", groups={"concept": group})
        for set_ in range(10)
        for group in ("France", "Peru")
    ),
)


class Clock:
    """A clock the test moves."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time

    def pass_(self, **by: float) -> None:
        self.time += timedelta(**by)


class Planner:
    """The schedule and the planner of one process."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self.rounds = RoundScheduler(store, now=clock, wall=clock)
        self.plans = RunPlanner(store, now=clock, deadline_s=60)

    def run_once(self) -> list[int | None]:
        """Begin what is due and plan it; give the numbers of the rounds."""
        due = self.rounds.start_due()
        for run in due:
            planned(self.store, self.plans, run)
        return [run.round for run in due]

    def finish(self, monitor: Monitor) -> None:
        place = self.store.schedule.get(monitor.name)
        assert place is not None
        assert place.run is not None
        self.store.gathers(RUN_GATHER).cancel(place.run.id, self.clock())


@pytest.fixture
def planner(store: Store) -> Planner:
    clock = Clock()
    store.suites.keep(SUITE, NOON)
    store.extractors.announce(ExtractorStatus("words", "1", ("words",), NOON + timedelta(days=365)))
    return Planner(store, clock)


def monitor_of(planner: Planner, moment: int = 1, **fields: object) -> Monitor:
    plan = make_plan(suite_hash=SUITE.hash, **fields)
    monitor = make_monitor(plan=plan, since=NOON, moment_ms=moment)
    planner.rounds.define(monitor)
    return monitor


def test_a_round_begins_by_cadence_and_only_when_the_one_before_has_closed(
    planner: Planner,
) -> None:
    monitor = monitor_of(planner)
    assert planner.run_once() == [0]
    assert planner.run_once() == []
    planner.clock.pass_(hours=1)
    assert planner.run_once() == []  # the first is still under way
    planner.finish(monitor)
    assert planner.run_once() == [1]
    planner.finish(monitor)
    planner.clock.pass_(minutes=59)
    assert planner.run_once() == []
    planner.clock.pass_(minutes=1)
    assert planner.run_once() == [2]


def test_after_a_week_of_standstill_one_round_begins_and_not_a_hundred(planner: Planner) -> None:
    monitor = monitor_of(planner)
    planner.run_once()
    planner.finish(monitor)
    planner.clock.pass_(days=7, minutes=10)
    assert planner.run_once() == [1]
    planner.finish(monitor)
    assert planner.run_once() == []
    planner.clock.pass_(minutes=50)
    assert planner.run_once() == [2]  # the cadence keeps its hour


def test_a_planner_that_dies_before_publishing_leaves_the_same_round_to_the_next(
    planner: Planner,
) -> None:
    monitor_of(planner)
    [lost] = planner.rounds.start_due()
    again = Planner(planner.store, planner.clock)
    [result] = again.rounds.start_due()
    assert (result.id, result.round) == (lost.id, 0)
    ids = {probe.id for probe in probes_of(lost, SUITE, NOON)}
    assert {probe.id for probe in probes_of(result, SUITE, planner.clock())} == ids


def test_of_two_planners_one_begins_the_round(planner: Planner) -> None:
    monitor = monitor_of(planner)
    place = planner.store.schedule.get(monitor.name)
    assert place is not None
    assert len(planner.rounds.start_due()) == 1
    run = Run(at=NOON, suite="coasts", suite_hash=SUITE.hash, targets=())
    assert not planner.store.schedule.begin(place, run, NOON)


def test_rounds_ask_anew_and_their_traffic_is_told_from_that_of_users(planner: Planner) -> None:
    monitor = monitor_of(planner)
    [first] = planner.rounds.start_due()
    planner.run_once()
    planner.finish(monitor)
    planner.clock.pass_(hours=1)
    [second] = planner.rounds.start_due()
    one, two = ({p.id for p in probes_of(run, SUITE, NOON)} for run in (first, second))
    assert len(one) == len(two) == 20
    assert not one & two
    assert {p.purpose for p in probes_of(first, SUITE, NOON)} == {Purpose.MONITOR}


def test_a_population_draws_each_set_once_and_then_ends(planner: Planner) -> None:
    monitor = monitor_of(planner, claim=Claim.POPULATION, sets_per_round=3)
    drawn: list[str | None] = []
    for _ in range(5):
        for run in planner.rounds.start_due():
            drawn += {probe.set for _, probe in questions_of(run, SUITE)}
            planned(planner.store, planner.plans, run)
            planner.finish(monitor)
        planner.clock.pass_(hours=1)
    assert len(drawn) == len(set(drawn)) == 9
    place = planner.store.schedule.get(monitor.name)
    assert place is not None
    assert place.ended == ("of the suite's 10 sets too few are left that were not asked before")


def test_a_paused_monitor_rests_and_another_cadence_keeps_its_rounds(planner: Planner) -> None:
    monitor = monitor_of(planner)
    planner.run_once()
    planner.finish(monitor)
    fields = {"plan": monitor.plan, "since": NOON}
    planner.rounds.define(make_monitor(moment_ms=2, state=MonitorState.PAUSED, **fields))
    planner.clock.pass_(hours=5)
    assert planner.run_once() == []
    quick = Upkeep(cadence_s=60, most_rounds=2)
    planner.rounds.define(make_monitor(moment_ms=3, upkeep=quick, **fields))
    assert planner.run_once() == [1]
    planner.finish(monitor)
    planner.clock.pass_(minutes=1)
    assert planner.run_once() == []
    place = planner.store.schedule.get(monitor.name)
    assert place is not None
    assert place.ended == "all 2 rounds were run"


def test_what_was_asked_earlier_but_comes_later_is_ignored(planner: Planner) -> None:
    monitor = monitor_of(planner, moment=5)
    planner.rounds.define(make_monitor(moment_ms=4, state=MonitorState.DELETED, plan=monitor.plan))
    assert planner.run_once() == [0]


def test_another_plan_begins_with_round_0(planner: Planner) -> None:
    monitor = monitor_of(planner)
    planner.run_once()
    planner.finish(monitor)
    monitor_of(planner, moment=2, alpha=0.01)
    assert planner.run_once() == [0]


def test_without_its_extractor_a_round_waits_and_then_begins(planner: Planner) -> None:
    monitor = make_monitor(plan=make_plan(suite_hash=SUITE.hash), since=NOON)
    planner.rounds.define(monitor)
    planner.clock.pass_(days=800)
    assert planner.run_once() == []
    planner.store.extractors.announce(ExtractorStatus("words", "2", ("words",), planner.clock()))
    [run] = planner.rounds.start_due()
    assert [pin.version for pin in run.extractors] == ["2"]
