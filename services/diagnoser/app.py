"""The diagnoser's composition root."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from services.diagnoser.domain.findings import AnalysisPlan
from services.diagnoser.handlers import (
    CloseRounds,
    DiagnoseRun,
    MonitorMetrics,
    OnCompletion,
    PostAlarm,
)
from services.diagnoser.handlers.alarm_postings import AlarmPostings, PostOnce
from services.diagnoser.settings import DiagnoserSettings
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Alarm, Completion
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build(settings: DiagnoserSettings, clock: Callable[[], datetime] = now) -> Service:
    """Return the diagnoser on the store its settings name; the clock dates what it makes."""
    store = Store.open(settings.store)
    plan = AnalysisPlan(alpha=settings.diagnoser_alpha, tolerance=settings.diagnoser_tolerance)
    diagnose = DiagnoseRun(store, now=clock, plan=plan)
    complete = OnCompletion(store, diagnose, CloseRounds(store, now=clock))
    tell = PostAlarm(settings.diagnoser_private_hosts, settings.diagnoser_dashboard_url, now=clock)
    postings = AlarmPostings(store, now=clock)
    gauges = MonitorMetrics(store)

    async def show(publisher: Publisher) -> None:
        await gauges.show(publisher, settings.diagnoser_gauge_s)

    async def post_again(publisher: Publisher) -> None:
        await postings.follow_up.run(publisher, settings.diagnoser_reconcile_s)

    stages: list[Stage[Any]] = [
        # One at a time: the rounds of a monitor are added up in their order.
        Stage("diagnoser", Completion, complete, slots=1),
        Stage("diagnoser", Alarm, PostOnce(tell, postings), slots=4),
    ]
    return Service(
        "diagnoser", settings, stages=stages, jobs=[show, post_again], close=[store.close]
    )


if __name__ == "__main__":
    sys.exit(serve(DiagnoserSettings, build))
