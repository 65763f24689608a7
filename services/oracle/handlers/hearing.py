"""Replies of judges are noted; what nobody has answered is asked again, or given up."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from services.oracle.domain import is_mine
from services.oracle.handlers.asking import GATHER, Asking
from shared.bus.port import Publisher
from shared.contracts import Cancellation, Record, Response, Run, response_id_of
from shared.errors import BackPressureError
from shared.runtime.gather import Gather
from shared.runtime.threads import in_thread
from shared.store import Store
from shared.telemetry import log

BACK_PRESSURE_S = 0.5


class Hearing:
    """What the oracle hears; all it knows is in the store."""

    def __init__(
        self, store: Store, gather: Gather, asking: Asking, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._gathers = store.gathers(GATHER)
        self._gather = gather
        self._asking = asking
        self._now = now
        self._waiting: dict[str, int] = {}

    async def note(self, batch: Sequence[Response]) -> Sequence[Record]:
        """Keep the replies to the oracle's own questions, so that whoever closes finds them."""
        mine = [response for response in batch if is_mine(response.probe)]
        if mine:
            await in_thread(self._store.records.write, mine)
            await self._gather.arrive([response.id for response in mine])
        return ()

    async def cancel(self, cancellation: Cancellation) -> Sequence[Record]:
        """Wait no more for the judges of a run: its pairs close with what is there."""
        for key in await in_thread(self._gathers.open_keys):
            if key.startswith(f"{cancellation.run_id}/"):
                await self._gather.cancel(key)
        return ()

    async def reconcile(self, publisher: Publisher, every_s: float) -> None:
        """Be the service's job: where no reply has come for a while, ask again what is missing.

        The bus acknowledges before it has synced to disk, so a record may be lost with the power.
        """
        while True:
            await asyncio.sleep(every_s)
            for record in await in_thread(self._stuck):
                await self._republish(publisher, record)

    async def _republish(self, publisher: Publisher, record: Record) -> None:
        while True:
            try:
                await publisher.publish(record, publication=int(self._now().timestamp()))
            except BackPressureError:
                await asyncio.sleep(BACK_PRESSURE_S)
            else:
                return

    def _stuck(self) -> list[Record]:
        """Give the questions of runs of which nothing came since the last look."""
        before, self._waiting = self._waiting, {}
        missing: dict[str, set[str]] = {}
        for key in self._gathers.open_keys():
            missing.setdefault(key.partition("/")[0], set()).update(self._gathers.waiting_for(key))
        self._waiting = {run_id: len(ids) for run_id, ids in missing.items()}
        return [
            record
            for run_id, ids in missing.items()
            if before.get(run_id) == len(ids)
            for record in self._remedy(run_id, ids)
        ]

    def _remedy(self, run_id: str, ids: set[str]) -> list[Record]:
        arrived = ids - self._store.records.missing(Response, ids)
        if arrived:  # the replies are there; only the news of them was lost
            self._gathers.arrive(arrived, self._now())
        [run] = self._store.records.get(Run, [run_id])
        _, waits = self._asking.questions(run)
        wanted = ids - arrived
        found = [p for wait in waits for _, p in wait.asked if response_id_of(p) in wanted]
        log("oracle").warning("judges are silent: asking again", run=run_id, questions=len(found))
        return list(found)
