"""Puts probes to their targets; a call never disappears, whatever happens to it."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from services.generator.domain.outcome import UNFIT, answered, broken_off, concluded, total, without
from services.generator.domain.questions import UnfitProbe
from services.generator.domain.recorded_steps import recorded_results
from services.generator.domain.scaffolds import (
    ANSWER,
    CallResult,
    PlannedCall,
    Scaffold,
    scaffold_of,
)
from services.generator.handlers.budget_and_cancellation import BudgetSpent, RunCancelled
from services.generator.handlers.caller import ModelCaller
from services.generator.handlers.endpoints import Endpoint
from shared.contracts import Probe, Record, Response, Target, Usage, response_id_of
from shared.contracts.providers import PROVIDERS
from shared.errors import ConfigurationError
from shared.parsing import Unreadable
from shared.runtime.blocking import BatchedLookup, in_thread
from shared.store import Records

EndpointOf = Callable[[Target], Endpoint]


class Ask:
    """The handler of probes."""

    def __init__(
        self,
        records: Records,
        endpoint_of: EndpointOf,
        caller: ModelCaller,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._known = BatchedLookup(lambda ids: {r.id: r for r in records.get(Response, ids)})
        self._endpoint_of = endpoint_of
        self._caller = caller
        self._now = now
        self._clock = clock
        self._endpoints: dict[str, Endpoint] = {}
        self._preparing = asyncio.Lock()

    async def __call__(self, probe: Probe) -> Sequence[Record]:
        """Return the one response to a probe; one that was answered before is not asked again.

        A probe of a cancelled run is dropped: the run no longer waits for it. One whose run has
        spent its budget is dropped too, and the first of them ends the run.
        """
        if known := await self._known.get(response_id_of(probe)):
            return [known]
        try:
            return [await self._response(probe)]
        except RunCancelled:
            return []
        except BudgetSpent as spent:
            return self._caller.budgets.stop(probe, str(spent))

    async def close(self) -> None:
        """Close the connections to every target."""
        for endpoint in self._endpoints.values():
            await endpoint.model.close()

    async def _response(self, probe: Probe) -> Response:
        try:
            endpoint = await self._endpoint(probe.target)
        except ConfigurationError:  # a person must act, unless a person has cancelled the run
            await self._caller.cancellation.check(probe)
            raise
        began = self._clock()
        try:
            if PROVIDERS[probe.target.provider].recorded:
                return await self._recorded(probe, endpoint)
            scaffold = scaffold_of(probe.scaffold)
            calls = scaffold.first(probe)
        except UnfitProbe as unfit:
            return without(probe, UNFIT, str(unfit), Usage(calls=0), self._now())
        if [call.name for call in calls] == [ANSWER]:
            [result] = await self._round(probe, calls, endpoint)
            return answered(probe, result, self._now())
        return await self._several(probe, scaffold, calls, endpoint, began)

    async def _recorded(self, probe: Probe, endpoint: Endpoint) -> Response:
        """Return what was recorded under a scaffold: that is its answer, with the steps to it."""
        [result] = await self._round(probe, (PlannedCall(ANSWER, probe.messages),), endpoint)
        steps = recorded_results(probe, result.answer.steps) if result.answer else {}
        return answered(probe, result, self._now(), steps)

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

    async def _endpoint(self, target: Target) -> Endpoint:
        if target.lane not in self._endpoints:
            async with self._preparing:  # every slot may be here; one prepares, the others wait
                if target.lane not in self._endpoints:
                    self._endpoints[target.lane] = await in_thread(self._endpoint_of, target)
        return self._endpoints[target.lane]
