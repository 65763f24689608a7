"""HTTP replies of bounded size after decompression, without redirects."""

import zlib
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import IO, Any

import httpx2

from biaswatch.shared.llm.port import UNKNOWN_TOKENS, CallFailed, Failure, Tokens

MAX_REPLY_BYTES = 4 * 1024 * 1024
MAX_SPOOLED_BYTES = 1024 * 1024 * 1024
ACCEPTED = "gzip, deflate"
"""The encodings that are requested and decompressed here."""
_PACKED = {"gzip", "x-gzip", "deflate"}
_BODY_HEADERS = {"content-encoding", "content-length", "transfer-encoding"}


@dataclass
class CallProgress:
    """Progress of a call."""

    sent: bool = False
    """True once the request was built; later errors concern the reply."""
    accepted: bool = False
    """True once the server accepted it; from then on it may cost."""


call_progress: ContextVar[CallProgress] = ContextVar("call_progress")
spool: ContextVar[IO[bytes] | None] = ContextVar("spool", default=None)
"""The file that takes the body of a successful reply, which then appears empty."""


class BoundedClient:
    """Wraps the HTTP client of an SDK; its proxies, limits and certificates are kept."""

    @staticmethod
    def of(
        client: type[httpx2.AsyncClient], guard: httpx2.AsyncBaseTransport | None = None
    ) -> httpx2.AsyncClient:
        """Return a client of this class that reads no more than `MAX_REPLY_BYTES`.

        With a guard, every connection goes through it and none through a proxy.
        """

        class Bounded(client):  # type: ignore[misc, valid-type]
            async def send(
                self, request: httpx2.Request, *, stream: bool = False, **how: Any
            ) -> httpx2.Response:
                if (progress := call_progress.get(None)) is not None:
                    progress.sent = True
                del stream  # the whole reply is read here, to bound it
                return await _whole(await super().send(request, stream=True, **how))

        guarded = {} if guard is None else {"transport": guard, "trust_env": False}
        bounded: httpx2.AsyncClient = Bounded(
            follow_redirects=False, headers={"Accept-Encoding": ACCEPTED}, **guarded
        )
        return bounded


async def _whole(reply: httpx2.Response) -> httpx2.Response:
    body = await bounded_body(reply)
    headers = [(k, v) for k, v in reply.headers.multi_items() if k.lower() not in _BODY_HEADERS]
    return httpx2.Response(reply.status_code, headers=headers, content=body, request=reply.request)


async def bounded_body(reply: httpx2.Response) -> bytes:
    """Read and decompress a streamed reply, and close it; a large one goes to the `spool`.

    Raises
    ------
    CallFailed
        It is larger than `MAX_REPLY_BYTES`, before or after decompression, or has another encoding.
        Its usage is unknown, unless its status shows that the call was rejected.
    """
    cost = UNKNOWN_TOKENS if reply.is_success else None
    if reply.is_success and (progress := call_progress.get(None)) is not None:
        progress.accepted = True
    file = spool.get() if reply.is_success else None
    try:
        if file is None:
            return b"".join([part async for part in _parts(reply, cost, MAX_REPLY_BYTES)])
        async for part in _parts(reply, cost, MAX_SPOOLED_BYTES):
            file.write(part)
        return b""
    finally:
        await reply.aclose()


async def _parts(reply: httpx2.Response, cost: Tokens | None, limit: int) -> AsyncIterator[bytes]:
    packing = reply.headers.get("content-encoding", "identity").strip().lower()
    packed = packing in _PACKED
    if not packed and packing not in {"", "identity"}:
        detail = "The reply has an encoding that was not requested."
        raise CallFailed(Failure.GARBAGE, detail, tokens=cost)
    unpack, size = zlib.decompressobj(wbits=47), 0
    async for raw in reply.aiter_raw():
        try:
            left = limit + 1 - size
            part = unpack.decompress(raw, left) if packed else raw
        except zlib.error:
            raise CallFailed(
                Failure.GARBAGE, "The reply cannot be decompressed.", tokens=cost
            ) from None
        size += len(part)
        if size > limit:
            detail = f"The reply is over {limit // 1024**2} MiB."
            raise CallFailed(Failure.OVERSIZE, detail, tokens=cost)
        yield part
