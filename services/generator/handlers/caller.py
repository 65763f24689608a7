"""Makes one call of a plan, as often as it takes; it ends in an answer or in a named failure.

Paid answers are kept, so that a redelivery or a resumed run does not pay for them again.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from services.generator.domain.model_calls import Price, call_of, cost_of, pause_s
from services.generator.domain.questions import rating_in
from services.generator.domain.scaffolds import CallResult, PlannedCall
from services.generator.handlers.budget_and_cancellation import CancellationCheck, RunBudgets
from services.generator.handlers.endpoints import Endpoint
from shared.contracts import Probe, Usage, derived_id
from shared.errors import TransientError
from shared.llm.port import MAY_PASS, CallFailed, Failure, ModelAnswer, ModelCall
from shared.parsing import Unreadable
from shared.runtime.blocking import BatchedLookup
from shared.store import Calls
from shared.store.calls import PaidCall
from shared.telemetry import log


def call_id(probe: Probe, step: str) -> str:
    """Return a call's id; the probe's id covers run, repeat and target, so a new round is new."""
    return derived_id("call", probe.id, step)


class CallCache:
    """The answers of calls; writes at the same time share a transaction."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._answers: BatchedLookup[Mapping[str, Any]] = BatchedLookup(calls.answers)
        self._writes: BatchedLookup[None] = BatchedLookup(self._write)
        self._waiting: dict[str, PaidCall] = {}

    async def get(self, probe: Probe, step: str) -> ModelAnswer | None:
        """Return the answer that was paid for before, if there is one and it may be used."""
        if probe.fresh:
            return None
        found = await self._answers.get(call_id(probe, step))
        return ModelAnswer(**found) if found else None

    async def put(
        self, probe: Probe, step: str, answer: ModelAnswer | None, cost: float | None,
        tokens: int | None, at: datetime,
    ) -> None:  # fmt: skip
        """Keep what a call brought before it is published; a refusal only for its cost."""
        answered = answer is not None and answer.finish_reason != "length" and not probe.fresh
        kept = asdict(answer) if answer and answered else None
        id_ = call_id(probe, step) if kept else derived_id("call", probe.id, step, at.isoformat())
        self._waiting[id_] = PaidCall(id_, probe, tokens, cost, kept, at)
        try:
            await self._writes.get(id_)
        except TransientError as error:
            # The answer is in hand and goes on; only what a redelivery would have saved is lost.
            log("generator").warning("a paid call could not be kept", why=str(error))

    def _write(self, ids: Sequence[str]) -> Mapping[str, None]:
        self._calls.keep([self._waiting.pop(id_) for id_ in ids])
        return {}


@dataclass(frozen=True)
class CallLimits:
    """How long a call is tried."""

    tries: int
    """How often a call may fail before its failure is the outcome; a 429 is not counted."""
    limited_s: float
    """How long a call may be put off by 429s."""
    timeout_s: float
    """How long one try may take."""


