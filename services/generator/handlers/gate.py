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
        self._next_at = float("-inf")
        self._opening: asyncio.TimerHandle | None = None

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
            now = self._clock()
            self.pace = self.pace.answered(now, begun=begun, in_use=self._under_way)
        finally:
            self._leave()

    async def _enter(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # let in and cancelled in the same moment
                self._leave()
            raise

    def _leave(self) -> None:
        self._under_way -= 1
        self._let_in()

    def _let_in(self) -> None:
        """Let in who may begin now; look again when the next one may."""
        while self._waiting and self._under_way < self.pace.allowed and not self._opening:
            now = self._clock()
            if now < self._next_at:
                loop = asyncio.get_running_loop()
                self._opening = loop.call_later(self._next_at - now, self._open)
                return
            turn = self._waiting.popleft()
            if not turn.done():
                self._under_way += 1
                self._next_at = self.pace.next_start(now, self._next_at)
                turn.set_result(None)

    def _open(self) -> None:
        self._opening = None
        self._let_in()

    def _learn(self, failure: CallFailed, begun: float) -> None:
        now = self._clock()
        if failure.why is Failure.RATE_LIMITED:
            self.pace = self.pace.limited(now, begun=begun)
        elif failure.why is Failure.SERVER_ERROR:
            self.pace = self.pace.faulted(now)
