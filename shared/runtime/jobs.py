"""Background jobs, blocking calls in threads, and lookups batched into one query."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, Literal, ParamSpec, TypeVar

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.retry_policy import RetryPolicy, delay_s, is_outage
from biaswatch.shared.bus.stage import without_stop_iteration
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


P = ParamSpec("P")


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call in a thread; on cancellation, wait for it to end first.

    Raises
    ------
    RuntimeError
        The call raised StopIteration, which no future can hold.
    """
    running = asyncio.ensure_future(
        asyncio.to_thread(without_stop_iteration(call), *args, **kwargs)
    )
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # asyncio logs one that is not retrieved
        raise


V = TypeVar("V")


class BatchedLookup(Generic[V]):
    """Batches lookups by key: keys requested during a query are looked up in the next one.

    `find` blocks and runs in a thread; it returns the values of the keys that have one. Each query
    waits `batch_window_s` for more keys.
    """

    def __init__(
        self, find: Callable[[Sequence[str]], Mapping[str, V]], *, batch_window_s: float = 0.0
    ) -> None:
        self._find = find
        self._batch_window_s = batch_window_s
        self._wanted: list[tuple[str, asyncio.Future[V | None]]] = []
        self._looking: asyncio.Task[None] | None = None

    async def get(self, key: str) -> V | None:
        """Return the value of a key or None; raise what `find` raises."""
        answer: asyncio.Future[V | None] = asyncio.get_running_loop().create_future()
        self._wanted.append((key, answer))
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            return await answer
        except asyncio.CancelledError:
            if self._looking is not None:  # the query must end before its resources are closed
                await asyncio.wait([self._looking])
            raise

    async def _look(self) -> None:
        while self._wanted:
            # Even without a window, requests of this iteration of the event loop are included.
            await asyncio.sleep(self._batch_window_s)
            batch, self._wanted = self._wanted, []
            try:
                values = await in_thread(self._find, [key for key, _ in batch])
            except Exception as error:  # noqa: BLE001 - raised by `get`
                for _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)
            else:
                for key, answer in batch:
                    if not answer.done():
                        answer.set_result(values.get(key))
        self._looking = None
