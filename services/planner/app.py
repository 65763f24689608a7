"""The planner's composition root."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from services.planner.monitor_rounds import RoundScheduler
from services.planner.runs import RunPlanner
from services.planner.settings import PlannerSettings
from shared.bus.jetstream import RecordQueue
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Cancellation, Exchange, Features, Monitor, Run
from shared.runtime.process import serve
from shared.runtime.service import Service, StageHost
from shared.store import Store

LINGER_S = 0.1
"""Arrivals are counted in one transaction for all of them; a run closes this much later."""


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build(settings: PlannerSettings, clock: Callable[[], datetime] = now) -> Service:
    """Return the planner on the store of its settings; a test's clock makes monitors run faster."""
    store = Store.open(settings.store)
    planner = RunPlanner(store, now=clock, deadline_s=settings.planner_deadline_s)
    skew_s = settings.planner_clock_skew_s
    scheduler = RoundScheduler(store, now=clock, wall=now, clock_skew_s=skew_s)

    async def reconcile(_: Publisher) -> None:
        await planner.reconcile(settings.planner_reconcile_s)

    async def follow_up(publisher: Publisher) -> None:
        await planner.follow_up.run(publisher, settings.planner_reconcile_s)

    async def plan_forgotten(publisher: Publisher) -> None:
        await planner.unplanned.run(publisher, settings.planner_reconcile_s)

    async def define_forgotten(_: Publisher) -> None:
        await scheduler.define_forgotten(settings.planner_reconcile_s)

    async def schedule(host: StageHost) -> None:
        intake = RecordQueue(host.connection, Exchange)
        await scheduler.publish_due(host.publisher, intake, settings.planner_look_s)

    stages: list[Stage[Any]] = [
        Stage("planner", Run, planner.plan, slots=2),
        Stage("planner", Cancellation, planner.cancel, slots=1),
        Stage("planner", Features, planner.count_features, slots=1, batch=500, linger_s=LINGER_S),
        Stage("planner", Monitor, scheduler.define, slots=1),
    ]
    jobs = [
        planner.gather.emit,
        planner.planning.passes.run,
        reconcile,
        follow_up,
        plan_forgotten,
        define_forgotten,
    ]
    return Service(
        "planner", settings, stages=stages, jobs=jobs, supervisors=[schedule], close=[store.close]
    )


if __name__ == "__main__":
    sys.exit(serve(PlannerSettings, build))
