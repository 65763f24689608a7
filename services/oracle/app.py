"""The oracle's composition root."""

import sys
from datetime import UTC, datetime
from typing import Any

from services.oracle.handlers import GATHER, Asking, Closings, Hearing
from services.oracle.settings import OracleSettings
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Cancellation, Completion, Response
from shared.runtime.gather import Gather
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store

LINGER_S = 0.05
"""Replies are noted in one transaction for all that are there; a pair closes this much later."""


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build(settings: OracleSettings) -> Service:
    """Return the oracle on the store its settings name."""
    store = Store.open(settings.store)
    asking = Asking(store, now=now, deadline_s=settings.oracle_deadline_s)
    gather = Gather(store.gathers(GATHER), Closings(store), now=now)
    hearing = Hearing(store, gather, asking, now=now)

    async def reconcile(publisher: Publisher) -> None:
        await hearing.reconciliation.keep_on(publisher, settings.oracle_reconcile_s)

    stages: list[Stage[Any]] = [
        Stage("oracle", Completion, asking, slots=1),
        Stage("oracle", Cancellation, hearing.cancel, slots=1),
        Stage("oracle", Response, hearing.note, slots=1, batch=256, linger_s=LINGER_S),
    ]
    jobs = [gather.emit, reconcile]
    return Service("oracle", settings, stages=stages, jobs=jobs, close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(OracleSettings, build))
