"""Slots for bodies: a few requests of each tenant are read and handled at the same time."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from biaswatch.services.gateway.body_files import BodyFile
from biaswatch.services.gateway.callers import current_caller
from biaswatch.shared.errors import BackPressureError
from biaswatch.shared.runtime.blocking import in_thread

READ_PER_TENANT = 8
"""Bodies of one tenant that are read at the same time; the others wait unread."""
HANDLED_PER_TENANT = 2
"""Requests of one tenant that are handled at the same time."""
THREADS = 2
"""Threads for all tenants; each is held for one batch, and tenants take turns."""
WAIT_S = 15.0
"""How long a request waits for a slot before it is refused."""
BUSY = (
    "Too many requests of this tenant are being read. Send this one again in a moment; nothing of"
    " it was taken in."
)

P = ParamSpec("P")
T = TypeVar("T")


class IntakeSlots:
    """Bounds what the senders of each tenant can occupy; one cannot stop another."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self._wait_s = wait_s
        self._reading = defaultdict[str, asyncio.Semaphore](
            lambda: asyncio.Semaphore(READ_PER_TENANT)
        )
        self._handling = defaultdict[str, asyncio.Semaphore](
            lambda: asyncio.Semaphore(HANDLED_PER_TENANT)
        )
        self._threads = asyncio.Semaphore(THREADS)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Hold a slot of the caller's tenant while its body is read and handled.

        Raises
        ------
        BackPressureError
            None became free in time.
        """
        slot = self._reading[tenant_of_caller()]
        try:
            async with asyncio.timeout(self._wait_s):
                await slot.acquire()
        except TimeoutError:
            raise BackPressureError(BUSY, retry_after_s=1.0) from None
        try:
            yield
        finally:
            slot.release()

    @asynccontextmanager
    async def handling(self) -> AsyncIterator[None]:
        """Hold a slot of the caller's tenant while a batch is handled and published."""
        async with self._handling[tenant_of_caller()]:
            yield

    def is_busy(self) -> bool:
        """Return whether a batch of the caller's tenant would have to wait."""
        return self._handling[tenant_of_caller()].locked()

    async def in_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking call in one of the few threads for bodies."""
        async with self._threads:
            return await in_thread(call, *args, **kwargs)


def tenant_of_caller() -> str:
    """Return the tenant of the request under way."""
    caller = current_caller()
    return caller.tenant if caller is not None else ""


async def check_connected(request: Request) -> None:
    """Raise ClientDisconnect where the client has left; its whole body was read.

    The first call makes the server read on, so that later calls know.
    """
    if await request.is_disconnected():
        raise ClientDisconnect


async def receive_body(request: Request, body: BodyFile, limit: int) -> bool:
    """Append what a request brings to a body; return whether it is within the limit."""
    async for chunk in request.stream():
        if body.size + len(chunk) > limit:
            return False
        if body.stays_in_memory(len(chunk)):
            body.write(chunk)
        else:
            await in_thread(body.write, chunk)
    return True
