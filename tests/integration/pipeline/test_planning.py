"""The planner on a real store: the same plan, what is missing, cancelling and taking up again."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from services.planner.runs import RunPlanner, completion_of
from shared.contracts import (
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
from shared.errors import PoisonError
from shared.store import Store, migrate
from tests.support.records import make_response, make_run, make_target

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SUITE = Suite(
    name="three",
    extractors=("words",),
    probes=tuple(SuiteProbe(key=key, prompt=f"Question {key}?") for key in "abc"),
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


def run_at(at: datetime) -> Run:
    return make_run(
        at=at,
        suite_hash=SUITE.hash,
        targets=(make_target(), make_target(name="replay:other")),
        repeats=2,
        extractors=(ExtractorPin(name="words", version="1"),),
    )


def plan(plans: RunPlanner, run: Run) -> list[Probe]:
    return [record for record in asyncio.run(plans.plan(run)) if isinstance(record, Probe)]


def cancellation(run: Run, at: datetime) -> Cancellation:
    return Cancellation(at=at, run_id=run.id, moment_ms=int(at.timestamp() * 1000))


def test_a_plan_asks_every_question_of_every_target_in_every_repeat_with_the_same_ids(
    store: Store,
) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    probes = plan(plans, run_at(NOON))
    assert len({probe.id for probe in probes}) == len(probes) == 3 * 2 * 2
    later = RunPlanner(store, now=lambda: NOON + timedelta(hours=3), deadline_s=60)
    assert {p.id for p in plan(later, run_at(NOON))} == {p.id for p in probes}


def test_only_what_has_no_answer_is_asked_again(store: Store) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    probes = plan(plans, run_at(NOON))
    store.records.write([make_response(probe=probe) for probe in probes[:5]])
    assert [p.id for p in plan(plans, run_at(NOON))] == [p.id for p in probes[5:]]


def test_a_cancelled_run_closes_with_what_is_there_and_can_be_taken_up_again(store: Store) -> None:
    clock = Clock()
    plans = RunPlanner(store, now=clock, deadline_s=60)
    run = run_at(NOON)
    probes = plan(plans, run)
    ids = list(expected_of(run, probes))
    store.gathers(RUN_GATHER).arrive(ids[:2], NOON)
    clock.time = NOON + timedelta(seconds=5)
    asyncio.run(plans.cancel(cancellation(run, clock.time)))
    [closing] = store.gathers(RUN_GATHER).due()
    [completion] = completion_of(closing)
    assert (completion.closed_by, completion.arrived) == (ClosedBy.CANCELLATION, 2)
    again = run_at(NOON + timedelta(seconds=9))
    assert again.id == run.id
    assert len(plan(plans, again)) == len(probes)
    state = store.gathers(RUN_GATHER).look(run.id)
    assert state
    assert (state.closed_by, state.opening) == (None, 1)


def test_a_start_that_was_cancelled_before_it_was_planned_asks_nothing(store: Store) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    run = run_at(NOON)
    asyncio.run(plans.cancel(cancellation(run, NOON + timedelta(seconds=1))))
    assert plan(plans, run) == []


def test_a_suite_that_is_not_there_is_said(store: Store) -> None:
    plans = RunPlanner(store, now=Clock(), deadline_s=60)
    with pytest.raises(PoisonError, match=r"is not in the store\. Upload it"):
        plan(plans, make_run(suite_hash="f" * 32))


def test_probes_of_a_plan_need_no_store() -> None:
    run = run_at(NOON)
    probes = list(probes_of(run, SUITE, NOON))
    assert {probe.unit_id for probe in probes} == {"a", "b", "c"}
    assert all(probe.measure == ("words",) for probe in probes)
