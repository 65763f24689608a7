"""Readiness of a service and the reason for being unready."""

from collections.abc import Sequence
from typing import Any

from biaswatch.shared.bus.worker import Worker
from biaswatch.shared.runtime.health import StageHealth
from biaswatch.shared.runtime.jobs import GuardedJob

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
