"""A gateway served from a thread of its own: the browser's driver blocks the one of the test."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from biaswatch.shared.runtime.web import web_server
from biaswatch.shared.store import Store
from tests.support.api import api_on

PATIENCE_S = 60


async def nothing_more(_: str) -> None:
    """Prepare nothing."""


@contextmanager
def served(store: Store, prepare: Callable[[str], Awaitable[None]] = nothing_more) -> Iterator[str]:
    """Serve a store's pages, prepared at their address, which ends without a slash."""
    ready, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    addresses: list[str] = []

    async def serve() -> None:
        async with web_server(api_on(store), "127.0.0.1", 0) as port:
            addresses.append(f"http://127.0.0.1:{port}")
            await prepare(addresses[0])
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        if not ready.wait(PATIENCE_S):
            raise RuntimeError("The gateway of the browser's tests did not begin.")
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
