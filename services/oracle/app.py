"""The oracle's composition root."""

import sys
from typing import Any

from biaswatch.services.oracle.handlers.judging import JudgeRuns
from biaswatch.services.oracle.settings import OracleSettings
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Cancellation, Completion, Response
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store

LINGER_S = 0.05
"""Time to collect replies into one transaction; it delays the closing of a pair."""


def build(settings: OracleSettings) -> Service:
    """Return the oracle service."""
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    judging = JudgeRuns(store, now=now, deadline_s=settings.oracle_deadline_s)

    stages: list[Stage[Any]] = [
        Stage("oracle", Completion, judging.begin, slots=1),
        Stage("oracle", Cancellation, judging.cancel, slots=1),
        Stage("oracle", Response, judging.note, slots=1, batch=256, linger_s=LINGER_S),
    ]
    every_s = settings.oracle_reconcile_s
    jobs = [judging.questions.gather.job, judging.passes.job, *judging.outbox_jobs(every_s)]
    return Service(
        "oracle",
        settings,
        stages=stages,
        jobs=jobs,
        check_store=store.check_available,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(OracleSettings, build))
