"""Lets calls to one target begin as fast as its pace allows, first come first served."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.generator.domain.pace import Bounds, Pace
from shared.llm.port import CallFailed, Failure


class Gate:
    """Counts the calls under way; what ends teaches the pace and lets the next begin."""

    def __init__(self, bounds: Bounds, *, clock: Callable[[], float]) -> None:
        self.pace = Pace.of(bounds)
        self._clock = clock
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        """Wait for a place, hold it while the context lasts, and learn from how it ends."""
        await self._enter()
        begun = self._clock()
        try:
            yield
        except CallFailed as failure:
            self._learn(failure, begun)
            raise
        else:
            self.pace = self.pace.answered(self._clock(), in_use=self._under_way)
        finally:
            self._under_way -= 1
            self._let_in()

    async def _enter(self) -> None:
        if self._under_way < self.pace.allowed and not self._waiting:
            self._under_way += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # let in and cancelled in the same moment
                self._under_way -= 1
                self._let_in()
            raise

    def _let_in(self) -> None:
        while self._waiting and self._under_way < self.pace.allowed:
            turn = self._waiting.popleft()
            if not turn.done():
                self._under_way += 1
                turn.set_result(None)

    def _learn(self, failure: CallFailed, begun: float) -> None:
        now = self._clock()
        if failure.why is Failure.RATE_LIMITED:
            self.pace = self.pace.limited(now, begun=begun)
        elif failure.why is Failure.SERVER_ERROR:
            self.pace = self.pace.faulted(now)
