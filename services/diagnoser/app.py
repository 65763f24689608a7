"""The diagnoser's composition root."""

import sys
from datetime import UTC, datetime

from services.diagnoser.domain import Plan
from services.diagnoser.handlers import Complete, Diagnose, Watch
from services.diagnoser.settings import DiagnoserSettings
from shared.bus.stage import Stage
from shared.contracts import Completion
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store


def build(settings: DiagnoserSettings) -> Service:
    """Give the diagnoser on the store its settings name."""
    store = Store.open(settings.store)
    plan = Plan(alpha=settings.diagnoser_alpha, tolerance=settings.diagnoser_tolerance)
    diagnose = Diagnose(store, now=lambda: datetime.now(UTC), plan=plan)
    complete = Complete(store, diagnose, Watch(store, now=lambda: datetime.now(UTC)))
    # One at a time: the rounds of a monitor are added up in their order.
    stage = Stage("diagnoser", Completion, complete, slots=1)
    return Service("diagnoser", settings, stages=[stage], close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(DiagnoserSettings, build))
