"""Makes one call of a scaffold, with retries; it ends in an answer or a named failure.

Paid answers are stored, so that a redelivery or a resumed run does not pay again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from biaswatch.services.generator.domain.model_calls import call_of, cost_of, pause_s
from biaswatch.services.generator.domain.outcome import final_answer
from biaswatch.services.generator.domain.planned_calls import CallResult, PlannedCall
from biaswatch.services.generator.domain.questions import rating_on
from biaswatch.services.generator.handlers.batched_calls import (
    BatchedCalls,
    WaitsForBatch,
    batched_model,
)
from biaswatch.services.generator.handlers.endpoints import Endpoint
from biaswatch.services.generator.handlers.paid_calls import PaidCalls, call_id
from biaswatch.services.generator.handlers.rejected_runs import RejectedRuns
from biaswatch.services.generator.handlers.run_limits import CancellationCheck, RunBudgets
from biaswatch.services.generator.handlers.target_pauses import TargetRefused
from biaswatch.shared.contracts import Probe, Usage
from biaswatch.shared.llm.port import (
    MAY_PASS,
    UNKNOWN_TOKENS,
    CallFailed,
    ChatModel,
    Failure,
    ModelAnswer,
    ModelCall,
)
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.telemetry import log


@dataclass(frozen=True)
class CallLimits:
    """Limits of the attempts of one call."""

    tries: int
    """Failures before the last one is the outcome; a 429 is not counted."""
    max_starts: int
    """Starts of the call, over all deliveries and repairs of its probe."""
    limited_s: float
    """Time for which 429s may delay the call."""
    timeout_s: float
    """Time limit of one attempt."""


class ModelCaller:
    """Calls models for all probes."""

    def __init__(
        self,
        *,
        cancellation: CancellationCheck,
        paid: PaidCalls,
        batched: BatchedCalls,
        budgets: RunBudgets,
        rejected: RejectedRuns,
        clock: Callable[[], float],
        jitter: Callable[[], float],
        limits: CallLimits,
    ) -> None:
        self.cancellation, self.budgets, self.rejected = cancellation, budgets, rejected
        self._paid, self.batched = paid, batched
        self._answered_from: dict[str, float] = {}
        """Start of the latest answered call, by lane: the key was accepted then."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._clock, self._jitter = clock, jitter
        self._limits = limits

    def answered_since(self, lane: str, moment: float) -> bool:
        """Tell whether a target answered a call that started after this time of the clock."""
        return self._answered_from.get(lane, float("-inf")) > moment

    async def call(self, probe: Probe, planned: PlannedCall, endpoint: Endpoint) -> CallResult:
        """Return the stored answer of a call, or make the call.

        A second copy of a probe waits here for the answer that the first one pays for.

        Raises
        ------
        RunCancelled, BudgetSpent
            The run of the probe must not go on.
        TargetRefused
            The target refuses this call as it would refuse any other.
        WaitsForBatch
            The call is answered in a batch.
        """
        async with self._locks.setdefault(call_id(probe, planned.stored_as), asyncio.Lock()):
            if stored := await self._paid.get(probe, planned.stored_as):
                endpoint.metrics.cached()
                return _result(planned, stored, 1, None, endpoint)
            if probe.target.in_batches:
                return await self._batched(probe, planned, endpoint)
            began = self._clock()
            await self._check(probe, endpoint)
            starts = await self._paid.reserve(probe, planned.stored_as)
            if starts > self._limits.max_starts:
                return _result(planned, _used_up(starts - 1), 0, self._clock() - began, endpoint)
            try:
                outcome, tries = await self._retried(probe, planned, endpoint, starts)
            except TargetRefused:
                await self._paid.release(probe, planned.stored_as)
                raise
            return _result(planned, outcome, tries, self._clock() - began, endpoint)

    async def _batched(self, probe: Probe, planned: PlannedCall, endpoint: Endpoint) -> CallResult:
        """Return the outcome of a call in a batch, or add the call to the next batch."""
        if outcome := await self.batched.outcome(probe, planned.stored_as):
            if isinstance(outcome, ModelAnswer):
                self.rejected.accept(probe)
            return _result(planned, outcome, 1, None, endpoint)
        await self._check(probe, endpoint)
        try:
            call = call_of(probe, planned, self._limits.timeout_s)
            body = batched_model(endpoint.model).batch_body(call)
        except CallFailed as failed:
            return _result(planned, failed, 0, None, endpoint)
        await self.batched.add(probe, planned.stored_as, body)
        raise WaitsForBatch

    async def _check(self, probe: Probe, endpoint: Endpoint) -> None:
        """Raise RunCancelled or BudgetSpent if the run of the probe must not go on."""
        await self.rejected.wait_while_undecided(probe)
        await self.cancellation.check(probe)
        await self.budgets.check(probe, priced=endpoint.price is not None)

    async def _retried(
        self, probe: Probe, planned: PlannedCall, endpoint: Endpoint, starts: int
    ) -> tuple[ModelAnswer | CallFailed, int]:
        """Return the final outcome of a call and the number of attempts."""
        call = call_of(probe, planned, self._limits.timeout_s)
        began, tries, faults = self._clock(), 0, 0
        while True:
            attempt = replace(call, attempt=tries) if tries else call
            outcome = await self._attempt(probe, attempt, endpoint)
            tries += 1
            await self.record(probe, planned.stored_as, endpoint, (starts, tries), outcome)
            if isinstance(outcome, ModelAnswer) or outcome.why not in MAY_PASS:
                return outcome, tries
            faults += outcome.why is not Failure.RATE_LIMITED
            pause = pause_s(outcome, tries - 1, self._jitter())
            left_s = self._limits.limited_s - (self._clock() - began)
            if faults >= self._limits.tries or pause > left_s:
                return outcome, tries
            await asyncio.sleep(pause)

    async def _attempt(
        self, probe: Probe, call: ModelCall, endpoint: Endpoint
    ) -> ModelAnswer | CallFailed:
        """Make one attempt once the rate limiter allows it, if the run may still go on then."""
        began = self._clock()
        try:
            async with endpoint.limiter.slot():
                await self._check(probe, endpoint)
                began, failure = self._clock(), None
                try:
                    answer = await ask_model(endpoint.model, call)
                except CallFailed as failed:
                    failure = failed.why
                    raise
                finally:
                    allowed = endpoint.limiter.limit.allowed
                    endpoint.metrics.tried(self._clock() - began, failure, allowed)
                latest = self._answered_from.get(probe.lane, began)
                self._answered_from[probe.lane] = max(began, latest)
                self.rejected.accept(probe)
                return answer
        except CallFailed as failed:
            if failed.why is Failure.KEY_REFUSED:
                raise TargetRefused(failed.detail, began=began) from None
            return failed

    async def record(
        self,
        probe: Probe,
        step: str,
        endpoint: Endpoint,
        attempt: tuple[int, int],
        outcome: ModelAnswer | CallFailed,
    ) -> None:
        """Record the cost of an attempt, before its outcome is used."""
        if outcome.tokens is None:
            return
        read, written = outcome.tokens
        tokens = None if read is None or written is None else read + written
        cost = cost_of(outcome.tokens, endpoint.price)
        endpoint.metrics.paid(read, written, cost)
        answer = outcome if isinstance(outcome, ModelAnswer) else None
        with self.budgets.adding(probe, tokens, cost):
            await self._paid.record(probe, step, attempt, answer, cost, tokens)


