"""A crowd of slow clients in a process of its own, which honest clients need not wait for.

`python -m drills.crowd PORT CONNECTIONS` works until its input ends, then prints how many
connections were open at once, and how many were opened.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from random import Random

from biaswatch.shared.runtime.process_limits import raise_open_files

HERE = "127.0.0.1"
HALF_A_HEAD = b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


class SlowCrowd:
    """Clients that never finish a request."""

    def __init__(self, port: int) -> None:
        self._port, self._random = port, Random(1)
        self.now = self.most = self.opened = 0

    async def member(self, _: int) -> None:
        """Open a connection again when the gateway has closed it."""
        while True:
            await asyncio.sleep(self._random.uniform(0, 5))
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(HERE, self._port)
                self.now, self.opened = self.now + 1, self.opened + 1
                self.most = max(self.most, self.now)
                try:
                    writer.write(HALF_A_HEAD)
                    await self._drip(reader, writer)
                finally:
                    self.now -= 1
                    writer.close()

    async def _drip(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._random.uniform(3, 6)):
                    await reader.read(1024)
            writer.write(b"x")
            await writer.drain()


async def _main(port: int, connections: int) -> None:
    raise_open_files()
    crowd = SlowCrowd(port)
    members = [asyncio.create_task(crowd.member(n)) for n in range(connections)]
    await asyncio.to_thread(sys.stdin.read)
    print(crowd.most, crowd.opened, flush=True)
    os._exit(0 if members else 2)  # thousands of tasks need not end in order


@asynccontextmanager
async def slow_crowd(port: int, connections: int) -> AsyncIterator[list[int]]:
    """Run a crowd while the context lasts; its two numbers are in the list afterwards."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "drills.crowd", str(port), str(connections),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    counts: list[int] = []
    try:
        yield counts
    finally:
        printed, _ = await process.communicate(b"")  # closes its input
        counts.extend(map(int, printed.split()))


if __name__ == "__main__":
    asyncio.run(_main(*map(int, sys.argv[1:])))
