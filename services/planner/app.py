"""The planner: its stages, jobs and store."""

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

from biaswatch.services.planner.handlers.monitor_rounds import RoundScheduler
from biaswatch.services.planner.handlers.runs import RunPlanner
from biaswatch.services.planner.settings import PlannerSettings
from biaswatch.shared.bus.jetstream import RecordQueue
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import Cancellation, Exchange, Features, Monitor, Run
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service, StageHost
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

LINGER_S = 0.1
"""Time to collect arrivals for one transaction, which delays the closing of a run."""


def build(settings: PlannerSettings, clock: Callable[[], datetime] = now) -> Service:
    """Return the planner; the clock of a test makes monitors run faster."""
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    planner = RunPlanner(
        store,
        now=clock,
        deadline_s=settings.planner_deadline_s,
        stalled_s=settings.planner_reconcile_s,
    )
    skew_s = settings.planner_clock_skew_s
    scheduler = RoundScheduler(store, now=clock, wall=now, clock_skew_s=skew_s)

    async def define_forgotten(_: Publisher) -> None:
        await in_thread(scheduler.define_forgotten)

    async def schedule(host: StageHost) -> None:
        intake = RecordQueue(host.connection, Exchange)
        await scheduler.publish_due(host.publisher, intake)

    stages: list[Stage[Any]] = [
        Stage("planner", Run, planner.plan, slots=2),
        Stage("planner", Cancellation, planner.cancel, slots=1),
        Stage("planner", Features, planner.count_features, slots=1, batch=500, linger_s=LINGER_S),
        Stage("planner", Monitor, scheduler.define, slots=1),
    ]
    every_s = settings.planner_reconcile_s
    forgotten = Job(
        define_forgotten, "schedule forgotten monitors", every_s=every_s, first_after_s=every_s
    )
    return Service(
        "planner",
        settings,
        stages=stages,
        jobs=[*planner.jobs(every_s), forgotten],
        supervisors=[
            Job(
                schedule,
                "start rounds of monitors",
                every_s=settings.planner_look_s,
                wake=scheduler.more_due,
            )
        ],
        check_store=store.check_available,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(PlannerSettings, build))
