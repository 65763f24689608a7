"""Puts probes to their targets; a call never disappears, whatever happens to it."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from services.generator.domain.outcome import (
    UNFIT,
    answered,
    broken_off,
    concluded,
    total,
    without,
)
from services.generator.domain.plan import ANSWER, Heard, Scaffold, SubCall
from services.generator.domain.scaffolds import scaffold_of
from services.generator.domain.variables import Unfit
from services.generator.handlers.caller import Caller, Lane, NotWanted
from services.generator.handlers.purse import Purse, Spent
from shared.contracts import Probe, Record, Response, Target, Usage, response_id_of
from shared.errors import ConfigurationError
from shared.parsing import Unreadable
from shared.runtime.blocking import BatchedLookup, in_thread
from shared.store import Records

LaneOf = Callable[[Target], Lane]


class Ask:
    """The handler of probes."""

    def __init__(
        self,
        records: Records,
        lane_of: LaneOf,
        caller: Caller,
        purse: Purse,
        *,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._known = BatchedLookup(lambda ids: {r.id: r for r in records.get(Response, ids)})
        self._lane_of = lane_of
        self._caller = caller
        self._purse = purse
        self._now = now
        self._clock = clock
        self._lanes: dict[str, Lane] = {}
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
        except NotWanted:
            return []
        except Spent as spent:
            return self._purse.news(probe, str(spent))

    async def close(self) -> None:
        """Let go of the connections to every target."""
        for lane in self._lanes.values():
            await lane.model.close()

    async def _response(self, probe: Probe) -> Response:
        try:
            lane = await self._lane(probe.target)
        except ConfigurationError:  # a person must act, unless a person has cancelled the run
            await self._caller.check_wanted(probe)
            raise
        began = self._clock()
        if probe.target.provider == "replay":  # what was recorded under a scaffold is its answer
            [heard] = await self._round(probe, (SubCall(ANSWER, probe.messages),), lane)
            return answered(probe, heard, heard.usage, self._now())
        try:
            scaffold = scaffold_of(probe.scaffold)
            calls = scaffold.first(probe)
        except Unfit as unfit:
            return without(probe, UNFIT, str(unfit), Usage(calls=0), self._now())
        if [call.name for call in calls] == [ANSWER]:
            [heard] = await self._round(probe, calls, lane)
            return answered(probe, heard, heard.usage, self._now())
        return await self._several(probe, scaffold, calls, lane, began)

    async def _several(
        self,
        probe: Probe,
        scaffold: Scaffold,
        calls: tuple[SubCall, ...],
        lane: Lane,
        began: float,
    ) -> Response:
        """Carry out a plan round by round; what waits for nothing goes at the same time."""
        heard: dict[str, Heard] = {}
        while calls:
            round_ = await self._round(probe, calls, lane)
            heard.update({call.name: each for call, each in zip(calls, round_, strict=True)})
            usage = total([each.usage for each in heard.values()], self._clock() - began)
            if response := broken_off(probe, heard, usage, self._now()):
                return response
            calls = scaffold.then(probe, heard)
        usage = total([each.usage for each in heard.values()], self._clock() - began)
        try:
            text = scaffold.conclude(probe, heard)
        except Unreadable as unread:
            return without(
                probe, str(unread), "The scaffold came to no answer.", usage, self._now()
            )
        return concluded(probe, text, heard, usage, self._now())

    async def _round(self, probe: Probe, calls: tuple[SubCall, ...], lane: Lane) -> Sequence[Heard]:
        """Make calls at the same time; all end, and are kept, before one's trouble is raised."""
        if len(calls) == 1:
            return [await self._caller.hear(probe, calls[0], lane)]
        made = (self._caller.hear(probe, call, lane) for call in calls)
        ended = await asyncio.gather(*made, return_exceptions=True)
        for each in ended:
            if isinstance(each, BaseException):
                raise each
        return [each for each in ended if isinstance(each, Heard)]

    async def _lane(self, target: Target) -> Lane:
        if target.lane not in self._lanes:
            async with self._preparing:  # every slot may be here; one prepares, the others wait
                if target.lane not in self._lanes:
                    self._lanes[target.lane] = await in_thread(self._lane_of, target)
        return self._lanes[target.lane]
