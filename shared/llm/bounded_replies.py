"""Replies over HTTP of a bounded size, however they are packed; no redirect is followed."""

import zlib
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpx2

from biaswatch.shared.llm.port import UNKNOWN_TOKENS, CallFailed, Failure, Tokens

LARGEST_REPLY_BYTES = 4 * 1024 * 1024
ACCEPTED = "gzip, deflate"
"""The encodings that are unpacked here, within the bound; no other is asked for."""
_PACKED = {"gzip", "x-gzip", "deflate"}
_OF_THE_BODY = {"content-encoding", "content-length", "transfer-encoding"}


@dataclass
class CallProgress:
    """How far a call under way has come."""

    sent: bool = False
    """True if a request was made of it, so that a later fault is the reply's."""
    accepted: bool = False
    """True if the server has accepted it: from then on it may cost."""


call_progress: ContextVar[CallProgress] = ContextVar("call_progress")


class BoundedClient:
    """Makes an SDK's own HTTP client bounded; its proxies, limits and certificates stay its own."""

    @staticmethod
    def of(
        client: type[httpx2.AsyncClient], guard: httpx2.AsyncBaseTransport | None = None
    ) -> httpx2.AsyncClient:
        """Return a client of this class that reads no more than `LARGEST_REPLY_BYTES`.

        With a guard, every connection goes through it and none through a proxy.
        """

        class Bounded(client):  # type: ignore[misc, valid-type]
            async def send(
                self, request: httpx2.Request, *, stream: bool = False, **how: Any
            ) -> httpx2.Response:
                if (progress := call_progress.get(None)) is not None:
                    progress.sent = True
                del stream  # the whole reply is read here, so that it is bounded
                return await _whole(await super().send(request, stream=True, **how))

        guarded = {} if guard is None else {"transport": guard, "trust_env": False}
        made: httpx2.AsyncClient = Bounded(
            follow_redirects=False, headers={"Accept-Encoding": ACCEPTED}, **guarded
        )
        return made


async def _whole(reply: httpx2.Response) -> httpx2.Response:
    body = await bounded_body(reply)
    headers = [(k, v) for k, v in reply.headers.multi_items() if k.lower() not in _OF_THE_BODY]
    return httpx2.Response(reply.status_code, headers=headers, content=body, request=reply.request)


async def bounded_body(reply: httpx2.Response) -> bytes:
    """Read and unpack a streamed reply, and close it.

    Raises
    ------
    CallFailed
        It is larger than `LARGEST_REPLY_BYTES`, before or after it is unpacked, or packed in a way
        that was not asked for. What it cost is unknown, unless its status says that it was refused.
    """
    cost = UNKNOWN_TOKENS if reply.is_success else None
    if reply.is_success and (progress := call_progress.get(None)) is not None:
        progress.accepted = True
    try:
        return b"".join([part async for part in _parts(reply, cost)])
    finally:
        await reply.aclose()


async def _parts(reply: httpx2.Response, cost: Tokens | None) -> AsyncIterator[bytes]:
    packing = reply.headers.get("content-encoding", "identity").strip().lower()
    packed = packing in _PACKED
    if not packed and packing not in {"", "identity"}:
        said = "The reply is packed in a way that was not asked for."
        raise CallFailed(Failure.GARBAGE, said, tokens=cost)
    unpack, size = zlib.decompressobj(wbits=47), 0
    async for raw in reply.aiter_raw():
        try:
            left = LARGEST_REPLY_BYTES + 1 - size
            part = unpack.decompress(raw, left) if packed else raw
        except zlib.error:
            raise CallFailed(
                Failure.GARBAGE, "The reply cannot be unpacked.", tokens=cost
            ) from None
        size += len(part)
        if size > LARGEST_REPLY_BYTES:
            most = LARGEST_REPLY_BYTES // 1024**2
            raise CallFailed(Failure.OVERSIZE, f"The reply is over {most} MiB.", tokens=cost)
        yield part
