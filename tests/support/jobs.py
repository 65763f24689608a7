"""Jobs that a test repeats as a service does."""

import asyncio
from typing import TypeVar

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.retry_policy import RetryPolicy
from biaswatch.shared.runtime.jobs import GuardedJob, Job

T = TypeVar("T")
QUICK = RetryPolicy(backoff=Backoff(0.01, 0.02))


def quick(job: Job[T]) -> GuardedJob[T]:
    """Return a guarded job that hardly waits after a failure."""
    return GuardedJob("test", job, jitter=lambda: 0.0, outage=QUICK, fault=QUICK)


def repeated(job: Job[T], given: T) -> "asyncio.Task[None]":
    """Begin to repeat a job."""
    return asyncio.create_task(quick(job).run(given))
