"""Publishing again what a stage waits for, where nothing of it has come for a while.

The bus acknowledges before it has synced to disk, so a record may be lost with the power.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from shared.bus.port import Publisher
from shared.contracts import Record
from shared.errors import BackPressureError, TransientError
from shared.runtime.threads import in_thread
from shared.telemetry import log

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
