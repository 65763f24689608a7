"""A server that goes away while a client says hello has refused nobody."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from biaswatch.shared.bus.jetstream import Connection
from biaswatch.shared.errors import TransientError
from tests.support.bus import ProvisionedBus
from tests.support.tcp_servers import tcp_server


async def piped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


@pytest.fixture
async def flaky(bus: ProvisionedBus) -> AsyncIterator[tuple[str, list[int]]]:
    """Stand before the server, and hang up on as many clients as `left` says."""
    host, _, port = bus.server.url.removeprefix("nats://").rpartition(":")
    left, seen = [0], [0]

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen[0] += 1
        if left[0] > 0 and seen[0] % 2 == 0:
            left[0] -= 1
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection(host, int(port))
        await asyncio.gather(piped(reader, back), piped(there, writer), return_exceptions=True)

    async with tcp_server(meet) as port_of_meet:
        yield f"nats://127.0.0.1:{port_of_meet}", left


async def test_it_is_knocked_again_within_the_patience(flaky: tuple[str, list[int]]) -> None:
    url, left = flaky
    left[0] = 2
    connection = await Connection.open(url, name="test", patience_s=10)
    await connection.flush()
    await connection.close()
    assert left == [0]


async def test_beyond_the_patience_it_is_one_sentence(flaky: tuple[str, list[int]]) -> None:
    url, left = flaky
    left[0] = 1_000_000
    with pytest.raises(TransientError, match="The NATS server at"):
        await Connection.open(url, name="test", patience_s=0.5)
