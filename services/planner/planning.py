"""Goes through what runs ask: part by part, each lane by itself, waiting where the bus is full."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from services.planner.planned_parts import PlannedParts
from services.planner.republished import Republished
from shared.bus.port import Publisher
from shared.contracts import RUN_GATHER, Features, Record, Response, Run
from shared.errors import BackPressureError, PoisonError, TransientError
from shared.runtime.blocking import in_thread
from shared.store import PlanningCursor, Store
from shared.telemetry import log

LOOK_S = 1.0
"""How often passes are looked for that another process has begun, or left when it died."""
BACK_PRESSURE_S = 0.5
PUBLISHED_AT_ONCE = 64


@dataclass(frozen=True)
class PreparedPart:
    """A part of a run that is waited for, and what of it is to be published."""

    records: Sequence[Record]
    reached: str | None
    """How far the pass is after it; None at its end."""


class Planning:
    """Moves the passes through runs on; all state is in the store, so any process may end.

    A part is waited for in the store before any of it is on the bus, and the pass is moved on
    after. A death in between repeats the part under the same number, which the bus drops; what the
    bus has forgotten by then has the same ids, and counts once.
    """

    def __init__(
        self,
        store: Store,
        parts: PlannedParts,
        *,
        now: Callable[[], datetime],
        arrived: Callable[[], None],
    ) -> None:
        self._store = store
        self._parts = parts
        self._republished = Republished(store)
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now
        self._arrived = arrived
        self._begun = asyncio.Event()

    def wake(self) -> None:
        """Have the job look for passes at once."""
        self._begun.set()

    async def run(self, publisher: Publisher) -> None:
        """Move every pass on, for ever: a job of the service."""
        working: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                self._begun.clear()
                for lane in await self._lanes():
                    if lane not in working:
                        working[lane] = asyncio.create_task(self._go_through(lane, publisher))
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await self._begun.wait()
                for lane in [lane for lane, task in working.items() if task.done()]:
                    working.pop(lane).result()
        finally:
            for task in working.values():
                task.cancel()
            await asyncio.gather(*working.values(), return_exceptions=True)

    async def _lanes(self) -> list[str]:
        try:
            unfinished = await in_thread(self._store.planning_cursors.unfinished)
        except TransientError as error:
            log("planner").warning("runs wait to be planned", why=str(error))
            return []
        return list(dict.fromkeys(cursor.lane for cursor in unfinished))

    async def _go_through(self, lane: str, publisher: Publisher) -> None:
        """Move the passes of a lane on in turn, until all are at their end."""
        try:
            while mine := await in_thread(self._unfinished, lane):
                for cursor in mine:
                    await self._move(cursor, publisher)
        except TransientError as error:  # the next look goes on
            log("planner").warning("runs wait to be planned", lane=lane, why=str(error))

    def _unfinished(self, lane: str) -> list[PlanningCursor]:
        return [each for each in self._store.planning_cursors.unfinished() if each.lane == lane]

    async def _move(self, cursor: PlanningCursor, publisher: Publisher) -> None:
        part = await in_thread(self.prepare, cursor)
        if part is not None:
            await self._publish(part.records, cursor, publisher)
        await in_thread(self.settle, cursor, part)

    def prepare(self, cursor: PlanningCursor) -> PreparedPart | None:
        """Wait for the next part of a pass; None where nobody waits for the run any more."""
        run = next(self._store.records.get(Run, [cursor.run_id]), None)
        if run is None:
            return None
        try:
            part = self._parts.read(run, cursor.lane, cursor.reached)
        except PoisonError as error:
            log("planner").error("a run cannot be planned", run=cursor.run_id, why=str(error))
            return None
        missing = self._store.records.missing(Features, part.expected)
        there = part.expected.keys() - missing
        if not self._gathers.add(run.id, part.expected, already=there, now=self._now()):
            return None
        unanswered = self._store.records.missing(Response, part.probes)
        if cursor.repair:
            records = self._republished.of(run, part, unmeasured=missing, unanswered=unanswered)
        else:
            records = [probe for id_, probe in part.probes.items() if id_ in unanswered]
        return PreparedPart(records, part.reached)

    def settle(self, cursor: PlanningCursor, part: PreparedPart | None) -> None:
        """Move a pass on, or end it."""
        if part is None or part.reached is None:
            self._store.planning_cursors.end(cursor)
        else:
            self._store.planning_cursors.move(cursor, part.reached)
        self._arrived()  # what was waited for may have been there

    async def _publish(
        self, records: Sequence[Record], cursor: PlanningCursor, publisher: Publisher
    ) -> None:
        """Publish all, waiting for room as long as somebody waits for the run."""
        unsent = list(records)
        while unsent:
            some, rest = unsent[:PUBLISHED_AT_ONCE], unsent[PUBLISHED_AT_ONCE:]
            results = await publisher.publish_all(some, publication=cursor.publication)
            refused = []
            for record, result in zip(some, results, strict=True):
                if isinstance(result, BackPressureError):
                    refused.append(record)
                elif isinstance(result, PoisonError):  # it is one record's trouble
                    log("planner").error("a record cannot be published", why=str(result))
                elif result is not None:
                    raise result
            unsent = [*refused, *rest]
            if refused:
                await asyncio.sleep(BACK_PRESSURE_S)
                state = await in_thread(self._gathers.look, cursor.run_id)
                if state is None or state.closed_by is not None:
                    return
