"""A TCP proxy before a database whose connections can die without a sign."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.tcp_servers import tcp_server

CHUNK_BYTES = 64 * 1024


class SilentProxy:
    """Passes connections on, until it acknowledges and swallows what they carry."""

    def __init__(self, target: str) -> None:
        """Stand before a Unix socket, or an address as HOST:PORT."""
        self.port = 0
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()
        self._alive: set[asyncio.Event] = set()
        """One for every connection that is passed on; set, it is dead from then on."""
        self._swallows_new = False
        self.swallowed = 0

    def swallow(self, *, new: bool = False) -> int:
        """Let all connections die silently, with `new` those to come too; return how many died."""
        died = len(self._alive)
        for dead in self._alive:
            dead.set()
        self._alive.clear()
        self._swallows_new = new
        return died

    @property
    def connections(self) -> int:
        """How many connections are passed on."""
        return len(self._alive)

    def serve_new(self) -> None:
        """Pass new connections on again."""
        self._swallows_new = False

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        dead = asyncio.Event()
        if self._swallows_new:
            dead.set()
        else:
            self._alive.add(dead)
        try:
            if dead.is_set():
                await self._swallow(reader)
            else:
                await self._pass_on(reader, writer, dead)
        except (OSError, asyncio.CancelledError):
            pass  # the database is down, as the client now sees; or the test is over
        finally:
            self._alive.discard(dead)
            self._tasks.discard(task)
            writer.close()

    async def _swallow(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(CHUNK_BYTES):
            self.swallowed += len(data)

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dead: asyncio.Event
    ) -> None:
        if self._target.startswith("/"):
            database = await asyncio.open_unix_connection(self._target)
        else:
            host, _, port = self._target.rpartition(":")
            database = await asyncio.open_connection(host, int(port))
        ends = {
            asyncio.create_task(self._pump(reader, database[1], dead)),
            asyncio.create_task(self._pump(database[0], writer, dead)),
        }
        try:
            while ends:
                _, ends = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                if not dead.is_set():
                    break  # one side has closed; a dead connection stays until its client closes
        finally:
            for end in ends:
                end.cancel()
            database[1].close()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, dead: asyncio.Event
    ) -> None:
        while data := await reader.read(CHUNK_BYTES):
            if dead.is_set():
                self.swallowed += len(data)
                continue
            writer.write(data)
            await writer.drain()

    async def close(self) -> None:
        """End every connection."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def silent_proxy(target: str) -> AsyncIterator[SilentProxy]:
    """Provide a proxy on a port of this machine while the context lasts."""
    proxy = SilentProxy(target)
    async with tcp_server(proxy._connected) as proxy.port:
        try:
            yield proxy
        finally:
            await proxy.close()
