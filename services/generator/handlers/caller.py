"""Makes one call of a plan, as often as it takes; it ends in an answer or in a named failure."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from services.generator.domain.asking import call_of, pause_s
from services.generator.domain.plan import Heard, SubCall
from services.generator.domain.price import Price, cost_of
from services.generator.domain.reading import rating_in
from services.generator.handlers.gate import Gate
from services.generator.handlers.keeping import Keeping, call_id
from services.generator.handlers.meter import Meter
from services.generator.handlers.purse import Purse
from services.generator.handlers.turns import Turns
from services.generator.handlers.wanted import Wanted
from shared.contracts import Probe, Usage
from shared.llm.port import MAY_PASS, Answer, Call, CallFailed, ChatModel, Failure
from shared.parsing import Unreadable


class NotWanted(Exception):  # noqa: N818 - an outcome, not an accident
    """The run was cancelled meanwhile."""


@dataclass(frozen=True)
class Lane:
    """All that one target needs: who answers, how fast it is asked, what it costs."""

    model: ChatModel
    gate: Gate
    meter: Meter
    price: Price | None
    keeps: bool
    """Whether its answers are paid for, so that they are kept and counted against a budget."""


@dataclass(frozen=True)
class Patience:
    """How long one goes on asking."""

    tries: int
    """How often a call may fail before its failure is the outcome; a 429 is not counted."""
    limited_s: float
    """How long a call may be put off by 429s."""
    timeout_s: float
    """How long one try may take."""


class Caller:
    """Calls models for all probes."""

    def __init__(
        self,
        *,
        wanted: Wanted,
        keeping: Keeping,
        purse: Purse,
        now: Callable[[], datetime],
        clock: Callable[[], float],
        luck: Callable[[], float],
        patience: Patience,
    ) -> None:
        self._wanted, self._keeping, self._purse = wanted, keeping, purse
        self._now, self._clock, self._luck = now, clock, luck
        self._patience = patience
        self._turns = Turns()

    async def hear(self, probe: Probe, sub: SubCall, lane: Lane) -> Heard:
        """Return what a call brings; raise NotWanted or Spent where it shall not be made.

        Two copies of a probe may be in hand at once: the second waits for what the first pays for.
        """
        async with self._turns.one(call_id(probe, sub.name)):
            return await self._hear(probe, sub, lane)

    async def _hear(self, probe: Probe, sub: SubCall, lane: Lane) -> Heard:
        if lane.keeps and (known := await self._keeping.known(probe, sub.name)):
            lane.meter.kept()
            cost = cost_of(known, lane.price)
            return _heard(sub, known, Usage(**_tokens(known), calls=1, retries=0, cost=cost))
        began = self._clock()
        tried, outcome = await self._outcome(probe, sub, lane)
        usage = Usage(
            calls=tried,
            retries=tried - 1,
            latency_s=max(0.0, self._clock() - began),
            **_tokens(outcome),
            cost=_cost(outcome, lane.price),
        )
        if lane.keeps:
            await self._pay(probe, sub, outcome, usage, lane)
        if isinstance(outcome, CallFailed):
            return Heard(failure=outcome, usage=usage)
        return _heard(sub, outcome, usage)

    async def _pay(
        self, probe: Probe, sub: SubCall, outcome: Answer | CallFailed, usage: Usage, lane: Lane
    ) -> None:
        """Keep and count what was paid for."""
        answer = outcome if isinstance(outcome, Answer) else None
        if answer is None and isinstance(outcome, CallFailed) and outcome.tokens is None:
            return
        read, written = usage.prompt_tokens, usage.completion_tokens
        tokens = None if read is None or written is None else read + written
        lane.meter.spent(read, written, usage.cost)
        self._purse.add(probe, tokens, usage.cost)
        await self._keeping.keep(probe, sub.name, answer, usage.cost, tokens, self._now())

    async def _outcome(
        self, probe: Probe, sub: SubCall, lane: Lane
    ) -> tuple[int, Answer | CallFailed]:
        """Ask until there is an outcome; give how many tries it took."""
        call = call_of(probe, sub, self._patience.timeout_s)
        began, tried, faults = self._clock(), 0, 0
        while True:
            try:
                answer = await self._try(probe, replace(call, attempt=tried), lane)
            except CallFailed as failure:
                tried += 1
                faults += failure.why is not Failure.RATE_LIMITED
                pause = pause_s(failure, tried - 1, self._luck())
                left_s = self._patience.limited_s - (self._clock() - began)
                spent = faults >= self._patience.tries or pause > left_s
                if failure.why not in MAY_PASS or spent:
                    return tried, failure
                await asyncio.sleep(pause)
            else:
                return tried + 1, answer

    async def check_wanted(self, probe: Probe) -> None:
        """Raise NotWanted where the run of a probe was cancelled."""
        if not await self._wanted(probe):
            raise NotWanted

    async def _try(self, probe: Probe, call: Call, lane: Lane) -> Answer:
        """Make one try, once there is a place, if it is still wanted then."""
        async with lane.gate.passing():
            await self.check_wanted(probe)
            if lane.keeps:
                await self._purse.check(probe, priced=lane.price is not None)
            began, failure = self._clock(), None
            try:
                return await lane.model.ask(call)
            except CallFailed as failed:
                failure = failed.why
                raise
            finally:
                lane.meter.tried(self._clock() - began, failure)
                lane.meter.paced(lane.gate.pace)


def _heard(sub: SubCall, answer: Answer, usage: Usage) -> Heard:
    if sub.scale is None:
        return Heard(answer, usage=usage)
    try:
        return Heard(answer, rating=rating_in(answer.text, sub.scale), usage=usage)
    except Unreadable as unread:
        return Heard(answer, unread=str(unread), usage=usage)


def _tokens(outcome: Answer | CallFailed) -> dict[str, int | None]:
    if isinstance(outcome, CallFailed):
        read, written = outcome.tokens or (None, None)
    else:
        read, written = outcome.prompt_tokens, outcome.completion_tokens
    return {"prompt_tokens": read, "completion_tokens": written}


def _cost(outcome: Answer | CallFailed, price: Price | None) -> float | None:
    if isinstance(outcome, Answer):
        return cost_of(outcome, price)
    read, written = outcome.tokens or (None, None)
    return cost_of(Answer("", prompt_tokens=read, completion_tokens=written), price)
