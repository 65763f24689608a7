"""Readiness of a service and the reason for being unready."""

from collections.abc import Callable, Sequence
from typing import Any

from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.bus.worker import Worker
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.health import StageHealth
from biaswatch.shared.runtime.jobs import GuardedJob, Job, guarded

WORKING = "working"


def stage_health(worker: Worker, now: float) -> StageHealth:
    """Return the health of a stage; `now` is Unix time."""
    standstill = worker.standstill
    last = worker.last_success_at
    return StageHealth(
        stage=worker.stage.durable,
        ready=worker.ready and standstill is None,
        lag_records=worker.lag,
        last_success_age_s=None if last is None else now - last,
        trouble=worker.trouble,
        standstill=standstill,
    )


def why_unready(
    phase: str,
    trouble: str | None,
    stages: Sequence[StageHealth],
    failing: Sequence[GuardedJob[Any]],
) -> str | None:
    """Return why a service is unready; None while it takes work.

    Parameters
    ----------
    phase
        The phase of the service: starting, working, stopping or stopped.
    trouble
        Why the database or the bus is not available.
    failing
        Jobs whose last pass failed; only unexpected errors make the service unready.
    """
    if phase != WORKING:
        return phase
    if trouble:
        return trouble
    if still := [f"{stage.stage}: {stage.standstill}" for stage in stages if stage.standstill]:
        return f"no progress: {' '.join(still)}"
    if unready := [stage.stage for stage in stages if not stage.ready]:
        return f"waiting for the bus: {', '.join(unready)}"
    faults = [f"{job.job.label} ({job.trouble})" for job in failing if job.faulty]
    return f"a job fails: {', '.join(faults)}" if faults else None


EVERY_S = 5.0
BUS = Job(Connection.probe, "ask the bus whether it is available", every_s=EVERY_S)


def of_store(service: str, probe: Callable[[], None]) -> GuardedJob[None]:
    """Return the job that runs a blocking check of the database."""

    async def ask(_: None) -> None:
        await in_thread(probe)

    [job] = guarded(service, [Job(ask, "ask the store whether it is available", every_s=EVERY_S)])
    return job
