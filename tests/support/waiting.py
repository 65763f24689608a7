"""Waiting for what somebody else brings about, so long that a busy machine changes nothing."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable

PATIENCE_S = 300.0
"""Only a test that fails waits so long; pytest's own limit is longer, so that this one speaks."""
LOOK_S = 0.02


def until(there: Callable[[], object]) -> None:
    """Return when it is true, or fail when it never is."""
    deadline = time.monotonic() + PATIENCE_S
    while not there():
        if time.monotonic() > deadline:
            raise TimeoutError(f"It did not come about in {PATIENCE_S:g} s.")
        time.sleep(LOOK_S)


async def eventually(there: Callable[[], object | Awaitable[object]]) -> None:
    """Return when it is true, or fail when it never is; for tests on an event loop."""
    async with asyncio.timeout(PATIENCE_S):
        while not await _value_of(there()):
            await asyncio.sleep(LOOK_S)


async def _value_of(value: object | Awaitable[object]) -> object:
    return await value if inspect.isawaitable(value) else value
