"""The planner on a real store: the same plan, what is missing, cancelling and taking up again."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from biaswatch.services.planner.handlers.runs import RunPlanner, completion_of
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Cancellation,
    ClosedBy,
    ExtractorPin,
    Probe,
    Run,
    Suite,
    SuiteProbe,
    expected_of,
    probes_of,
)
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.store import PlannedProbes, Store, migrate
from tests.support.planned import gone_through, planned
from tests.support.records import make_response, make_run, make_target
from tests.support.suite_outlines import outline_of

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SUITE = Suite(
    name="three",
    extractors=("words",),
    probes=tuple(SuiteProbe(key=key, prompt=f"Question {key}?") for key in "abc"),
)


LARGE = Suite(
    name="large",
    extractors=("words",),
    probes=tuple(
        SuiteProbe(key=f"p{n}", set=f"s{n // 2}", groups={"side": "ab"[n % 2]}, prompt=f"Say {n}.")
        for n in range(1206)
    ),
)


class Clock:
    """A clock the test moves."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    migrate(store_url)
    with Store.open(store_url) as store:
        store.suites.keep(SUITE, NOON)
        yield store


@pytest.fixture
def large(store: Store) -> Store:
    store.suites.keep(LARGE, NOON)
    return store


def run_at(at: datetime) -> Run:
    return make_run(
        at=at,
        suite_hash=SUITE.hash,
        targets=(make_target(), make_target(name="replay:other")),
        repeats=2,
        extractors=(ExtractorPin(name="words", version="1"),),
    )


def plan(store: Store, plans: RunPlanner, run: Run) -> list[Probe]:
    return [record for record in planned(store, plans, run) if isinstance(record, Probe)]


def cancellation(run: Run, at: datetime) -> Cancellation:
    return Cancellation(at=at, run_id=run.id, moment_ms=int(at.timestamp() * 1000))


def test_a_plan_asks_every_question_of_every_target_in_every_repeat_with_the_same_ids(
    store: Store,
) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    probes = plan(store, plans, run_at(NOON))
    assert len({probe.id for probe in probes}) == len(probes) == 3 * 2 * 2
    later = probes_of(run_at(NOON), SUITE, NOON + timedelta(hours=3))
    assert {p.id for p in later} == {p.id for p in probes}


def test_only_what_has_no_answer_is_asked_again(store: Store) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    run = run_at(NOON)
    probes = plan(store, plans, run)
    store.records.write([make_response(probe=probe) for probe in probes[:5]])
    asyncio.run(plans.cancel(cancellation(run, NOON + timedelta(seconds=1))))
    again = plan(store, plans, run_at(NOON + timedelta(seconds=2)))
    assert [p.id for p in again] == [p.id for p in probes[5:]]


def test_a_run_from_before_ids_were_in_order_goes_on_with_the_ids_it_began_with(
    store: Store,
) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    run = run_at(NOON)
    probes = plan(store, plans, run)
    store.records.write([make_response(probe=probe) for probe in probes[:5]])
    asyncio.run(plans.cancel(cancellation(run, NOON + timedelta(seconds=1))))
    started_again = run_at(NOON + timedelta(seconds=2)).model_copy(update={"ids_in_order": True})
    assert started_again.id == run.id
    upgraded = RunPlanner(store, now=Clock(), deadline_s=60)
    again = plan(store, upgraded, started_again)
    assert [p.id for p in again] == [p.id for p in probes[5:]]


def test_ids_in_order_are_in_the_order_of_what_is_asked(large: Store) -> None:
    run = make_run(at=NOON, suite_hash=LARGE.hash, ids_in_order=True)
    probes = plan(large, RunPlanner(large, now=Clock(), deadline_s=60), run)
    assert len(probes) == len(LARGE.probes)
    assert [p.id for p in probes] == sorted(p.id for p in probes)
    assert [p.id for p in probes] == [p.id for p in probes_of(run, LARGE, NOON)]
    waited_for = large.gathers(RUN_GATHER).waiting_for(run.id)
    assert set(waited_for) == expected_of(run, probes).keys()


def test_a_run_whose_message_comes_again_is_gone_through_once(store: Store) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    assert plan(store, plans, run_at(NOON))
    assert plan(store, plans, run_at(NOON)) == []


def test_a_planner_that_dies_within_a_part_publishes_that_part_again_and_loses_nothing(
    large: Store,
) -> None:
    run = make_run(at=NOON, suite_hash=LARGE.hash)
    first = RunPlanner(large, now=Clock(), deadline_s=60)
    asyncio.run(first.plan(run))
    [cursor] = large.planning_cursors.unfinished()
    begun = first.planning.prepare(cursor)
    first.planning.settle(cursor, begun)
    [cursor] = large.planning_cursors.unfinished()
    lost = first.planning.prepare(cursor)  # it dies before the part is settled
    assert begun is not None
    assert lost is not None
    rest = gone_through(large, RunPlanner(large, now=Clock(), deadline_s=60))
    assert {record.id for record in lost.records} <= {item.id for item in rest}
    ids = [item.id for item in (*begun.records, *rest)]
    assert len(ids) == len(set(ids)) == len(LARGE.probes)
    state = large.gathers(RUN_GATHER).state(run.id)
    assert state is not None
    assert state.expected == len(LARGE.probes)
    assert len(large.gathers(RUN_GATHER).waiting_for(run.id)) == len(LARGE.probes)


