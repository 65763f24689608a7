"""Background jobs, and their guard."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.retry_policy import RetryPolicy, delay_s, is_outage
from biaswatch.shared.errors import BiaswatchError, ConfigurationError, explained
from biaswatch.shared.telemetry import TROUBLES, log

T = TypeVar("T")
Work = Callable[[T], Awaitable[object]]

OUTAGE = RetryPolicy(backoff=Backoff(1.0, 10.0))
"""Delays during an outage: short, because it may end at any moment."""
FAULT = RetryPolicy(backoff=Backoff(1.0, 60.0))
"""Delays after an unexpected error: each one is logged with its traceback."""


class WakeEvent(asyncio.Event):
    """An event of one event loop that threads may set, too."""

    _waiting_on: asyncio.AbstractEventLoop | None = None

    async def wait(self) -> Literal[True]:
        """Wait until the event is set."""
        self._waiting_on = asyncio.get_running_loop()
        return await super().wait()

    def set(self) -> None:
        """Set the event; the loop that waits for it is woken."""
        loop = self._waiting_on
        if loop is None or loop.is_closed():
            super().set()
        else:
            loop.call_soon_threadsafe(super().set)


@dataclass(frozen=True)
class Job(Generic[T]):
    """Work that no record starts; the service repeats it until it stops."""

    work: Work[T]
    """One pass; an endless pass needs `steady_after_s`."""
    name: str = ""
    """The name in logs, metrics and readiness; by default that of the function."""
    every_s: float = 1.0
    """The pause between two passes, in seconds."""
    first_after_s: float = 0.0
    """The pause before the first pass, in seconds."""
    steady_after_s: float | None = None
    """The duration, in seconds, after which an endless pass counts as working; None for others."""
    wake: asyncio.Event | None = None
    """Ends a pause early."""
    close: Callable[[], Awaitable[None]] | None = None
    """Called when the service stops, to end tasks that passes started."""

    @property
    def label(self) -> str:
        """The name in logs, metrics and readiness."""
        return self.name or getattr(self.work, "__qualname__", "job").rpartition("<locals>.")[2]


class GuardedJob(Generic[T]):
    """Repeats a job; errors are logged, counted and retried after a delay.

    Only a ConfigurationError ends the job, and with it the process. Another unexpected error makes
    the service unready with the reason; its stages and its other jobs keep running.
    """

    def __init__(
        self,
        service: str,
        job: Job[T],
        *,
        jitter: Callable[[], float],
        outage: RetryPolicy = OUTAGE,
        fault: RetryPolicy = FAULT,
    ) -> None:
        self.job = job
        self.trouble: str | None = None
        """Why the last pass failed; None after a success."""
        self.faulty = False
        """The last pass failed for another reason than an outage."""
        self._service = service
        self._jitter = jitter
        self._outage, self._fault = outage, fault
        self._failures = 0

    async def run(self, argument: T) -> None:
        """Repeat the job for ever.

        Raises
        ------
        ConfigurationError
            A person must change something before the job can work.
        """
        try:
            await asyncio.sleep(self.job.first_after_s)
            while True:
                await self._pass(argument)
        finally:
            if self.job.close:
                await self.job.close()

    async def _pass(self, argument: T) -> None:
        try:
            with self._steady_pass():
                await self.job.work(argument)
        except Exception as error:  # noqa: BLE001 - the one place that decides about jobs
            await asyncio.sleep(self._failed(explained(error)))
        else:
            self._works()
            await self._pause()

    @contextmanager
    def _steady_pass(self) -> Iterator[None]:
        """Clear the trouble once a pass has lasted for `steady_after_s`."""
        if self.job.steady_after_s is None:
            yield
            return
        steady = asyncio.get_running_loop().call_later(self.job.steady_after_s, self._works)
        try:
            yield
        finally:
            steady.cancel()

    def _failed(self, error: Exception) -> float:
        """Note a failure; return the pause before the next pass."""
        if isinstance(error, ConfigurationError):
            raise error
        self._failures += 1
        TROUBLES.labels(self.job.label, type(error).__name__).inc()
        outage = is_outage(error)
        if not outage:
            log(self._service).error(
                "a job has failed", job=self.job.label, times=self._failures, exc_info=error
            )
        elif self.trouble is None or self.faulty:  # once in an outage
            log(self._service).warning("a job waits", job=self.job.label, why=str(error))
        self.faulty = not outage
        known = isinstance(error, BiaswatchError)  # another's text may hold anything
        self.trouble = str(error) if known else type(error).__name__
        return delay_s(
            error, self._failures, self._outage if outage else self._fault, self._jitter()
        )

    def _works(self) -> None:
        if self.trouble is not None:
            log(self._service).info(
                "a job goes on", job=self.job.label, after_failures=self._failures
            )
        self.trouble, self.faulty, self._failures = None, False, 0

    async def _pause(self) -> None:
        if self.job.wake is None:
            await asyncio.sleep(self.job.every_s)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self.job.every_s):
                await self.job.wake.wait()
        self.job.wake.clear()


def guarded(service: str, jobs: Sequence[Job[T] | Work[T]]) -> list[GuardedJob[T]]:
    """Return the guarded jobs of a service."""
    named = (job if isinstance(job, Job) else Job(job) for job in jobs)
    return [GuardedJob(service, job, jitter=random.random) for job in named]
