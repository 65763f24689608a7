"""The evaluator's composition root."""

import sys
from datetime import UTC, datetime
from typing import Any

from services.evaluator.handlers.evaluating import EvaluateBriefs
from services.evaluator.handlers.rubric_files import load_rubric
from services.evaluator.settings import EvaluatorSettings
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Brief, Response
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store


def build(settings: EvaluatorSettings) -> Service:
    """Return the evaluator on the store its settings name."""
    known = load_rubric(settings.evaluator_rubric_folder, settings.evaluator_profile_folder)
    store = Store.open(settings.store)
    evaluating = EvaluateBriefs(
        store, known, now=lambda: datetime.now(UTC), deadline_s=settings.evaluator_deadline_s
    )
    stages: list[Stage[Any]] = [
        Stage("evaluator", Brief, evaluating.begin, slots=2),
        Stage("evaluator", Response, evaluating.note, slots=settings.evaluator_slots),
    ]

    async def reconcile(publisher: Publisher) -> None:
        await evaluating.reconciliation.run(publisher, settings.evaluator_reconcile_s)

    async def follow_up(publisher: Publisher) -> None:
        await evaluating.follow_up.run(publisher, settings.evaluator_reconcile_s)

    async def begin_forgotten(publisher: Publisher) -> None:
        await evaluating.begin_forgotten(publisher, settings.evaluator_reconcile_s)

    jobs = [evaluating.questions.gather.emit, reconcile, follow_up, begin_forgotten]
    return Service("evaluator", settings, stages=stages, jobs=jobs, close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(EvaluatorSettings, build))
