"""Makes one call of a plan, as often as it takes; it ends in an answer or in a named failure.

Paid answers are kept, so that a redelivery or a resumed run does not pay for them again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from biaswatch.services.generator.domain.model_calls import Price, call_of, cost_of, pause_s
from biaswatch.services.generator.domain.outcome import final_answer
from biaswatch.services.generator.domain.questions import rating_in
from biaswatch.services.generator.domain.scaffolds import CallResult, PlannedCall
from biaswatch.services.generator.handlers.budget_and_cancellation import (
    CancellationCheck,
    RunBudgets,
)
from biaswatch.services.generator.handlers.endpoints import Endpoint
from biaswatch.services.generator.handlers.paid_calls import PaidCalls, call_id
from biaswatch.services.generator.handlers.rejected_runs import RejectedRuns
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
    """How long a call is tried."""

    tries: int
    """How often a call may fail before its failure is the outcome; a 429 is not counted."""
    begins: int
    """How often a call may begin anew, over all deliveries and repairs of its probe."""
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
        paid: PaidCalls,
        budgets: RunBudgets,
        rejected: RejectedRuns,
        clock: Callable[[], float],
        jitter: Callable[[], float],
        limits: CallLimits,
    ) -> None:
        self.cancellation, self.budgets, self.rejected = cancellation, budgets, rejected
        self._paid = paid
        self._answered_from: dict[str, float] = {}
        """When the latest call began that was answered, by lane: then, its key was accepted."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._clock, self._jitter = clock, jitter
        self._limits = limits

    def answered_since(self, lane: str, moment: float) -> bool:
        """Tell whether a target has answered a call that began after this moment of the clock."""
        return self._answered_from.get(lane, float("-inf")) > moment

    async def call(self, probe: Probe, planned: PlannedCall, endpoint: Endpoint) -> CallResult:
        """Return what a call brings.

        Raises RunCancelled or BudgetSpent where it may not be made, TargetRefused where the target
        refuses it as it would any other.

        Two copies of a probe may be in hand at once: the second waits for what the first pays for.
        """
        async with self._locks.setdefault(call_id(probe, planned.name), asyncio.Lock()):
            if known := await self._paid.get(probe, planned.name):
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
        try:
            tried, outcome = await self._outcome(probe, planned, endpoint)
        except TargetRefused:
            await self._paid.take_back(probe, planned.name)
            raise
        usage = Usage(
            calls=tried,
            retries=max(0, tried - 1),
            latency_s=max(0.0, self._clock() - began),
            **_tokens(outcome),
            cost=_cost(outcome, endpoint.price),
        )
        if not isinstance(outcome, CallFailed):
            return _result(planned, outcome, usage)
        return CallResult(failure=outcome, usage=usage)

    async def _outcome(
        self, probe: Probe, planned: PlannedCall, endpoint: Endpoint
    ) -> tuple[int, ModelAnswer | CallFailed]:
        """Try until there is an outcome; return how many tries it took, and the outcome."""
        await self._check(probe, endpoint)
        begun = await self._paid.begin(probe, planned.name)
        if begun > self._limits.begins:
            return 0, _used_up(begun - 1)
        call = call_of(probe, planned, self._limits.timeout_s)
        began, tried, faults = self._clock(), 0, 0
        while True:
            attempt = replace(call, attempt=tried) if tried else call
            outcome = await self._try(probe, attempt, endpoint)
            tried += 1
            await self._count(probe, planned, endpoint, (begun, tried), outcome)
            if isinstance(outcome, ModelAnswer):
                return tried, outcome
            faults += outcome.why is not Failure.RATE_LIMITED
            pause = pause_s(outcome, tried - 1, self._jitter())
            left_s = self._limits.limited_s - (self._clock() - began)
            spent = faults >= self._limits.tries or pause > left_s
            if outcome.why not in MAY_PASS or spent:
                return tried, outcome
            await asyncio.sleep(pause)

    async def _check(self, probe: Probe, endpoint: Endpoint) -> None:
        """Raise RunCancelled or BudgetSpent where the probe's run may not go on."""
        await self.rejected.wait_while_undecided(probe)
        await self.cancellation.check(probe)
        await self.budgets.check(probe, priced=endpoint.price is not None)

    async def _try(
        self, probe: Probe, call: ModelCall, endpoint: Endpoint
    ) -> ModelAnswer | CallFailed:
        """Make one try once the rate limiter allows it, if its run may still go on then."""
        began = self._clock()
        try:
            async with endpoint.limiter.slot():
                await self._check(probe, endpoint)
                began, failure = self._clock(), None
                try:
                    answer = await asked(endpoint.model, call)
                except CallFailed as failed:
                    failure = failed.why
                    raise
                else:
                    before = self._answered_from.get(probe.lane, began)
                    self._answered_from[probe.lane] = max(began, before)
                    self.rejected.accept(probe)
                    return answer
                finally:
                    allowed = endpoint.limiter.limit.allowed
                    endpoint.metrics.tried(self._clock() - began, failure, allowed)
        except CallFailed as failed:
            if failed.why is Failure.KEY_REFUSED:
                raise TargetRefused(failed.detail, began=began) from None
            return failed

    async def _count(
        self,
        probe: Probe,
        planned: PlannedCall,
        endpoint: Endpoint,
        try_: tuple[int, int],
        outcome: ModelAnswer | CallFailed,
    ) -> None:
        """Count what one try cost, before anything is made of what it brought."""
        if isinstance(outcome, CallFailed) and outcome.tokens is None:
            return
        cost, (read, written) = _cost(outcome, endpoint.price), _tokens(outcome).values()
        tokens = None if read is None or written is None else read + written
        endpoint.metrics.paid(read, written, cost)
        answer = outcome if isinstance(outcome, ModelAnswer) else None
        with self.budgets.adding(probe, tokens, cost):
            await self._paid.put(probe, planned.name, try_, answer, cost, tokens)


async def asked(model: ChatModel, call: ModelCall) -> ModelAnswer:
    """Ask a model; whatever its reply breaks in an adapter is that call's outcome.

    Raises
    ------
    CallFailed
        There is no answer.
    """
    try:
        return await model.ask(call)
    except CallFailed:
        raise
    except Exception as error:  # noqa: BLE001 - no reply may end more than its own call
        kind = type(error).__name__
        log("generator").error("a reply has broken its adapter", error=kind)
        said = f"The reply could not be read ({kind})."
        raise CallFailed(Failure.GARBAGE, said, tokens=UNKNOWN_TOKENS) from None


def _used_up(begun: int) -> CallFailed:
    said = f"The call was begun {begun} times, and no outcome of it could be recorded."
    return CallFailed(Failure.CALLS_USED_UP, said)


def _result(planned: PlannedCall, answer: ModelAnswer, usage: Usage) -> CallResult:
    result = final_answer(answer, usage)
    if planned.scale is None or result.failure:
        return result
    try:
        return replace(result, rating=rating_in(result.text, planned.scale))
    except Unreadable as unread:
        return replace(result, unread=str(unread))


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
