"""Publishing again what the bus may have lost, without one lane waiting for another."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import BackPressureError, PoisonError
from biaswatch.shared.lookup import first
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.telemetry import log

BACK_PRESSURE_S = 0.5


class Republication:
    """Looks at times for what is to be published again, and publishes it as lanes have room."""

    def __init__(
        self, find: Callable[[], Sequence[Record]], *, now: Callable[[], datetime], every_s: float
    ) -> None:
        self._find = find
        self._now = now
        self._every_s = every_s
        self._look_at: float | None = None
        self._unsent: dict[str, dict[str, Record]] = {}
        """What waits for room, by lane and id."""

    def job(self, name: str) -> Job[Publisher]:
        """Return the job that looks, and publishes as lanes have room."""
        every_s = min(self._every_s, BACK_PRESSURE_S)
        return Job(self.look, name, every_s=every_s, first_after_s=self._every_s)

    async def look(self, publisher: Publisher) -> None:
        """Look once it is time, and publish what lanes have room for."""
        clock = asyncio.get_running_loop().time
        if self._look_at is None or clock() >= self._look_at:
            for record in await in_thread(self._find):
                self._unsent.setdefault(record.lane, {})[record.id] = record
            self._look_at = clock() + self._every_s
        for lane in list(self._unsent):
            await self._publish(publisher, lane)

    async def _publish(self, publisher: Publisher, lane: str) -> None:
        """Publish what waits in one lane until it is full: no lane waits for another."""
        unsent = self._unsent[lane]
        while unsent:
            id_, record = first(unsent.items(), "Nothing is unsent.")
            try:
                # A new publication number: under its old one it would be dropped as a duplicate.
                await publisher.publish(record, publication=int(self._now().timestamp() * 1000))
            except BackPressureError:
                return
            except PoisonError as error:  # it is one record's trouble, and not the service's
                log("reconciliation").error("a record cannot be published", why=str(error))
            unsent.pop(id_)
        del self._unsent[lane]
