"""Connections that are held open without a whole request end, and say why where they can."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.types import Send

from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.runtime import web
from biaswatch.shared.runtime.web import ConnectionLimits, web_server
from biaswatch.shared.store import Store, migrate
from tests.support.api import api_on

SHORT_S = 0.3
MANY = 20
HEAD = b"POST /v1/suites HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


@asynccontextmanager
async def gateway(
    store: Store, *, header_s: float = 3600, body_s: float = 3600, token: str | None = None
) -> AsyncIterator[int]:
    """Serve it; the deadline that is not under test is an hour."""
    settings = GatewaySettings(
        gateway_body_s=body_s, gateway_run_token=None if token is None else SecretStr(token)
    )
    app = api_on(store, settings)
    limits = ConnectionLimits(header_s=header_s, linger_s=SHORT_S)
    async with web_server(app, "127.0.0.1", 0, limits) as port:
        yield port


async def said_until_closed(port: int, sent: bytes, drip: bytes = b"") -> bytes:
    """Send something, then a drop whenever the loop has time, until the server hangs up."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)

    async def dripping() -> None:
        with suppress(ConnectionError):
            while drip:
                writer.write(drip)
                await writer.drain()
                await asyncio.sleep(0.02)

    drops = asyncio.create_task(dripping())
    received = bytearray()
    try:
        while part := await reader.read(65536):
            received += part
    except ConnectionError:
        pass  # cut, after what it said
    finally:
        drops.cancel()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    return bytes(received)


async def test_heads_that_never_end_are_closed(store: Store) -> None:
    async with gateway(store, header_s=SHORT_S) as port:
        begun = [b"", b"GET / HTTP/1.1\r\n", b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX: "]
        waiting = [said_until_closed(port, item, b"x") for item in begun for _ in range(MANY)]
        for response in await asyncio.gather(*waiting, said_until_closed(port, b"")):
            assert b"200" not in response


async def test_a_second_head_that_never_ends_is_closed_too(store: Store) -> None:
    whole = b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with gateway(store, header_s=SHORT_S) as port:
        response = await said_until_closed(port, whole + b"GET / HTTP/1.1\r\nX: ", b"x")
    assert response.count(b"HTTP/1.1 200") == 1


async def test_bodies_of_a_byte_at_a_time_are_refused_with_a_sentence(store: Store) -> None:
    long = HEAD + b"Content-Length: 1000000\r\n\r\n"
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    async with gateway(store, body_s=SHORT_S) as port:
        waiting = [said_until_closed(port, long, b" ") for _ in range(MANY)]
        waiting += [said_until_closed(port, chunked, b"1\r\n \r\n") for _ in range(MANY)]
        for response in await asyncio.gather(*waiting):
            assert b"HTTP/1.1 408" in response
            assert b"did not come within the time" in response
        # An honest client is served all the while.
        response = await said_until_closed(
            port, b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
    assert b"HTTP/1.1 200" in response


async def test_a_body_that_goes_on_after_its_answer_is_cut(store: Store) -> None:
    foreign = HEAD.replace(b"localhost", b"elsewhere.example") + b"Content-Length: 1000000\r\n\r\n"
    async with gateway(store) as port:
        response = await said_until_closed(port, foreign, b" ")
    assert b"HTTP/1.1 403" in response


async def test_an_endless_body_without_a_token_is_refused(store: Store) -> None:
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    runs = chunked.replace(b"/v1/suites", b"/v1/runs")
    piece = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    async with gateway(store, token="secret") as port:
        response = await said_until_closed(port, runs, piece)
        assert b"HTTP/1.1 413" in response
        # A suite is read as it comes, so the token is looked at before any of it.
        assert b"HTTP/1.1 401" in await said_until_closed(port, chunked, piece)
    assert b"too much without a token" in response


async def test_a_response_that_nobody_reads_is_given_up(store: Store) -> None:
    class Endless:
        """An application that streams until the client is gone."""

        def __init__(self) -> None:
            self.over = asyncio.Event()

        async def __call__(self, scope: object, receive: object, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            reader = asyncio.create_task(self._until_gone(receive))
            while not reader.done():
                await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
                await asyncio.sleep(0)
            self.over.set()

        @staticmethod
        async def _until_gone(receive: Any) -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

    app, limits = Endless(), ConnectionLimits(stall_s=SHORT_S)
    async with web_server(app, "127.0.0.1", 0, limits) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await app.over.wait()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def test_half_heads_beyond_the_bound_make_room_for_whole_requests(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "MAX_CONNECTIONS", MANY)
    async with gateway(store) as port:
        half = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * MANY)]
        for _, writer in half:
            writer.write(b"GET / HTTP/1.1\r\nX: ")
        response = await said_until_closed(
            port, b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        for _, writer in half:
            writer.close()
    assert b"HTTP/1.1 200" in response


async def test_bodies_that_never_end_make_room_for_whole_requests(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "MAX_CONNECTIONS", MANY)
    async with gateway(store) as port:
        slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2 * MANY)]
        for _, writer in slow:
            writer.write(HEAD + b"Content-Length: 1000000\r\n\r\n{")
        response = await said_until_closed(
            port, b"GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        for _, writer in slow:
            writer.close()
    assert b"HTTP/1.1 200" in response


async def test_a_connection_beyond_the_bound_is_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web, "MAX_CONNECTIONS", MANY)
    begun, over = asyncio.Semaphore(0), asyncio.Event()

    async def patient(scope: object, receive: object, send: Send) -> None:
        """Serve requests that last until the end of the test."""
        begun.release()
        await over.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async with web_server(patient, "127.0.0.1", 0) as port:
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MANY)]
        for _, writer in held:
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await begun.acquire()
        response = await said_until_closed(port, b"")
        over.set()
        for _, writer in held:
            writer.close()
    assert b"HTTP/1.1 503" in response
    assert b"Too many connections are open" in response
