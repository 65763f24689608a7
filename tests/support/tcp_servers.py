"""Servers of tests on loopback that leave no open connection behind."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
BUFFER_BYTES = 2**16


@asynccontextmanager
async def tcp_server(handle: Handler, *, limit: int = BUFFER_BYTES) -> AsyncIterator[int]:
    """Serve while the context lasts, and give the port; connections are aborted at its end."""
    writers: list[asyncio.StreamWriter] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await handle(reader, writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=limit)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)  # the loop closes the sockets
