"""The oracle's composition root."""

import sys
from datetime import UTC, datetime
from typing import Any

from services.oracle.handlers.judging import JudgeRuns
from services.oracle.settings import OracleSettings
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Cancellation, Completion, Response
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store

LINGER_S = 0.05
"""Replies are noted in one transaction for all that are there; a pair closes this much later."""


def build(settings: OracleSettings) -> Service:
    """Return the oracle on the store its settings name."""
    store = Store.open(settings.store)
    judging = JudgeRuns(store, now=lambda: datetime.now(UTC), deadline_s=settings.oracle_deadline_s)

    async def reconcile(publisher: Publisher) -> None:
        await judging.reconciliation.run(publisher, settings.oracle_reconcile_s)

    async def follow_up(publisher: Publisher) -> None:
        await judging.follow_up.run(publisher, settings.oracle_reconcile_s)

    stages: list[Stage[Any]] = [
        Stage("oracle", Completion, judging.begin, slots=1),
        Stage("oracle", Cancellation, judging.cancel, slots=1),
        Stage("oracle", Response, judging.note, slots=1, batch=256, linger_s=LINGER_S),
    ]
    jobs = [judging.questions.gather.emit, judging.passes.run, reconcile, follow_up]
    return Service("oracle", settings, stages=stages, jobs=jobs, close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(OracleSettings, build))
