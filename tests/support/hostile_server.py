"""A server on loopback that answers each question, or path, with the hostile reply it names."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.hostile_replies import SHAPES, Shape
from tests.support.tcp_servers import tcp_server

ENDLESS = {"endless": b"[]," * 10_000, "dripping": b" "}
"""What is written again and again."""


class HostileServer:
    """Answers each question with the shape it names, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        """By wire format and shape."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        try:
            while (head := await _until_end_of_head(reader)) and await self._answer(
                head, reader, writer
            ):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the other side has left, or the server has
        finally:
            writer.close()

    async def _answer(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one question; return whether the connection stays open."""
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(length[1]) if length else 0)
        wire = wire_of(head.split(b" ", 2)[1].decode())
        result = re.search(rb"shape:([a-z0-9-]+)", head + body)
        name = result[1].decode() if result else "usual"
        self.asked[wire, name] += 1
        return await _send(SHAPES[name], wire, writer)


def wire_of(path: str) -> str:
    """Return the wire format that is spoken at a path."""
    ends = {"completions": "chat", "responses": "responses", "messages": "messages"}
    return ends.get(path.rpartition("/")[2], "application")


async def _until_end_of_head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


async def _send(shape: Shape, wire: str, writer: asyncio.StreamWriter) -> bool:
    body = shape.body(wire)
    if shape.how == "raw":
        writer.write(body)
        await writer.drain()
        return False
    if shape.how == "half":
        body = body[: len(body) // 2]
    announced = len(body) + (1000 if shape.how in {"cut", "slow"} else 0)
    given = {"content-type": "application/json", "content-length": str(announced), **shape.headers}
    if shape.how in {*ENDLESS, "silent"}:
        del given["content-length"]
    lines = [f"HTTP/1.1 {shape.status} X", *(f"{k}: {v}" for k, v in given.items()), "", ""]
    if shape.how != "silent":
        writer.write("\r\n".join(lines).encode())
    if shape.how in {"slow", "silent"}:
        for byte in body[:5] + b"     " * 100:
            writer.write(bytes([byte]) if shape.how == "slow" else b"")
            await writer.drain()
            await asyncio.sleep(0.1)
        return False
    writer.write(body)
    await writer.drain()
    while more := ENDLESS.get(shape.how):
        writer.write(more)
        await writer.drain()
        await asyncio.sleep(0.1 if shape.how == "dripping" else 0)
    return shape.how == "whole"


@asynccontextmanager
async def hostile_server() -> AsyncIterator[tuple[HostileServer, int]]:
    """Serve on loopback while the context lasts; give the server and its port."""
    hostile = HostileServer()
    async with tcp_server(hostile.serve, limit=2**22) as port:
        yield hostile, port
