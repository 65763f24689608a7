"""The handler of probes: asks their targets and returns one response to each."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from biaswatch.services.generator.domain.model_calls import call_of
from biaswatch.services.generator.domain.outcome import (
    NOTHING_SPENT,
    UNFIT,
    failed_plan,
    failed_response,
    final_answer,
    inconclusive_plan,
    recorded_results,
    response_from_call,
    response_from_plan,
    shrink_to_bus,
    sum_usage,
)
from biaswatch.services.generator.domain.planned_calls import (
    ANSWER,
    CallResult,
    PlannedCall,
    Scaffold,
)
from biaswatch.services.generator.domain.questions import UnfitProbe, check_purged
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.services.generator.handlers.batched_calls import WaitsForBatch
from biaswatch.services.generator.handlers.caller import ModelCaller, ask_model
from biaswatch.services.generator.handlers.endpoints import Endpoint
from biaswatch.services.generator.handlers.run_limits import BudgetSpent, RunCancelled
from biaswatch.services.generator.handlers.target_pauses import (
    MAX_REFUSALS,
    TargetPauses,
    TargetRefused,
)
from biaswatch.shared.contracts import Probe, Record, Response, Target, Usage, response_id_of
from biaswatch.shared.contracts.providers import is_recorded
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.llm.port import TARGET_SAYS, CallFailed, Failure
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.runtime.threads import BatchedLookup, in_thread
from biaswatch.shared.store import Records
from biaswatch.shared.telemetry import log

ONE_LOOKUP = Usage(calls=1, retries=0, latency_s=0.0)
UNRECORDABLE = (ValueError, TypeError, ArithmeticError, LookupError, RecursionError)
"""Errors of a reply that cannot become a response; they fail that probe only."""
MAX_RETIRED = 10
"""Replaced endpoints that are kept open, as calls may still use them."""
BATCH_WINDOW_S = 0.01
"""Time to collect store lookups into one query; negligible beside a model call."""


class Ask:
    """The handler of probes."""

    def __init__(
        self,
        records: Records,
        endpoint_of: Callable[[Target], Endpoint],
        caller: ModelCaller,
        pauses: TargetPauses,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._responses = BatchedLookup(
            lambda ids: {response.id: response for response in records.get(Response, ids)},
            batch_window_s=BATCH_WINDOW_S,
        )
        self._endpoint_of = endpoint_of
        self._caller = caller
        self._pauses = pauses
        self._now = now
        self._clock = clock
        self._endpoints: dict[str, Endpoint] = {}
        self._retired: list[Endpoint] = []
        self._connecting = asyncio.Lock()

    async def __call__(self, probe: Probe) -> Sequence[Record]:
        """Return the response to a probe; the stored one if it was answered before.

        A probe whose calls are answered in a batch is asked again with their outcomes. A probe of a
        cancelled run is dropped, as the run no longer waits for it. A probe of a run
        over its budget is dropped too, and the first of them stops the run. If the provider rejects
        all first calls of a run, the run is stopped, and resuming it asks them again.
        """
        return await self._records(probe, self._ask_when_allowed)

    async def resume(self, probe: Probe) -> Sequence[Record]:
        """Return the records that follow from the outcomes of a batch, also for a paused target."""
        return await self._records(probe, lambda p: self._response(p, self._scaffold_response))

    async def _records(
        self, probe: Probe, respond: Callable[[Probe], Awaitable[Response | None]]
    ) -> Sequence[Record]:
        if stored := await self._responses.get(response_id_of(probe)):
            return [stored]
        try:
            if is_recorded(probe.target.provider):
                recorded = await self._response(probe, self._recorded_response)
                return [recorded] if recorded else []
            response = await respond(probe)
            return await self._caller.rejected.records_of(response) if response else []
        except RunCancelled:
            return []
        except BudgetSpent as spent:
            return self._caller.budgets.stop(probe, str(spent))

    async def close(self) -> None:
        """Close the connections to every target."""
        for endpoint in (*self._endpoints.values(), *self._retired):
            await endpoint.model.close()

    async def _ask_when_allowed(self, probe: Probe) -> Response | None:
        """Ask the target once it accepts calls; the probe waits while the target is paused."""
        pause, refused_at = self._pauses.of(probe.target), list[float]()
        while True:
            trial = await pause.wait_until_allowed(lambda: self._caller.cancellation.check(probe))
            try:
                if trial:
                    await self.reconnect(probe.target, probe.user)
                response = await self._response(probe, self._scaffold_response)
            except TargetRefused as refused:
                if refused.began is not None:
                    refused_at.append(refused.began)
                if failed := self._refused(probe, refused_at, str(refused)):
                    return failed
                await pause.refuse(str(refused), trial=trial)
                continue
            finally:
                if trial:
                    pause.end_trial()
            if trial:
                await pause.resume()
            return response

    async def _response(
        self, probe: Probe, respond: Callable[[Probe, Endpoint], Awaitable[Response]]
    ) -> Response | None:
        """Return the response to a probe, small enough for the bus; None while a batch has it."""
        try:
            try:
                endpoint = await self.endpoint(probe.target)
            except (ConfigurationError, UsageError) as missing:  # it concerns this target only
                if is_recorded(probe.target.provider):
                    raise
                raise TargetRefused(str(missing)) from None
            return shrink_to_bus(await respond(probe, endpoint))
        except WaitsForBatch:
            return None
        except UnfitProbe as unfit:
            return failed_response(probe, UNFIT, str(unfit), NOTHING_SPENT, self._now())
        except UNRECORDABLE as error:
            kind = type(error).__name__
            log("generator").error("a reply cannot be recorded", error=kind)
            detail = f"The result of the calls cannot be recorded ({kind})."
            return failed_response(probe, Failure.GARBAGE, detail, Usage(), self._now())

    def _refused(self, probe: Probe, refused_at: Sequence[float], why: str) -> Response | None:
        """Return the response to a probe whose calls were refused; None while it waits."""
        usage = Usage(calls=len(refused_at))
        if refused_at and self._caller.answered_since(probe.lane, refused_at[0]):
            detail = "The target refuses this question (HTTP 401 or 403), and answers others."
            detail += "".join(why.partition(TARGET_SAYS)[1:])
            return failed_response(probe, Failure.FORBIDDEN, detail, usage, self._now())
        if len(refused_at) >= MAX_REFUSALS:
            return failed_response(probe, Failure.KEY_REFUSED, why, usage, self._now())
        return None

    async def _recorded_response(self, probe: Probe, endpoint: Endpoint) -> Response:
        """Return the recorded answer with its steps; scaffolds do not apply to recordings."""
        await self._caller.cancellation.check(probe)
        call = call_of(probe, PlannedCall(ANSWER, probe.messages), timeout_s=0.0)
        try:
            answer = await ask_model(endpoint.model, call)
        except CallFailed as failed:
            endpoint.metrics.count_outcome(failed.why)
            result = CallResult(failure=failed, usage=ONE_LOOKUP)
            return response_from_call(probe, result, self._now())
        endpoint.metrics.count_outcome(None)
        steps = recorded_results(probe, answer.steps)
        return response_from_call(probe, final_answer(answer, ONE_LOOKUP), self._now(), steps)

    async def _scaffold_response(self, probe: Probe, endpoint: Endpoint) -> Response:
        """Carry out the scaffold of a probe."""
        began = self._clock()
        check_purged(probe)
        scaffold = scaffold_of(probe.scaffold)
        calls = scaffold.first(probe)
        if [call.name for call in calls] == [ANSWER]:
            result = await self._caller.call(probe, calls[0], endpoint)
            return response_from_call(probe, result, self._now())
        return await self._planned_response(probe, scaffold, calls, endpoint, began)

    async def _planned_response(
        self,
        probe: Probe,
        scaffold: Scaffold,
        calls: tuple[PlannedCall, ...],
        endpoint: Endpoint,
        began: float,
    ) -> Response:
        """Carry out a plan of several calls; independent calls run concurrently."""
        results: dict[str, CallResult] = {}
        usage = NOTHING_SPENT
        while calls:
            outcomes = await asyncio.gather(
                *(self._call(probe, call, endpoint) for call in calls),
                return_exceptions=True,  # all calls end and are stored before an error is raised
            )
            for call, outcome in zip(calls, outcomes, strict=True):
                if isinstance(outcome, BaseException):
                    raise outcome
                results[call.name] = outcome
            usage = sum_usage([r.usage for r in results.values()], self._clock() - began)
            if failed := failed_plan(
                probe, results, usage, self._now(), required=scaffold.required(results)
            ):
                return failed
            calls = scaffold.then(probe, results)
        try:
            text = scaffold.conclude(probe, results)
        except Unreadable as error:
            return inconclusive_plan(probe, results, usage, self._now(), reason=str(error))
        return response_from_plan(probe, text, results, usage, self._now())

    async def _call(self, probe: Probe, call: PlannedCall, endpoint: Endpoint) -> CallResult:
        """Make one call of a plan; another model than the target has its own endpoint."""
        if call.target is not None and call.target.lane != probe.target.lane:
            endpoint = await self.endpoint(call.target)
        return await self._caller.call(probe, call, endpoint)

    async def reconnect(self, *targets: Target | None) -> None:
        """Replace the endpoints of targets, so that they use the current keys."""
        for target in filter(None, targets):
            if (old := self._endpoints.pop(target.lane, None)) is not None:
                self._retired.append(old)
        while len(self._retired) > MAX_RETIRED:
            await self._retired.pop(0).model.close()

    async def endpoint(self, target: Target) -> Endpoint:
        """Return the endpoint of a target; raise ConfigurationError without its key."""
        if target.lane not in self._endpoints:
            async with self._connecting:
                if target.lane not in self._endpoints:
                    self._endpoints[target.lane] = await in_thread(self._endpoint_of, target)
        return self._endpoints[target.lane]
