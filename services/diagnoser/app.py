"""The diagnoser: its stages and jobs."""

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

from biaswatch.services.diagnoser.handlers import (
    CloseRounds,
    CompletionsInTurn,
    DiagnoseRun,
    MonitorMetrics,
    OnCompletion,
)
from biaswatch.services.diagnoser.handlers.labels import (
    LINGER_S,
    MAX_LABELS_PER_BATCH,
    CorrectByLabels,
    LostCorrections,
)
from biaswatch.services.diagnoser.settings import DiagnoserSettings
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Completion, Label
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store

MAX_WAITING_COMPLETIONS = 500
"""How many completions may be queued in this process; each takes little memory."""
MAX_DIAGNOSIS_S = 3600.0
"""A longer diagnosis counts as stuck: the largest runs take minutes."""


def build(settings: DiagnoserSettings, clock: Callable[[], datetime] = now) -> Service:
    """Return the diagnoser; its records get their times from the clock."""
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    plan = AnalysisPlan(alpha=settings.diagnoser_alpha, tolerance=settings.diagnoser_tolerance)
    diagnose = DiagnoseRun(store, now=clock, plan=plan)
    correct = CorrectByLabels(store, now=clock, plan=plan)
    complete = OnCompletion(store, diagnose, CloseRounds(store, now=clock), now=clock)
    lost = LostCorrections(store, correct, now=clock)
    gauges = MonitorMetrics(store)

    stages: list[Stage[Any]] = [
        Stage(
            "diagnoser",
            Completion,
            CompletionsInTurn(complete, complete.is_round),
            slots=MAX_WAITING_COMPLETIONS,
            stuck_after_s=MAX_DIAGNOSIS_S,
        ),
        # One at a time, so that the last correction of a run covers the most labels.
        Stage("diagnoser", Label, correct, slots=1, batch=MAX_LABELS_PER_BATCH, linger_s=LINGER_S),
    ]
    jobs = [
        Job(gauges.show, "show monitors as metrics", every_s=settings.diagnoser_gauge_s),
        Job(lost.run_once, "restore lost corrections", every_s=settings.diagnoser_reconcile_s),
    ]
    return Service(
        "diagnoser",
        settings,
        stages=stages,
        jobs=jobs,
        check_store=store.check_available,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(DiagnoserSettings, build))