def test_two_planners_that_move_the_same_pass_end_it_once(large: Store) -> None:
    run = make_run(at=NOON, suite_hash=LARGE.hash)
    one, two = (RunPlanner(large, now=Clock(), deadline_s=60) for _ in range(2))
    asyncio.run(one.plan(run))
    asyncio.run(two.plan(run))
    published: set[str] = set()
    while cursors := large.planning_cursors.unfinished():
        parts = [(plans, plans.planning.prepare(cursors[0])) for plans in (one, two)]
        for plans, part in parts:
            assert part is not None
            published |= {record.id for record in part.records}
            plans.planning.settle(cursors[0], part)
    assert len(published) == len(LARGE.probes)
    assert len(large.gathers(RUN_GATHER).waiting_for(run.id)) == len(LARGE.probes)


def test_a_stored_suite_has_the_same_probes_in_the_same_order_from_any_of_them_on(
    large: Store,
) -> None:
    run = make_run(
        at=NOON,
        suite_hash=LARGE.hash,
        targets=(make_target(), make_target(name="replay:other")),
        scaffolds=("direct", "chain_of_thought"),
        repeats=2,
    )
    outline = large.suites.outline(LARGE.hash)
    assert outline == outline_of(LARGE)
    planned_probes = PlannedProbes(large.suites, outline, run)
    whole = [probe.id for probe in probes_of(run, LARGE, NOON)]
    assert planned_probes.amount(2) == len(whole)
    for first in (0, 1, 499, 500, len(LARGE.probes), len(whole) - 1, len(whole)):
        ids = [probe.id for probe in planned_probes.read(NOON, first=first)]
        assert ids == whole[first:]
    assert tuple(large.suites.every_probe(outline)) == LARGE.probes


@pytest.mark.parametrize("most", [1, 4, 500, 5000])
def test_the_ends_of_a_plan_are_its_first_and_last_questions_each_once(
    large: Store, most: int
) -> None:
    outline = outline_of(LARGE)
    drawn = make_run(at=NOON, suite_hash=LARGE.hash, sets=3, round=1, monitor_id="a" * 32)
    for run in (make_run(at=NOON, suite_hash=LARGE.hash), drawn):
        questions = list(PlannedProbes(large.suites, outline, run).items())
        ends = PlannedProbes(large.suites, outline, run).ends(most)
        assert ends == [
            question
            for n, question in enumerate(questions)
            if n < most or n >= len(questions) - most
        ]


def test_a_round_asks_the_sets_that_fall_to_it_also_where_the_suite_is_not_read_whole(
    large: Store,
) -> None:
    run = make_run(at=NOON, suite_hash=LARGE.hash, sets=300, round=1, monitor_id="a" * 32)
    outline = large.suites.outline(LARGE.hash)
    assert outline is not None
    ids = [probe.id for probe in PlannedProbes(large.suites, outline, run).read(NOON)]
    assert ids == [probe.id for probe in probes_of(run, LARGE, NOON)]
    assert len(ids) == 600


def test_a_cancelled_run_closes_with_what_is_there_and_can_be_taken_up_again(store: Store) -> None:
    clock = Clock()
    plans = RunPlanner(store, now=clock, deadline_s=60)
    run = run_at(NOON)
    probes = plan(store, plans, run)
    ids = list(expected_of(run, probes))
    store.gathers(RUN_GATHER).arrive(ids[:2], NOON)
    clock.time = NOON + timedelta(seconds=5)
    asyncio.run(plans.cancel(cancellation(run, clock.time)))
    [closing] = store.gathers(RUN_GATHER).due()
    [completion] = completion_of(closing)
    assert (completion.closed_by, completion.arrived) == (ClosedBy.CANCELLATION, 2)
    again = run_at(NOON + timedelta(seconds=9))
    assert again.id == run.id
    assert len(plan(store, plans, again)) == len(probes)
    state = store.gathers(RUN_GATHER).state(run.id)
    assert state
    assert (state.closed_by, state.opening) == (None, 1)


def test_a_start_that_was_cancelled_before_it_was_planned_asks_nothing(store: Store) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    run = run_at(NOON)
    asyncio.run(plans.cancel(cancellation(run, NOON + timedelta(seconds=1))))
    assert plan(store, plans, run) == []


def test_a_suite_that_is_not_there_is_said(store: Store) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    with pytest.raises(PoisonError, match=r"is not in the store\. Upload it"):
        plan(store, plans, make_run(suite_hash="f" * 32))


def test_probes_of_a_plan_need_no_store() -> None:
    run = run_at(NOON)
    probes = list(probes_of(run, SUITE, NOON))
    assert {probe.unit_id for probe in probes} == {"a", "b", "c"}
    assert all(probe.measure == ("words",) for probe in probes)
