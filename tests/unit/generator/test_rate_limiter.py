"""Calls wait for a place, in order, and a call that is given up gives its place back."""

import asyncio

import pytest

from biaswatch.services.generator.domain.aimd import AimdBounds
from biaswatch.services.generator.handlers.endpoints import RateLimiter
from biaswatch.shared.llm.port import CallFailed, Failure


async def test_no_more_are_under_way_than_allowed_and_all_get_their_turn() -> None:
    limiter = RateLimiter(AimdBounds(start=3, most=3), clock=lambda: 0.0)
    under_way, most, order = 0, 0, []

    async def call(number: int) -> None:
        nonlocal under_way, most
        async with limiter.slot():
            under_way += 1
            most = max(most, under_way)
            order.append(number)
            await asyncio.sleep(0)
            under_way -= 1

    await asyncio.gather(*(call(n) for n in range(20)))
    assert most == 3
    assert order == list(range(20))


async def test_one_that_is_cancelled_while_it_waits_or_works_leaves_its_place_to_others() -> None:
    limiter = RateLimiter(AimdBounds(start=1, most=1), clock=lambda: 0.0)
    inside = asyncio.Event()

    async def stay() -> None:
        async with limiter.slot():
            inside.set()
            await asyncio.Event().wait()

    working, waiting = asyncio.create_task(stay()), asyncio.create_task(stay())
    await inside.wait()
    waiting.cancel()
    working.cancel()
    await asyncio.gather(working, waiting, return_exceptions=True)
    async with limiter.slot():
        pass


async def test_a_429_lowers_the_limit_and_a_fault_does_not() -> None:
    time = iter(range(100))
    limiter = RateLimiter(AimdBounds(start=10, most=10), clock=lambda: float(next(time)))

    async def fail(why: Failure) -> None:
        with pytest.raises(CallFailed):
            async with limiter.slot():
                raise CallFailed(why, "")

    await fail(Failure.SERVER_ERROR)
    assert limiter.limit.allowed == 10
    await fail(Failure.RATE_LIMITED)
    assert limiter.limit.allowed == 8
