"""A server of the bus that is slow to answer is waited for, and is not said to refuse anybody."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.bus.server import EmbeddedServer
from biaswatch.shared.errors import TransientError

HERE = "127.0.0.1"


@asynccontextmanager
async def silent_at_first(url: str) -> AsyncIterator[tuple[str, list[int]]]:
    """Serve a way to a server on which a look and the first client get no answer; count both."""
    parts, came = urlsplit(url), [0]
    over, handled = asyncio.Event(), asyncio.TaskGroup()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
        writer.write_eof()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came[0] += 1
        writers = [writer]
        if came[0] <= 2:  # a look at whether anybody listens, and the client
            await over.wait()
        else:
            of_server, to_server = await asyncio.open_connection(parts.hostname, parts.port)
            writers.append(to_server)
            ways = (pass_on(reader, to_server), pass_on(of_server, writer))
            await asyncio.gather(*ways, return_exceptions=True)
        for item in writers:
            item.close()
        await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handled.create_task(handle(reader, writer))

    async with handled:
        server = await asyncio.start_server(begin, HERE, 0)
        try:
            yield f"nats://{HERE}:{server.sockets[0].getsockname()[1]}", came
        finally:
            over.set()
            server.close()
            await server.wait_closed()


def stop(pid: int) -> None:
    """Stop a process, and wait until it has stopped."""
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED)


async def test_a_server_that_does_not_answer_in_time_is_asked_again(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server:
        async with silent_at_first(server.url) as (url, came):
            connection = await Connection.open(url, name="planner")
            assert connection.client.is_connected
            assert came[0] == 3
            await connection.close()


async def test_a_connection_works_again_after_a_server_that_hung(tmp_path: Path) -> None:
    with EmbeddedServer(tmp_path) as server:
        connection = await Connection.open(server.url, name="planner")
        replies = await connection.client.subscribe("question")
        stop(server.pid)
        try:
            for _ in range(3):
                with pytest.raises(TransientError, match="has not answered within"):
                    await connection.flush(0.05)
        finally:
            os.kill(server.pid, signal.SIGCONT)
        await connection.flush()
        await connection.client.publish("question", b"text")
        assert (await replies.next_msg(5)).data == b"text"
        await connection.close()
