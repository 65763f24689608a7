"""The evaluator's composition root."""

import sys
from typing import Any

from biaswatch.services.evaluator.handlers.evaluating import EvaluateBriefs
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.services.evaluator.settings import EvaluatorSettings
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Brief, Response
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store


def build(settings: EvaluatorSettings) -> Service:
    """Return the evaluator on the store its settings name."""
    known = load_rubric(settings.evaluator_rubric_folder, settings.evaluator_profile_folder)
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    evaluating = EvaluateBriefs(store, known, now=now, deadline_s=settings.evaluator_deadline_s)
    stages: list[Stage[Any]] = [
        Stage("evaluator", Brief, evaluating.begin, slots=2),
        Stage("evaluator", Response, evaluating.note, slots=settings.evaluator_slots),
    ]

    return Service(
        "evaluator",
        settings,
        stages=stages,
        jobs=evaluating.jobs(settings.evaluator_reconcile_s),
        check_store=store.check_available,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(EvaluatorSettings, build))