async def ask_model(model: ChatModel, call: ModelCall) -> ModelAnswer:
    """Call a model; a reply that breaks its adapter fails only this call.

    Raises
    ------
    CallFailed
        The call ended without an answer.
    """
    try:
        return await model.ask(call)
    except CallFailed:
        raise
    except Exception as error:  # noqa: BLE001 - no reply may end more than its own call
        kind = type(error).__name__
        log("generator").error("a reply has broken its adapter", error=kind)
        detail = f"The reply could not be read ({kind})."
        raise CallFailed(Failure.GARBAGE, detail, tokens=UNKNOWN_TOKENS) from None


def _used_up(starts: int) -> CallFailed:
    detail = f"The call was started {starts} times without an outcome that could be recorded."
    return CallFailed(Failure.CALLS_USED_UP, detail)


def _result(
    planned: PlannedCall,
    outcome: ModelAnswer | CallFailed,
    tries: int,
    latency_s: float | None,
    endpoint: Endpoint,
) -> CallResult:
    read, written = outcome.tokens or UNKNOWN_TOKENS
    usage = Usage(
        prompt_tokens=read,
        completion_tokens=written,
        calls=tries,
        retries=max(0, tries - 1),
        latency_s=None if latency_s is None else max(0.0, latency_s),
        cost=cost_of((read, written), endpoint.price),
    )
    if isinstance(outcome, CallFailed):
        return CallResult(failure=outcome, usage=usage)
    result = final_answer(outcome, usage)
    if planned.scale is None or result.failure:
        return result
    try:
        return replace(result, rating=rating_on(planned.scale, result.text))
    except Unreadable as error:
        return replace(result, unread=str(error))
