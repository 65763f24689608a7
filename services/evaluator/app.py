"""The evaluator's composition root."""

import sys
from datetime import UTC, datetime
from typing import Any

from services.evaluator.handlers.evaluating import EvaluateBriefs
from services.evaluator.handlers.rubric_files import load_rubric
from services.evaluator.settings import EvaluatorSettings
from shared.bus.stage import Stage
from shared.contracts import Brief, Response
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store


def build(settings: EvaluatorSettings) -> Service:
    """Return the evaluator on the store its settings name."""
    known = load_rubric(settings.evaluator_rubric_folder, settings.evaluator_profile_folder)
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    evaluating = EvaluateBriefs(
        store, known, now=lambda: datetime.now(UTC), deadline_s=settings.evaluator_deadline_s
    )
    stages: list[Stage[Any]] = [
        Stage("evaluator", Brief, evaluating.begin, slots=2),
        Stage("evaluator", Response, evaluating.note, slots=settings.evaluator_slots),
    ]

    return Service(
        "evaluator",
        settings,
        stages=stages,
        jobs=evaluating.jobs(settings.evaluator_reconcile_s),
        probe_store=store.probe,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(EvaluatorSettings, build))
