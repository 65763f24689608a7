"""Gather on the real bus and both stores: what closes is emitted, once, whoever dies."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import ClosedBy, Completion, Record, Response, derived_id
from biaswatch.shared.errors import BiaswatchError, TransientError
from biaswatch.shared.runtime.gather import Gather
from biaswatch.shared.store import Closing, Store
from tests.support.bus import ProvisionedBus, ReceivedRecords
from tests.support.jobs import repeated
from tests.support.records import AT, RUN_ID, make_response
from tests.support.waiting import eventually

NOW = datetime(2026, 2, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
EXPECTED = [make_response(n).id for n in range(6)]


def completion(closing: Closing) -> Sequence[Record]:
    return [
        Completion(
            at=AT,
            run_id=closing.key,
            stage="responses",
            closed_by=closing.closed_by,
            expected=closing.expected,
            arrived=closing.arrived,
        )
    ]


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def gather_of(store: Store, clock: Clock | None = None) -> Gather:
    return Gather(
        store.gathers("planner-responses"), completion, now=clock or Clock(), look_every_s=0.02
    )


async def ended(job: "asyncio.Task[None]") -> None:
    job.cancel()
    await asyncio.wait([job])


async def test_a_run_is_complete_when_all_its_responses_have_come_over_the_bus(
    bus: ProvisionedBus, store: Store
) -> None:
    gather, seen = gather_of(store), ReceivedRecords()
    await gather.expect(RUN_ID, EXPECTED, deadline=LATER)

    async def note(response: Response) -> Sequence[Record]:
        await gather.arrive([response.id])
        return ()

    bus.work(Stage("planner", Response, note))
    bus.work(Stage("diagnoser", Completion, seen.handle))
    job = repeated(gather.job, bus.publisher)
    for publication in (0, 1):  # everything arrives twice
        for n in range(6):
            await bus.publisher.publish(make_response(n), publication=publication)
    await seen.wait_for(1)
    await bus.settled(Stage("planner", Response, note))
    await ended(job)
    [complete] = seen.records
    assert (complete.expected, complete.arrived) == (6, 6)
    assert complete.closed_by is ClosedBy.ARRIVAL
    assert await bus.count(Completion) == 1


async def test_a_deadline_completes_it_with_what_has_come(
    bus: ProvisionedBus, store: Store
) -> None:
    clock, seen = Clock(), ReceivedRecords()
    gather = gather_of(store, clock)
    await gather.expect(RUN_ID, EXPECTED, deadline=LATER)
    await gather.arrive(EXPECTED[:2])
    bus.work(Stage("diagnoser", Completion, seen.handle))
    job = repeated(gather.job, bus.publisher)
    clock.now = LATER
    await seen.wait_for(1)
    await ended(job)
    assert (seen.records[0].arrived, seen.records[0].closed_by) == (2, ClosedBy.DEADLINE)


class DyingPublisher:
    """Takes the record to the bus and dies before anybody hears of it, once."""

    def __init__(self, bus: ProvisionedBus) -> None:
        self._bus = bus
        self.deaths = 0

    async def publish(self, record: Record, *, publication: int = 0) -> None:
        await self._bus.publisher.publish(record, publication=publication)
        if not self.deaths:
            self.deaths += 1
            raise TransientError("The process died here.")

    async def publish_all(
        self, records: Sequence[Record], *, publication: int | Sequence[int] = 0
    ) -> Sequence[BiaswatchError | None]:
        raise AssertionError("a gather publishes one at a time")

    async def publish_copy(self, *_: object) -> None:
        raise AssertionError("a gather publishes records")


async def test_a_death_between_emitting_and_noting_it_doubles_nothing(
    bus: ProvisionedBus, store: Store
) -> None:
    gather, seen = gather_of(store), ReceivedRecords()
    await gather.expect(RUN_ID, EXPECTED[:1], deadline=LATER)
    await gather.arrive(EXPECTED[:1])
    dying = DyingPublisher(bus)
    bus.work(Stage("diagnoser", Completion, seen.handle))
    job = repeated(gather.job, dying)

    async def emitted() -> bool:
        return not await asyncio.to_thread(store.gathers("planner-responses").due)

    await eventually(emitted)
    await ended(job)
    await seen.wait_for(1)
    assert dying.deaths == 1
    assert await bus.count(Completion) == 1


async def test_a_closing_that_cannot_be_emitted_holds_up_no_other(
    bus: ProvisionedBus, store: Store
) -> None:
    seen, gone = ReceivedRecords(), derived_id("a run that is gone")

    def of_runs_that_are_there(closing: Closing) -> Sequence[Record]:
        if closing.key == gone:
            [_] = list[Record]()  # what its records are made of is not in the store any more
        return completion(closing)

    gather = Gather(
        store.gathers("planner-responses"), of_runs_that_are_there, now=Clock(), look_every_s=0.02
    )
    for key in (gone, RUN_ID):
        await gather.expect(key, [f"of {key}"], deadline=LATER)
        await gather.arrive([f"of {key}"])
    bus.work(Stage("diagnoser", Completion, seen.handle))
    job = repeated(gather.job, bus.publisher)
    await seen.wait_for(1)
    assert not job.done()
    await ended(job)
    assert [record.run_id for record in seen.records] == [RUN_ID]
    assert [item.key for item in store.gathers("planner-responses").due()] == [gone]
