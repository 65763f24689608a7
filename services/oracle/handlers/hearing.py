"""Replies of judges are noted; what nobody has answered is asked again, or given up."""

from collections.abc import Callable, Sequence
from datetime import datetime

from services.oracle.domain import is_mine
from services.oracle.handlers.asking import GATHER, Asking
from shared.contracts import Cancellation, Record, Response, Run, response_id_of
from shared.runtime.blocking import in_thread
from shared.runtime.gather import Gather, Reconciliation
from shared.store import Store
from shared.telemetry import log


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
        self.reconciliation = Reconciliation(self._missing, self._remedy, now=now)

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

    def _missing(self) -> dict[str, set[str]]:
        missing: dict[str, set[str]] = {}
        for key in self._gathers.open_keys():
            missing.setdefault(key.partition("/")[0], set()).update(self._gathers.waiting_for(key))
        return missing

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
