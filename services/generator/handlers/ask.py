"""Puts probes to their targets; a call never disappears, whatever happens to it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from services.generator.domain import answered, call_of, failed, pause_s
from services.generator.handlers.wanted import Wanted
from shared.contracts import Probe, Response, Target, Usage, response_id_of
from shared.errors import PoisonError
from shared.llm.port import MAY_PASS, Answer, CallFailed, ChatModel
from shared.runtime.lookup import Lookup
from shared.runtime.threads import in_thread
from shared.store import Records

ModelOf = Callable[[Target], ChatModel]


class Ask:
    """The handler of probes."""

    def __init__(
        self,
        records: Records,
        model_of: ModelOf,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
        luck: Callable[[], float],
        tries: int,
        timeout_s: float,
    ) -> None:
        self._known = Lookup(lambda ids: {r.id: r for r in records.get(Response, ids)})
        self._wanted = Wanted(records, clock=clock)
        self._model_of = model_of
        self._now = now
        self._clock = clock
        self._luck = luck
        self._tries = tries
        self._timeout_s = timeout_s
        self._models: dict[str, ChatModel] = {}
        self._preparing = asyncio.Lock()

    async def __call__(self, probe: Probe) -> Sequence[Response]:
        """Give the one response to a probe; one that was answered before is not asked again.

        A probe of a cancelled run is dropped: the run no longer waits for it.
        """
        if probe.scaffold != "direct" and probe.target.provider != "replay":
            raise PoisonError(
                f"The scaffold {probe.scaffold} is not known here; recorded answers may have any."
            )
        if known := await self._known.get(response_id_of(probe)):
            return [known]
        answer = await self._asked(probe)
        return [answer] if answer else []

    async def _asked(self, probe: Probe) -> Response | None:
        """Ask until there is an outcome, or until nobody wants one any more."""
        model = await self._model(probe.target)
        call = call_of(probe, self._timeout_s)
        began = self._clock()
        for attempt in range(self._tries):
            if not await self._wanted(probe):
                return None
            try:
                answer = await model.ask(replace(call, attempt=attempt))
            except CallFailed as failure:
                if failure.why not in MAY_PASS or attempt == self._tries - 1:
                    usage = self._usage(attempt, began, None)
                    return failed(probe, failure, usage, self._now())
                await asyncio.sleep(pause_s(failure, attempt, self._luck()))
            else:
                return answered(probe, answer, self._usage(attempt, began, answer), self._now())
        raise AssertionError("the last try either answers or fails")

    async def _model(self, target: Target) -> ChatModel:
        if target.lane not in self._models:
            async with self._preparing:  # every slot may be here; one prepares, the others wait
                if target.lane not in self._models:
                    self._models[target.lane] = await in_thread(self._model_of, target)
        return self._models[target.lane]

    def _usage(self, attempt: int, began: float, answer: Answer | None) -> Usage:
        return Usage(
            prompt_tokens=answer.prompt_tokens if answer else None,
            completion_tokens=answer.completion_tokens if answer else None,
            calls=attempt + 1,
            retries=attempt,
            latency_s=max(0.0, self._clock() - began),
        )
