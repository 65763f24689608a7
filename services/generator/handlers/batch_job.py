"""Background job that sends calls in batches, follows them, and responds to their probes.

An intention is stored before a batch is sent. After an interruption, the batch is looked for at the
provider, and is sent again only where the provider has none.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from biaswatch.services.generator.domain.batch_sizes import affordable_calls
from biaswatch.services.generator.handlers.ask import Ask
from biaswatch.services.generator.handlers.batch_results import BatchResults
from biaswatch.services.generator.handlers.batched_calls import batched_model, outcome_as_json
from biaswatch.services.generator.handlers.caller import ModelCaller
from biaswatch.services.generator.handlers.endpoints import Endpoint
from biaswatch.services.generator.handlers.rejected_runs import PROVIDER_ERRORS
from biaswatch.services.generator.handlers.run_limits import BudgetSpent, RunCancelled
from biaswatch.services.generator.handlers.target_pauses import TargetPauses
from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Probe, Purpose, Target, derived_id
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.llm.batches import (
    MAX_BYTES,
    MAX_REQUESTS,
    NOT_CREATED,
    REQUEST_S,
    TRANSFER_S,
    BatchApi,
    BatchStatus,
    InterruptedBatch,
    UndecidedError,
)
from biaswatch.shared.llm.port import MAY_PASS, CallFailed, Failure
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Batches, Calls
from biaswatch.shared.store.batches import BatchedCall, CallBatch, WaitingCalls
from biaswatch.shared.telemetry import RepeatedWarning, log


@dataclass(frozen=True)
class BatchTimes:
    """When batches are sent and looked at."""

    every_s: float = 60.0
    """Time between two looks at a batch."""
    linger_s: float = 10.0
    """Time without a new call after which the waiting calls are sent."""
    settle_s: float = TRANSFER_S + 5 * REQUEST_S
    """Time after which a batch that the provider does not list was never sent."""


class BatchJob:
    """Sends and follows the batches of all runs; all state is in the store."""

    def __init__(
        self,
        batches: Batches,
        calls: Calls,
        ask: Ask,
        caller: ModelCaller,
        pauses: TargetPauses,
        *,
        now: Callable[[], datetime],
        times: BatchTimes = BatchTimes(),
    ) -> None:
        self._batches, self._calls, self._ask, self._caller = batches, calls, ask, caller
        self._pauses = pauses
        self._now = now
        self._times = times
        self._results = BatchResults(batches, ask, caller)
        self._failed = RepeatedWarning("generator", "a batch waits")
        self._not_before: dict[tuple[str, str], tuple[datetime, int]] = {}
        """When calls may be sent again, and the number of failures in a row, by run and lane."""
        self._backoff = Backoff(times.every_s, 900.0)

    @property
    def job(self) -> Job[Publisher]:
        """The job that looks at all batches."""
        return Job(self.run_once, "send and follow batches", every_s=self._times.every_s)

    async def run_once(self, publisher: Publisher) -> None:
        """Send waiting calls, follow submitted batches, and respond to answered calls."""
        unfinished = await in_thread(self._batches.unfinished)
        waiting = await in_thread(self._batches.waiting)
        results = await asyncio.gather(
            *(self._follow(batch, publisher) for batch in unfinished),
            *(self._send_waiting(calls, unfinished, publisher) for calls in waiting),
            return_exceptions=True,
        )
        await self._results.respond(publisher)
        for error in results:
            if error is not None:
                raise error

    async def _with_endpoint(
        self, target: Target, work: Callable[[Endpoint, BatchApi], Awaitable[None]]
    ) -> None:
        """Carry out a step of a target unless it is paused; a refused key pauses it."""
        pause = self._pauses.of(target)
        await pause.load()
        if pause.paused is not None and self._now() < pause.paused.next_try_at:
            return
        try:
            if pause.paused is not None:
                await self._ask.reconnect(target)
            endpoint = await self._ask.endpoint(target)
            await work(endpoint, batched_model(endpoint.model).batch_api())
        except (ConfigurationError, UsageError) as missing:
            await pause.refuse(str(missing), trial=True)
        except CallFailed as failed:
            if failed.why is Failure.KEY_REFUSED:
                await pause.refuse(failed.detail, trial=True)
            else:
                self._failed.warn(failed, target=target.name)
        else:
            if pause.paused is not None:
                await pause.resume()

    async def _send_waiting(
        self, waiting: WaitingCalls, unfinished: list[CallBatch], publisher: Publisher
    ) -> None:
        """Send the calls of one run to one target once no further calls arrive."""
        probe = await in_thread(self._batches.latest, waiting.run_id, waiting.lane)
        if probe is None:
            return
        if await self._is_cancelled(probe):
            await in_thread(self._batches.drop_waiting, waiting)
            return
        lingers = self._now() < waiting.latest + timedelta(seconds=self._times.linger_s)
        not_before, _ = self._not_before.get((waiting.run_id, waiting.lane), (waiting.latest, 0))
        if (lingers and waiting.number < MAX_REQUESTS) or self._now() < not_before:
            return

        async def send(endpoint: Endpoint, api: BatchApi) -> None:
            try:
                await self._caller.budgets.check(probe, priced=endpoint.price is not None)
            except BudgetSpent as spent:
                for record in self._caller.budgets.stop(probe, str(spent)):
                    await publisher.publish(record)
                await in_thread(self._batches.drop_waiting, waiting)
                return
            calls = await in_thread(self._next_calls, waiting, unfinished, endpoint)
            if calls:
                await self._begin(probe, calls, api, publisher)

        await self._with_endpoint(probe.target, send)

    def _next_calls(
        self, waiting: WaitingCalls, unfinished: list[CallBatch], endpoint: Endpoint
    ) -> list[BatchedCall]:
        """Return the calls of the next batch; with a budget, one batch of a run at a time."""
        calls = self._batches.next_calls(waiting, MAX_REQUESTS, MAX_BYTES)
        spending = self._calls.spending([waiting.run_id]).get(waiting.run_id)
        if spending is None or spending.budget.is_unlimited:
            return calls
        if any(batch.run_id == waiting.run_id for batch in unfinished):
            return []
        number = affordable_calls(
            [json.loads(call.body) for call in calls],
            [len(call.body.encode()) for call in calls],
            spending.budget,
            (spending.tokens, spending.cost),
            self._batches.paid_calls(waiting.run_id),
            endpoint.price,
        )
        return calls[:number]

    async def _begin(
        self, probe: Probe, calls: list[BatchedCall], api: BatchApi, publisher: Publisher
    ) -> None:
        """Store the intention to send a batch, and send it."""
        now = self._now()
        id_ = derived_id("batch", calls[0].id, str(calls[0].tries), now.isoformat())
        batch = CallBatch(id_, probe.run_id, probe.lane, probe.target, len(calls), 1, now)
        taken = set(await in_thread(self._batches.begin, batch, [call.id for call in calls]))
        if taken:
            lines = {call.id: json.loads(call.body) for call in calls if call.id in taken}
            await self._send(replace(batch, requests=len(taken)), lines, api, publisher)

    async def _send(
        self, batch: CallBatch, lines: Mapping[str, Any], api: BatchApi, publisher: Publisher
    ) -> None:
        """Send a batch; after an unclear failure, a later look finds out whether it was sent."""
        uploaded = False
        try:
            file_id = await api.upload(lines)
            uploaded = True
            if not await in_thread(self._batches.change, batch, file_id=file_id):
                return
            status = await api.create(batch.id, lines, file_id)
        except CallFailed as failed:
            if not uploaded or failed.why in NOT_CREATED:
                await self._not_created(batch, failed, publisher)
            raise
        await self._keep_provider(batch, status)
        self._not_before.pop((batch.run_id, batch.lane), None)
        log("generator").info("a batch was sent", batch=status.id, requests=len(lines))

    async def _not_created(
        self, batch: CallBatch, failed: CallFailed, publisher: Publisher
    ) -> None:
        """Let the calls of a refused batch wait, or stop its run if no batch would be accepted."""
        if not await in_thread(self._batches.change, batch, ended=True):
            return  # another process sends it
        probe = await in_thread(self._batches.latest, batch.run_id, batch.lane)
        if probe is None:
            return
        if failed.why is Failure.KEY_REFUSED or failed.why in MAY_PASS:
            key = batch.run_id, batch.lane
            failures = self._not_before.get(key, (batch.at, 0))[1] + 1
            delay = timedelta(seconds=self._backoff.delay_s(failures))
            self._not_before[key] = self._now() + delay, failures
            ids = await in_thread(self._batches.call_ids, batch.id)
            await in_thread(self._batches.wait_again, batch.id, ids, tried=False)
            return
        if probe.purpose is not Purpose.STUDY:
            while calls := await in_thread(self._batches.lines, batch.id):
                outcomes = {call.id: outcome_as_json(failed) for call in calls}
                await in_thread(self._batches.settle, batch.id, outcomes)
            return
        detail = f"{failed.detail} Check that the target has batches."
        records = self._caller.budgets.stop(probe, PROVIDER_ERRORS, detail)
        for record in records:
            await publisher.publish(record)
        self._caller.cancellation.cancel(records)
        await in_thread(self._batches.drop, await in_thread(self._batches.call_ids, batch.id))

    async def _follow(self, batch: CallBatch, publisher: Publisher) -> None:
        """Advance one batch."""

        async def advance(endpoint: Endpoint, api: BatchApi) -> None:
            probe = await in_thread(self._batches.latest, batch.run_id, batch.lane)
            cancelled = probe is None or await self._is_cancelled(probe)
            if batch.provider_id is None:
                await self._find(batch, api, publisher, cancelled=cancelled)
                return
            status = await api.status(batch.provider_id)
            if status.rejected is not None:
                await self._not_created(batch, status.rejected, publisher)
            elif status.ended:
                await self._results.read(batch, status, api, endpoint, cancelled=cancelled)
            else:
                values = {"done": status.done, "expires_at": status.expires_at}
                await in_thread(self._batches.change, batch, **values)
                if cancelled and not status.ending:
                    await api.cancel(batch.provider_id)

        await self._with_endpoint(batch.target, advance)

    async def _find(
        self, batch: CallBatch, api: BatchApi, publisher: Publisher, *, cancelled: bool
    ) -> None:
        """Find the batch of an interrupted submission, or send it again."""
        if await self._adopted(batch, api):
            return
        if self._now() < batch.at + timedelta(seconds=self._times.settle_s):
            return
        await api.prevent(batch.file_id)
        if await self._adopted(batch, api):
            return
        calls = await in_thread(self._batches.lines, batch.id, MAX_REQUESTS)
        if cancelled or not calls:
            if await in_thread(self._batches.change, batch, ended=True):
                await in_thread(self._batches.drop, [call.id for call in calls])
            return
        again = replace(batch, attempt=batch.attempt + 1, at=self._now(), file_id=None)
        values = {"attempt": again.attempt, "at": again.at, "file_id": None}
        if await in_thread(self._batches.change, batch, **values):
            lines = {call.id: json.loads(call.body) for call in calls}
            await self._send(again, lines, api, publisher)

    async def _adopted(self, batch: CallBatch, api: BatchApi) -> bool:
        """Tell whether the provider has the batch, or may have it; if so, follow it from now on."""
        ids = await in_thread(self._batches.call_ids, batch.id)
        known = await in_thread(self._batches.provider_ids)
        try:
            status = await api.find(
                InterruptedBatch(batch.id, batch.requests, ids, batch.at), known
            )
        except UndecidedError:
            return True
        if status is None:
            return False
        await self._keep_provider(batch, status)
        log("generator").info("a batch was found", batch=status.id, requests=batch.requests)
        return True

    async def _keep_provider(self, batch: CallBatch, status: BatchStatus) -> None:
        values = {"provider_id": status.id, "expires_at": status.expires_at}
        await in_thread(self._batches.change, batch, **values)

    async def _is_cancelled(self, probe: Probe) -> bool:
        try:
            await self._caller.cancellation.check(probe)
        except RunCancelled:
            return True
        return False
