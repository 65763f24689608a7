"""Limits the calls to one target, first come first served; how they end moves the limit."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.generator.domain.aimd import AimdBounds, AimdLimit
from shared.llm.port import CallFailed, Failure


class RateLimiter:
    """Counts the calls in flight; a call that ends moves the limit and lets the next begin."""

    def __init__(self, bounds: AimdBounds, *, clock: Callable[[], float]) -> None:
        self.limit = AimdLimit.of(bounds)
        self._clock = clock
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._next_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a slot, hold it while the context lasts, and learn from how it ends."""
        await self._enter()
        started = self._clock()
        try:
            yield
        except CallFailed as failure:
            self._learn(failure, started)
            raise
        else:
            now = self._clock()
            self.limit = self.limit.answered(now, started=started, in_use=self._in_flight)
        finally:
            self._leave()

    async def _enter(self) -> None:
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(admitted)
        self._admit()
        try:
            await admitted
        except asyncio.CancelledError:
            if (
                admitted.done() and not admitted.cancelled()
            ):  # admitted and cancelled in the same moment
                self._leave()
            raise

    def _leave(self) -> None:
        self._in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        """Start the calls that may begin now; look again when the next one may."""
        while self._waiting and self._in_flight < self.limit.allowed and not self._timer:
            now = self._clock()
            if now < self._next_at:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(self._next_at - now, self._on_timer)
                return
            admitted = self._waiting.popleft()
            if not admitted.done():
                self._in_flight += 1
                self._next_at = self.limit.next_start(now, self._next_at)
                admitted.set_result(None)

    def _on_timer(self) -> None:
        self._timer = None
        self._admit()

    def _learn(self, failure: CallFailed, started: float) -> None:
        now = self._clock()
        if failure.why is Failure.RATE_LIMITED:
            self.limit = self.limit.limited(now, started=started)
        elif failure.why is Failure.SERVER_ERROR:
            self.limit = self.limit.faulted(now)
