"""Publishing again what the bus may have lost, without one lane waiting for another."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from shared.bus.port import Publisher
from shared.contracts import Record
from shared.errors import BackPressureError, PoisonError, TransientError
from shared.runtime.blocking import in_thread
from shared.telemetry import log

BACK_PRESSURE_S = 0.5


class Republication:
    """Looks at times for what is to be published again, and publishes it as lanes have room."""

    def __init__(
        self, find: Callable[[], Sequence[Record]], *, now: Callable[[], datetime]
    ) -> None:
        self._find = find
        self._now = now
        self._unsent: dict[str, dict[str, Record]] = {}
        """What waits for room, by lane and id."""

    async def run(self, publisher: Publisher, every_s: float) -> None:
        """Look and publish, for ever: a job of the service."""
        clock = asyncio.get_running_loop().time
        look_at = clock() + every_s
        while True:
            await asyncio.sleep(min(every_s, BACK_PRESSURE_S) if self._unsent else every_s)
            try:
                if clock() >= look_at:
                    look_at = clock() + every_s
                    for record in await in_thread(self._find):
                        self._unsent.setdefault(record.lane, {})[record.id] = record
                for lane in list(self._unsent):
                    await self._publish(publisher, lane)
            except TransientError as error:
                log("reconciliation").warning("no repair now", why=str(error))
                await asyncio.sleep(every_s)

    async def _publish(self, publisher: Publisher, lane: str) -> None:
        """Publish what waits in one lane until it is full: no lane waits for another."""
        unsent = self._unsent[lane]
        while unsent:
            id_, record = next(iter(unsent.items()))
            try:
                # A new publication number: under its old one it would be dropped as a duplicate.
                await publisher.publish(record, publication=int(self._now().timestamp() * 1000))
            except BackPressureError:
                return
            except PoisonError as error:  # it is one record's trouble, and not the service's
                log("reconciliation").error("a record cannot be published", why=str(error))
            unsent.pop(id_)
        del self._unsent[lane]
