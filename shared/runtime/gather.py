"""Waiting for several records: arrivals are noted, each closing is emitted once."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from shared.bus.port import Publisher
from shared.contracts import Record
from shared.errors import BackPressureError, TransientError
from shared.runtime.blocking import in_thread
from shared.store import Closing, Gathers
from shared.telemetry import log

OnClose = Callable[[Closing], Sequence[Record]]


class Gather:
    """The one mechanism with which a stage waits: for a run, a pair, a rubric, a round."""

    def __init__(
        self,
        gathers: Gathers,
        on_close: OnClose,
        *,
        now: Callable[[], datetime],
        look_every_s: float = 1.0,
    ) -> None:
        self._gathers = gathers
        self._on_close = on_close
        self._now = now
        self._look_every_s = look_every_s
        self._look = asyncio.Event()

    async def expect(
        self,
        key: str,
        ids: Iterable[str],
        *,
        deadline: datetime,
        context: Mapping[str, JsonValue] | None = None,
        already: Iterable[str] = (),
    ) -> bool:
        """Begin to wait, before anything asks for the records; see `Gathers.expect`."""
        begun = await in_thread(
            self._gathers.expect,
            key,
            ids,
            deadline=deadline,
            now=self._now(),
            context=context,
            already=already,
        )
        self._look.set()
        return begun

    async def arrive(self, ids: Iterable[str]) -> None:
        """Note arrivals; what they complete is emitted by the job, not by the caller."""
        await in_thread(self._gathers.arrive, ids, self._now())
        self._look.set()

    async def cancel(self, key: str) -> bool:
        """Close now, with what is there."""
        closed = await in_thread(self._gathers.cancel, key, self._now())
        self._look.set()
        return closed

    def wake(self) -> None:
        """Have the job look for closings at once."""
        self._look.set()

    async def emit(self, publisher: Publisher) -> None:
        """Be the service's job: close what is overdue, emit what is closed, for ever."""
        while True:
            try:
                await self._emit_due(publisher)
            except TransientError as error:
                log("gather").warning("closings wait to be emitted", why=str(error))
            try:
                async with asyncio.timeout(self._look_every_s):
                    await self._look.wait()
            except TimeoutError:
                continue
            self._look.clear()

    async def _emit_due(self, publisher: Publisher) -> None:
        await in_thread(self._gathers.expire, self._now())
        for closing in await in_thread(self._gathers.due):
            # In a thread: what a closing becomes may have to be read from the store.
            for record in await in_thread(self._on_close, closing):
                await publisher.publish(record)
            await in_thread(self._gathers.emitted, closing.key, self._now())


BACK_PRESSURE_S = 0.5
Waiting = Callable[[], Mapping[str, set[str]]]
"""Returns the ids that are waited for, by run; it blocks."""
Remedy = Callable[[str, set[str]], Sequence[Record]]
"""Returns what brings the missing ids of one run about; it blocks."""


class Reconciliation:
    """Looks every while; a run whose missing records are as many as before is stuck."""

    def __init__(self, waiting: Waiting, remedy: Remedy, *, now: Callable[[], datetime]) -> None:
        self._waiting = waiting
        self._remedy = remedy
        self._now = now
        self._before: dict[str, int] = {}

    async def keep_on(self, publisher: Publisher, every_s: float) -> None:
        """Be the service's job: look, and publish again, for ever."""
        while True:
            await asyncio.sleep(every_s)
            try:
                for record in await in_thread(self.stuck):
                    await self._publish(publisher, record)
            except TransientError as error:
                log("reconciliation").warning("nothing is repaired for now", why=str(error))

    def stuck(self) -> list[Record]:
        """Return what must be published again for runs without news since the last look."""
        missing = self._waiting()
        before, self._before = self._before, {run: len(ids) for run, ids in missing.items()}
        return [
            record
            for run, ids in missing.items()
            if before.get(run) == len(ids)
            for record in self._remedy(run, ids)
        ]

    async def _publish(self, publisher: Publisher, record: Record) -> None:
        # Another publication: under its old number it would be swallowed as a duplicate.
        while True:
            try:
                await publisher.publish(record, publication=int(self._now().timestamp()))
            except BackPressureError:
                await asyncio.sleep(BACK_PRESSURE_S)
            else:
                return
