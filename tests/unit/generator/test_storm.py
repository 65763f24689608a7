"""A storm of 429s, on a clock that runs as fast as it can: the limiter keeps to it, not below.

The event loop's time is made up, so a minute of calls takes a second and is the same every time.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from biaswatch.services.generator.domain.aimd import AimdBounds
from biaswatch.services.generator.domain.model_calls import pause_s
from biaswatch.services.generator.handlers.endpoints import RateLimiter
from biaswatch.services.simulator.domain.reply import seeded_rng
from biaswatch.services.simulator.routes.answering import TokenBucket
from biaswatch.shared.llm.port import CallFailed, Failure

RAMP_S, WINDOW_S = 15.0, 60.0


class MadeUpTime(asyncio.SelectorEventLoop):
    """Where nothing is to be done, time goes on to when something is."""

    def __init__(self) -> None:
        super().__init__(selectors.SelectSelector())
        self.now = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def hurry(timeout: float | None = None) -> Any:
            self.now += timeout or 0.0
            return select(0)

        self._selector.select = hurry  # type: ignore[attr-defined]

    def time(self) -> float:
        return self.now


def in_made_up_time(work: Callable[[MadeUpTime], Awaitable[Any]]) -> Any:
    loop = MadeUpTime()
    try:
        return loop.run_until_complete(work(loop))
    finally:
        loop.close()


async def rate_under(
    loop: MadeUpTime, per_s: float, latency_s: float, retry_after_s: float | None
) -> tuple[float, float]:
    """Return answers a second, and the share of calls that were turned away."""
    limiter = RateLimiter(AimdBounds(start=20, most=200), clock=loop.time)
    bucket = TokenBucket(per_s, clock=loop.time)
    rng = seeded_rng(1, "storm")
    answers: list[float] = []
    refused: list[float] = []

    async def call() -> None:
        async with limiter.slot():
            if not bucket.take():
                refused.append(loop.time())
                raise CallFailed(Failure.RATE_LIMITED, "", retry_after_s=retry_after_s)
            await asyncio.sleep(latency_s * (0.95 + 0.1 * rng.random()))
            answers.append(loop.time())

    async def probes() -> None:
        tried = 0
        while loop.time() < RAMP_S + WINDOW_S:
            try:
                await call()
                tried = 0
            except CallFailed as failure:
                tried += 1
                await asyncio.sleep(pause_s(failure, tried - 1, rng.random()))

    await asyncio.gather(*(probes() for _ in range(250)))
    inside = [at for at in answers if RAMP_S <= at < RAMP_S + WINDOW_S]
    away = [at for at in refused if RAMP_S <= at < RAMP_S + WINDOW_S]
    return len(inside) / WINDOW_S, len(away) / max(1, len(inside) + len(away))


@pytest.mark.parametrize("retry_after_s", [1.0, None, 5.0])
@pytest.mark.parametrize(("per_s", "latency_s"), [(50, 1.0), (20, 2.0), (100, 0.3), (10, 1.0)])
def test_nine_tenths_of_a_limit_are_used_and_few_calls_are_turned_away(
    per_s: float, latency_s: float, retry_after_s: float | None
) -> None:
    rate, away = in_made_up_time(lambda loop: rate_under(loop, per_s, latency_s, retry_after_s))
    assert rate >= 0.9 * per_s
    assert away < 0.2
