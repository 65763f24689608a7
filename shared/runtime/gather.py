"""Waiting for several records: arrivals are noted, each closing is emitted once."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from pydantic import JsonValue

from shared.bus.port import Publisher
from shared.contracts import Record
from shared.errors import TransientError
from shared.runtime.blocking import in_thread
from shared.runtime.republication import Republication
from shared.store import Closing, Gathers
from shared.telemetry import log

OnClose = Callable[[Closing], Sequence[Record]]


class Gather:
    """Waits for the records of a run, a pair, a rubric or a round.

    The state is in the store, so a process may end at any moment: arrivals are keyed, a closing is
    frozen in the transaction that closes it, and it stays due until its records are on the bus. If
    two processes emit a closing, its records have the same ids.
    """

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
        """Start to wait, before anything asks for the records; see `Gathers.expect`."""
        started = await in_thread(
            self._gathers.expect,
            key,
            ids,
            deadline=deadline,
            now=self._now(),
            context=context,
            already=already,
        )
        self._look.set()
        return started

    async def arrive(self, ids: Iterable[str]) -> None:
        """Note arrivals; the job emits what they complete."""
        await in_thread(self._gathers.arrive, ids, self._now())
        self._look.set()

    async def cancel(self, key: str) -> bool:
        """Close now, with what has arrived."""
        closed = await in_thread(self._gathers.cancel, key, self._now())
        self._look.set()
        return closed

    def wake(self) -> None:
        """Have the job look for closings at once."""
        self._look.set()

    async def emit(self, publisher: Publisher) -> None:
        """Close what is overdue and emit what is closed, for ever: a job of the service."""
        while True:
            try:
                await self._emit_due(publisher)
            except TransientError as error:
                log("gather").warning("closings cannot be emitted now", why=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(self._look_every_s):
                    await self._look.wait()
                self._look.clear()

    async def _emit_due(self, publisher: Publisher) -> None:
        await in_thread(self._gathers.expire, self._now())
        for closing in await in_thread(self._gathers.due):
            # In a thread: it may read from the store.
            for record in await in_thread(self._on_close, closing):
                await publisher.publish(record)
            await in_thread(self._gathers.emitted, closing.key, self._now())


Waiting = Callable[[], Mapping[str, set[str]]]
"""Return the missing ids by run; it blocks."""
Remedy = Callable[[str, set[str]], Sequence[Record]]
"""Return the records that lead to the missing ids of one run; it blocks."""


class Reconciliation:
    """Publishes again what a stage waits for, where nothing has arrived since the last look.

    The bus acknowledges before it has synced to disk, so a power cut may lose a record.
    """

    def __init__(self, waiting: Waiting, remedy: Remedy, *, now: Callable[[], datetime]) -> None:
        self._waiting = waiting
        self._remedy = remedy
        self._now = now
        self._before: dict[str, int] = {}

    async def run(self, publisher: Publisher, every_s: float) -> None:
        """Look for stuck runs and publish again, for ever: a job of the service."""
        await Republication(self.stuck, now=self._now).run(publisher, every_s)

    def stuck(self) -> list[Record]:
        """Return what to publish again for runs that miss as many records as at the last look."""
        missing = self._waiting()
        before, self._before = self._before, {run: len(ids) for run, ids in missing.items()}
        return [
            record
            for run, ids in missing.items()
            if before.get(run) == len(ids)
            for record in self._remedy(run, ids)
        ]