class ModelCaller:
    """Calls models for all probes."""

    def __init__(
        self,
        *,
        cancellation: CancellationCheck,
        cache: CallCache,
        budgets: RunBudgets,
        now: Callable[[], datetime],
        clock: Callable[[], float],
        jitter: Callable[[], float],
        retries: CallLimits,
    ) -> None:
        self.cancellation, self.budgets = cancellation, budgets
        self._cache = cache
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._now, self._clock, self._jitter = now, clock, jitter
        self._retries = retries

    async def call(self, probe: Probe, planned: PlannedCall, endpoint: Endpoint) -> CallResult:
        """Return what a call brings; raise RunCancelled or BudgetSpent where it may not be made.

        Two copies of a probe may be in hand at once: the second waits for what the first pays for.
        """
        async with self._locks.setdefault(call_id(probe, planned.name), asyncio.Lock()):
            if endpoint.paid and (known := await self._cache.get(probe, planned.name)):
                endpoint.metrics.cached()
                usage = Usage(
                    **_tokens(known), calls=1, retries=0, cost=_cost(known, endpoint.price)
                )
                return _result(planned, known, usage)
            return await self._paid_call(probe, planned, endpoint)

    async def _paid_call(
        self, probe: Probe, planned: PlannedCall, endpoint: Endpoint
    ) -> CallResult:
        began = self._clock()
        tried, outcome = await self._outcome(probe, planned, endpoint)
        usage = Usage(
            calls=tried,
            retries=tried - 1,
            latency_s=max(0.0, self._clock() - began),
            **_tokens(outcome),
            cost=_cost(outcome, endpoint.price),
        )
        if endpoint.paid and (isinstance(outcome, ModelAnswer) or outcome.tokens is not None):
            read, written = usage.prompt_tokens, usage.completion_tokens
            tokens = None if read is None or written is None else read + written
            endpoint.metrics.paid(read, written, usage.cost)
            self.budgets.add(probe, tokens, usage.cost)
            answer = outcome if isinstance(outcome, ModelAnswer) else None
            await self._cache.put(probe, planned.name, answer, usage.cost, tokens, self._now())
        if isinstance(outcome, CallFailed):
            return CallResult(failure=outcome, usage=usage)
        return _result(planned, outcome, usage)

    async def _outcome(
        self, probe: Probe, planned: PlannedCall, endpoint: Endpoint
    ) -> tuple[int, ModelAnswer | CallFailed]:
        """Try until there is an outcome; return how many tries it took, and the outcome."""
        call = call_of(probe, planned, self._retries.timeout_s)
        began, tried, faults = self._clock(), 0, 0
        while True:
            try:
                answer = await self._try(probe, replace(call, attempt=tried), endpoint)
            except CallFailed as failure:
                tried += 1
                faults += failure.why is not Failure.RATE_LIMITED
                pause = pause_s(failure, tried - 1, self._jitter())
                left_s = self._retries.limited_s - (self._clock() - began)
                spent = faults >= self._retries.tries or pause > left_s
                if failure.why not in MAY_PASS or spent:
                    return tried, failure
                await asyncio.sleep(pause)
            else:
                return tried + 1, answer

    async def _try(self, probe: Probe, call: ModelCall, endpoint: Endpoint) -> ModelAnswer:
        """Make one try once the rate limiter allows it, if its run may still go on then."""
        async with endpoint.limiter.slot():
            await self.cancellation.check(probe)
            if endpoint.paid:
                await self.budgets.check(probe, priced=endpoint.price is not None)
            began, failure = self._clock(), None
            try:
                return await endpoint.model.ask(call)
            except CallFailed as failed:
                failure = failed.why
                raise
            finally:
                allowed = endpoint.limiter.limit.allowed
                endpoint.metrics.tried(self._clock() - began, failure, allowed)


def _result(planned: PlannedCall, answer: ModelAnswer, usage: Usage) -> CallResult:
    if planned.scale is None:
        return CallResult(answer, usage=usage)
    try:
        return CallResult(answer, rating=rating_in(answer.text, planned.scale), usage=usage)
    except Unreadable as unread:
        return CallResult(answer, unread=str(unread), usage=usage)


def _tokens(outcome: ModelAnswer | CallFailed) -> dict[str, int | None]:
    if isinstance(outcome, CallFailed):
        read, written = outcome.tokens or (None, None)
    else:
        read, written = outcome.prompt_tokens, outcome.completion_tokens
    return {"prompt_tokens": read, "completion_tokens": written}


def _cost(outcome: ModelAnswer | CallFailed, price: Price | None) -> float | None:
    if isinstance(outcome, ModelAnswer):
        return cost_of(outcome, price)
    read, written = outcome.tokens or (None, None)
    return cost_of(ModelAnswer("", prompt_tokens=read, completion_tokens=written), price)
