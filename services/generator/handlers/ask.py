"""Puts probes to their targets; a call never disappears, whatever happens to it."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from biaswatch.services.generator.domain.model_calls import call_of
from biaswatch.services.generator.domain.outcome import (
    UNFIT,
    answered,
    broken_off,
    concluded,
    final_answer,
    fitting,
    recorded_results,
    total,
    unrecordable,
    without,
)
from biaswatch.services.generator.domain.questions import UnfitProbe, check_purged
from biaswatch.services.generator.domain.scaffolds import (
    ANSWER,
    CallResult,
    PlannedCall,
    Scaffold,
    scaffold_of,
)
from biaswatch.services.generator.handlers.budget_and_cancellation import (
    BudgetSpent,
    CancellationCheck,
    RunCancelled,
)
from biaswatch.services.generator.handlers.caller import ModelCaller, asked
from biaswatch.services.generator.handlers.endpoints import Endpoint
from biaswatch.services.generator.handlers.target_pauses import (
    MOST_REFUSALS,
    TargetPauses,
    TargetRefused,
)
from biaswatch.shared.contracts import Probe, Record, Response, Target, Usage, response_id_of
from biaswatch.shared.contracts.providers import is_recorded
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.llm.port import TARGET_SAYS, CallFailed, Failure
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.runtime.blocking import BatchedLookup, in_thread
from biaswatch.shared.store import Records
from biaswatch.shared.telemetry import log

LOOKED_UP = Usage(calls=1, retries=0, latency_s=0.0)
AT_ONCE_S = 0.0
"""The time a look-up may take: it waits for nobody."""


class RecordedAnswers:
    """Answers probes from what was recorded, under any scaffold: that is the answer to it."""

    def __init__(self, cancellation: CancellationCheck, *, now: Callable[[], datetime]) -> None:
        self._cancellation = cancellation
        self._now = now

    async def of(self, probe: Probe, endpoint: Endpoint) -> Response:
        """Return the recorded answer with the steps to it, or why there is none.

        Raises
        ------
        RunCancelled
            The probe's run was cancelled.
        """
        await self._cancellation.check(probe)
        call = call_of(probe, PlannedCall(ANSWER, probe.messages), AT_ONCE_S)
        try:
            answer = await asked(endpoint.model, call)
        except CallFailed as failed:
            endpoint.metrics.looked_up(failed.why)
            return answered(probe, CallResult(failure=failed, usage=LOOKED_UP), self._now())
        endpoint.metrics.looked_up(None)
        try:
            steps = recorded_results(probe, answer.steps)
        except UnfitProbe as unfit:
            return without(probe, UNFIT, str(unfit), Usage(calls=0), self._now())
        return answered(probe, final_answer(answer, LOOKED_UP), self._now(), steps)


UNRECORDABLE = (ValueError, TypeError, ArithmeticError, LookupError, RecursionError)
"""What a reply can break where it becomes a response: that is its outcome."""
MOST_RETIRED = 10
"""Endpoints that were replaced and not closed yet: the waits between them are longer than calls."""
TOGETHER_S = 0.01
"""How long a probe waits for others to be looked up with: nothing beside what a call takes, and a
query for one costs almost what one for a hundred does."""
EndpointOf = Callable[[Target], Endpoint]


class Ask:
    """The handler of probes."""

    def __init__(
        self,
        records: Records,
        endpoint_of: EndpointOf,
        caller: ModelCaller,
        pauses: TargetPauses,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._known = BatchedLookup(
            lambda ids: {r.id: r for r in records.get(Response, ids)}, linger_s=TOGETHER_S
        )
        self._endpoint_of = endpoint_of
        self._caller = caller
        self._recorded = RecordedAnswers(caller.cancellation, now=now)
        self._pauses = pauses
        self._now = now
        self._clock = clock
        self._endpoints: dict[str, Endpoint] = {}
        self._retired: list[Endpoint] = []
        self._preparing = asyncio.Lock()

    async def __call__(self, probe: Probe) -> Sequence[Record]:
        """Return the one response to a probe; one that was answered before is not asked again.

        A probe of a cancelled run is dropped: the run no longer waits for it. One whose run has
        spent its budget is dropped too, and the first of them ends the run. A run ends as
        well where the provider rejects all of its first calls; those are asked again with it.
        """
        if known := await self._known.get(response_id_of(probe)):
            return [known]
        try:
            if is_recorded(probe.target.provider):
                return [await self._looked_up(probe)]
            return await self._caller.rejected.records_of(await self._asked(probe))
        except RunCancelled:
            return []
        except BudgetSpent as spent:
            return self._caller.budgets.stop(probe, str(spent))

    async def close(self) -> None:
        """Close the connections to every target."""
        for endpoint in (*self._endpoints.values(), *self._retired):
            await endpoint.model.close()

    async def _looked_up(self, probe: Probe) -> Response:
        """Return what was recorded; a target that is a file is never paused."""
        endpoint = await self._endpoint(probe.target)
        try:
            return fitting(await self._recorded.of(probe, endpoint))
        except UNRECORDABLE as error:
            return self._unrecordable(probe, error)

    async def _asked(self, probe: Probe) -> Response:
        """Ask as soon as the target accepts calls; until then the probe waits."""
        pause, refusals = self._pauses.of(probe.target), list[float]()
        while True:
            trial = await pause.turn(lambda: self._caller.cancellation.check(probe))
            try:
                if trial:
                    await self._renew(probe.target)
                response = fitting(await self._response(probe))
            except UNRECORDABLE as error:
                response = self._unrecordable(probe, error)
            except TargetRefused as refused:
                refusals += [] if refused.began is None else [refused.began]
                if outcome := self._refused(probe, refusals, str(refused)):
                    return outcome
                await pause.refuse(str(refused), trial=trial)
                continue
            finally:
                if trial:
                    pause.end_trial()
            if trial:
                await pause.resume()
            return response

    def _unrecordable(self, probe: Probe, error: Exception) -> Response:
        log("generator").error("a reply cannot be recorded", error=type(error).__name__)
        return unrecordable(probe, error, self._now())

    def _refused(self, probe: Probe, began: Sequence[float], why: str) -> Response | None:
        """Return the outcome of a probe whose calls were refused; None where it is to wait."""
        usage = Usage(calls=len(began))
        if began and self._caller.answered_since(probe.lane, began[0]):
            detail = "The target refuses this question (HTTP 401 or 403), and answers others."
            detail += "".join(why.partition(TARGET_SAYS)[1:])
            return without(probe, Failure.FORBIDDEN, detail, usage, self._now())
        if len(began) >= MOST_REFUSALS:
            return without(probe, Failure.KEY_REFUSED, why, usage, self._now())
        return None

    async def _response(self, probe: Probe) -> Response:
        try:
            endpoint = await self._endpoint(probe.target)
        except (ConfigurationError, UsageError) as missing:  # of this target's, and nobody else's
            raise TargetRefused(str(missing)) from None
        began = self._clock()
        try:
            check_purged(probe)
            scaffold = scaffold_of(probe.scaffold)
            calls = scaffold.first(probe)
        except UnfitProbe as unfit:
            return without(probe, UNFIT, str(unfit), Usage(calls=0), self._now())
        if [call.name for call in calls] == [ANSWER]:
            [result] = await self._round(probe, calls, endpoint)
            return answered(probe, result, self._now())
        return await self._several(probe, scaffold, calls, endpoint, began)

    async def _several(
        self,
        probe: Probe,
        scaffold: Scaffold,
        calls: tuple[PlannedCall, ...],
        endpoint: Endpoint,
        began: float,
    ) -> Response:
        """Carry out a plan round by round; what waits for nothing goes at the same time."""
        results: dict[str, CallResult] = {}
        usage = Usage(calls=0)
        while calls:
            round_ = await self._round(probe, calls, endpoint)
            results.update({call.name: each for call, each in zip(calls, round_, strict=True)})
            usage = total([each.usage for each in results.values()], self._clock() - began)
            if response := broken_off(probe, results, usage, self._now()):
                return response
            calls = scaffold.then(probe, results)
        try:
            text = scaffold.conclude(probe, results)
        except Unreadable as unread:
            detail = "The scaffold came to no answer."
            return without(probe, str(unread), detail, usage, self._now())
        return concluded(probe, text, results, usage, self._now())

    async def _round(
        self, probe: Probe, calls: tuple[PlannedCall, ...], endpoint: Endpoint
    ) -> Sequence[CallResult]:
        """Make calls at the same time; all end, and are kept, before one's trouble is raised."""
        if len(calls) == 1:
            return [await self._caller.call(probe, calls[0], endpoint)]
        made = (self._caller.call(probe, call, endpoint) for call in calls)
        ended = await asyncio.gather(*made, return_exceptions=True)
        for each in ended:
            if isinstance(each, BaseException):
                raise each
        return [each for each in ended if isinstance(each, CallResult)]

    async def _renew(self, target: Target) -> None:
        """Let the endpoint of a target be made anew, with the key it has by now."""
        if (old := self._endpoints.pop(target.lane, None)) is not None:
            self._retired.append(old)  # calls may still be under way there
        while len(self._retired) > MOST_RETIRED:
            await self._retired.pop(0).model.close()

    async def _endpoint(self, target: Target) -> Endpoint:
        if target.lane not in self._endpoints:
            async with self._preparing:  # every slot may be here; one prepares, the others wait
                if target.lane not in self._endpoints:
                    self._endpoints[target.lane] = await in_thread(self._endpoint_of, target)
        return self._endpoints[target.lane]
