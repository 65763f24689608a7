"""The loop of every stage: take, decode, handle, publish, acknowledge."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from time import perf_counter
from typing import Any

from biaswatch.shared.bus.port import Consumer, ConsumerLost, Delivery, Publisher
from biaswatch.shared.bus.retry_policy import (
    Acknowledger,
    Exit,
    GiveUp,
    RetryPolicy,
    decision_of,
    exhausted,
    is_planned_wait,
    may_spoil_a_batch,
)
from biaswatch.shared.bus.stage import Outputs, Progress, Stage, call_of, contexts_of
from biaswatch.shared.contracts import Record, check_subject
from biaswatch.shared.errors import BackPressureError, BiaswatchError, TransientError, explained
from biaswatch.shared.telemetry import HANDLE_SECONDS, RepeatedWarning, log
from biaswatch.shared.tracing import HandledBatch, handling, is_tracing, within

RESTORE_WAITS_S = (0.1, 0.5, 1.0, 2.0, 5.0)
"""The pauses between attempts to recreate a lost durable; the last one repeats."""
PUBLISHED_AT_ONCE = 64
LAG_EVERY_S = 5.0

Job = tuple[Delivery, Record]


class Worker:
    """Runs one stage until it is stopped; it acknowledges every message that it takes."""

    def __init__(
        self,
        stage: Stage[Any],
        consumer: Consumer,
        publisher: Publisher,
        *,
        jitter: Callable[[], float],
        clock: Callable[[], float],
        policy: RetryPolicy | None = None,
    ) -> None:
        self.stage = stage
        self.ready = False
        """True if the durable can be read."""
        self.fatal: BiaswatchError | None = None
        """The error that ended this stage and that a person must fix."""
        self._progress = Progress(clock())
        self.lag: int | None = None
        """How many records wait for this stage; None while unknown."""
        self._consumer = consumer
        self._publisher = publisher
        self._policy = policy or RetryPolicy()
        self._jitter = jitter
        self._not_handled = RepeatedWarning(stage.name, "a record was not handled")
        self._lag_unknown = RepeatedWarning(stage.name, "the lag is unknown")
        self._not_acknowledged = RepeatedWarning(stage.name, "a batch could not be acknowledged")
        self._seconds = HANDLE_SECONDS.labels(stage.name)
        self._acknowledger = Acknowledger(stage, consumer, publisher, clock)
        self._pool = ThreadPoolExecutor(stage.slots, thread_name_prefix=stage.name)
        self._call = call_of(stage, self._pool)
        self._clock = clock
        self._at_work: dict[asyncio.Task[None], float] = {}
        """Running handlers and their start times."""
        self._freed = asyncio.Event()
        """Set when a handler has ended since the last wait."""
        self._stopped = asyncio.Event()

    @property
    def last_success_at(self) -> float | None:
        """When a record was last handled (Unix time), or None before the first."""
        return self._acknowledger.last_success_at

    @property
    def trouble(self) -> str | None:
        """Why the last record was not handled; None once one is handled again."""
        return self._progress.trouble

    @property
    def standstill(self) -> str | None:
        """Why the stage makes no progress; None where it makes some, or has nothing to do."""
        oldest = min(list(self._at_work.values()), default=None)
        return self._progress.standstill(self._clock(), oldest, self.stage.stuck_after_s)

    async def run(self) -> None:
        """Work until `stop` is called or `fatal` is set."""
        await self._restore()
        heartbeat = asyncio.create_task(self._heartbeat())
        try:
            while batches := await self._take():
                for batch in batches:
                    self._at_work[asyncio.create_task(self._work(batch))] = self._clock()
        finally:
            heartbeat.cancel()

    async def stop(self, grace_s: float = 25.0) -> None:
        """Take no more, return what was not started, let what was started finish.

        What has not finished after `grace_s` is returned as well; another worker does it again.
        """
        self.ready = False
        self._stopped.set()
        if self.stage.on_stop:
            self.stage.on_stop()
        for delivery in await self._consumer.close():
            await self._consumer.nak(delivery, 0)
        if self._at_work:
            _, late = await asyncio.wait(self._at_work, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _take(self) -> Sequence[Sequence[Delivery]]:
        """Wait for a free slot and then for records; nothing means that work has ended.

        What is handled one by one is taken for all free slots at once, as each take costs.
        """
        while not (free := self.stage.slots - len(self._at_work)):
            self._freed.clear()
            await self._freed.wait()
        while not self._stopped.is_set():
            try:
                if self.stage.batch:
                    batch = await self._consumer.take(self.stage.batch, self.stage.linger_s)
                    return [batch] if batch else ()
                return [[delivery] for delivery in await self._consumer.take(free)]
            except ConsumerLost as lost:
                log(self.stage.name).warning("the durable is gone", why=str(lost))
                await self._restore()
        return ()

    async def _restore(self) -> None:
        """Recreate the durable, trying until it works; unready meanwhile."""
        self.ready = False
        tries = 0
        while not self._stopped.is_set():
            try:
                await self._consumer.restore()
            except TransientError as error:
                log(self.stage.name).warning("the durable cannot be read yet", why=str(error))
            except BiaswatchError as error:
                self._end(error)
            else:
                self.ready = True
                return
            wait_s = RESTORE_WAITS_S[min(tries, len(RESTORE_WAITS_S) - 1)]
            tries += 1
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._stopped.wait()

    def _end(self, error: BiaswatchError) -> None:
        self.fatal = error
        self._stopped.set()

    async def _work(self, batch: Sequence[Delivery]) -> None:
        began = perf_counter()
        try:
            if jobs := await self._jobs(batch):
                await self._handle(jobs)
        except asyncio.CancelledError:
            for delivery in batch:
                await self._consumer.nak(delivery, 0)
            raise
        except Exception as error:  # noqa: BLE001 - what follows from one is decided before
            # The acknowledgement failed: the records are delivered again after their ack wait.
            self._not_acknowledged.warn(error)
        finally:
            self._seconds.observe(perf_counter() - began)
            if this := asyncio.current_task():
                self._at_work.pop(this, None)
            self._freed.set()

    async def _jobs(self, batch: Sequence[Delivery]) -> Sequence[Job]:
        """Decode records; give up undecodable, foreign and too often delivered ones."""
        jobs: list[Job] = []
        for delivery in batch:
            if decision := exhausted(delivery.attempt, self._policy):
                await self._acknowledger.carry_out(decision, delivery)
                continue
            try:
                record = self.stage.reads.decode(delivery.data)
                check_subject(record, delivery.subject)
            except BiaswatchError as error:
                await self._decide(error, delivery)
            else:
                jobs.append((delivery, record))
        return jobs

    async def _handle(self, jobs: Sequence[Job]) -> None:
        """Handle and publish; a batch that fails for its content is tried again one by one."""
        records = [record for _, record in jobs]
        try:
            with self._journeys(jobs) as contexts:
                with _traced(contexts[0] if len(contexts) == 1 else ""):
                    outputs = await self._call(records)
                followed = contexts_of(outputs, records, contexts)
                publication = max(delivery.publication for delivery, _ in jobs)
                await self._publish(outputs, followed, publication)
        except Exception as raised:  # noqa: BLE001 - the one place that decides about errors
            error = explained(raised)
            if len(jobs) > 1 and may_spoil_a_batch(error):
                for job in jobs:
                    await self._handle([job])
                return
            for delivery, _ in jobs:
                await self._decide(error, delivery)
        else:
            self._progress.finish(self._clock())
            await self._acknowledger.ack([delivery for delivery, _ in jobs])

    async def _decide(self, error: Exception, delivery: Delivery) -> None:
        decision = decision_of(error, delivery.attempt, self._policy, self._jitter())
        if isinstance(decision, GiveUp):
            self._progress.finish(self._clock())
        else:
            known = isinstance(error, BiaswatchError)  # another's text may hold anything
            why = str(error) if known else type(error).__name__
            self._progress.fail(self._clock(), why, waits=is_planned_wait(error))
            self._not_handled.warn(error, attempt=delivery.attempt, then=decision)
        await self._acknowledger.carry_out(decision, delivery)
        if isinstance(decision, Exit):
            self._end(decision.error)
            await self._consumer.close()

    def _journeys(self, jobs: Sequence[Job]) -> AbstractContextManager[Sequence[str]]:
        """Return a context manager that yields the trace contexts of the records."""
        if not is_tracing():
            return nullcontext(())
        return handling(
            HandledBatch(
                self.stage.name,
                self.stage.reads.kind,
                [record.id for _, record in jobs],
                [delivery.trace_context for delivery, _ in jobs],
                [delivery.attempt for delivery, _ in jobs],
            )
        )

    async def _publish(self, outputs: Outputs, contexts: Sequence[str], publication: int) -> None:
        """Publish all; return once every one is acknowledged, or raise the first error.

        A lane that is full keeps nothing from the others: its error is raised after they are out.
        """
        if len(outputs) == 1:  # the usual case
            if is_tracing():
                await self._publish_one(outputs[0], contexts[0], publication)
            else:
                await self._publisher.publish(outputs[0], publication=publication)
            return
        full: dict[str, BackPressureError] = {}
        pairs = list(zip(outputs, contexts, strict=True))
        for start in range(0, len(outputs), PUBLISHED_AT_ONCE):
            part = [o for o in pairs[start : start + PUBLISHED_AT_ONCE] if o[0].lane not in full]
            results = await self._publish_part(part, publication)
            for (output, _), result in zip(part, results, strict=True):
                if isinstance(result, BackPressureError):
                    full[output.lane] = result
                elif result is not None:
                    raise result
        for error in full.values():
            raise error

    async def _publish_part(
        self, part: Sequence[tuple[Record, str]], publication: int
    ) -> Sequence[BaseException | None]:
        if is_tracing():  # each continues its own trace
            sent = (self._publish_one(output, context, publication) for output, context in part)
            return await asyncio.gather(*sent, return_exceptions=True)
        return await self._publisher.publish_all(
            [output for output, _ in part], publication=publication
        )

    async def _publish_one(self, output: Record, context: str, publication: int) -> None:
        with within(context):
            await self._publisher.publish(output, publication=publication)

    async def _heartbeat(self) -> None:
        """Extend the ack waits of running handlers, and read the lag."""
        every_s = min(self.stage.ack_wait_s / 3, LAG_EVERY_S)
        while True:
            try:
                await self._consumer.in_progress()
                self.lag = await self._consumer.lag()
            except BiaswatchError as error:
                self._lag_unknown.warn(error)
            await asyncio.sleep(every_s)


def _traced(context: str) -> AbstractContextManager[None]:
    """Return a context manager that sets the trace context, if tracing is on."""
    return within(context) if is_tracing() else nullcontext()
