"""What every request passes first: who sends it, limits on its body, where it may come from."""

import asyncio
from collections import Counter
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biaswatch.services.gateway.auth import TokenAudit
from biaswatch.services.gateway.callers import (
    COOKIE,
    THIS_MACHINE,
    Caller,
    KnownTokens,
    caller_of,
    current_caller,
    set_caller,
)

MAX_BYTES = 4 * 1024 * 1024
"""With a token, on any other route than those below."""
MAX_STREAMED_BYTES = {
    "/v1/suites": 512 * 1024 * 1024,
    "/v1/responses": 64 * 1024 * 1024,
    "/v1/traces": 65 * 1024 * 1024,
    "/v1/logs": 65 * 1024 * 1024,
    "/api/public/otel/v1/traces": 65 * 1024 * 1024,
}
"""With a token, on routes that read a body as it comes; OTLP's refuse 64 MiB in their own words."""
MAX_HELD_BYTES, MAX_HELD_PER_TENANT = 32 * 1024 * 1024, 16 * 1024 * 1024
"""All bodies of other routes that are in memory at the same time."""
HOLDS_TOO_MUCH = "Too many requests are being read. Send this one again in a moment."
MAX_ANONYMOUS_BYTES = 16 * 1024
"""Without a token: enough to sign in and to be told what is wrong."""
TOO_LARGE = "That is too much at once: more than {mib} MiB. Send it in parts."
TOO_LARGE_ANONYMOUS = (
    "That is too much from somebody unknown. Set BIASWATCH_TOKEN to a token of this gateway."
)
TOO_SLOW = (
    "The body did not come within the time that its size allows. Send it at once, or have whoever"
    " operates the gateway raise BIASWATCH_GATEWAY_BODY_S."
)
TEXTS_HEADER = (b"biaswatch-texts", b"withheld")
"""Tells a caller that what it does not see may be there."""
LANGFUSE_PATHS = "/api/public/"
AS_NAMED = (b"x-content-type-options", b"nosniff")
"""Nothing that is sent is taken for something else, such as a script."""
SAFE = {"GET", "HEAD", "OPTIONS"}
OTHER_SITE = "A page of another site made the browser send this, so it is refused."


class CallerIdentity:
    """Finds out who sends a request, once, for all that handles it."""

    def __init__(self, app: ASGIApp, known: KnownTokens, audit: TokenAudit) -> None:
        self._app = app
        self._known = known
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note the sender, and pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await self._audit.note()
        headers = Headers(scope=scope)
        caller = self._caller(scope, headers)
        set_caller(caller)
        if caller is not None and caller.by_proxy and _made_by_another_site(scope, headers):
            await JSONResponse({"detail": OTHER_SITE}, 403)(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                added = [TEXTS_HEADER] if caller and not caller.texts else []
                if all(name.lower() != AS_NAMED[0] for name, _ in own):
                    added.append(AS_NAMED)
                message = {**message, "headers": [*own, *added]}
            await send(message)

        await self._app(scope, receive, marked)

    def _caller(self, scope: Scope, headers: Headers) -> Caller | None:
        if not self._known.needed:
            return THIS_MACHINE
        peer = scope["client"][0] if scope.get("client") else "unknown"
        known, now = self._known.current(), self._known.now()
        # A browser repeats such a header for whatever another site makes it send: nowhere else.
        keys = scope["path"].startswith(LANGFUSE_PATHS)
        return caller_of(known, headers, _session(headers), peer, now, keys=keys)


def _session(headers: Headers) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return found.value if found else None


def _made_by_another_site(scope: Scope, headers: Headers) -> bool:
    """Tell whether a browser sends a change for a page of another site.

    A proxy signs in whatever the browser sends, like a cookie; a program sends neither header.
    """
    if scope["method"] in SAFE:
        return False
    origin = headers.get("origin")
    ours = {_host_of(f"//{headers.get(name, '')}") for name in ("host", "x-forwarded-host")}
    foreign = origin is not None and _host_of(origin) not in ours - {None}
    return foreign or headers.get("sec-fetch-site") in {"cross-site", "same-site"}


SLOWEST_BYTES_PER_S = 64 * 1024
"""What a large body is given time for, besides what every body has."""


class HeldBytes:
    """Counts the bodies that are in memory as a whole, in all and by tenant."""

    def __init__(self) -> None:
        self._by_tenant = Counter[str]()

    def add(self, tenant: str, size: int) -> None:
        """Count bytes; raise HTTPException where they are too many."""
        self._by_tenant[tenant] += size
        own, total = self._by_tenant[tenant], self._by_tenant.total()
        if own > MAX_HELD_PER_TENANT or total > MAX_HELD_BYTES:
            raise HTTPException(503, HOLDS_TOO_MUCH, {"Retry-After": "1"})

    def remove(self, tenant: str, size: int) -> None:
        """Forget bytes that were counted."""
        self._by_tenant[tenant] -= size
        if not self._by_tenant[tenant]:
            del self._by_tenant[tenant]


class BodyLimits:
    """Refuses a body that is too large before all of it is in memory, and one that never ends."""

    def __init__(self, app: ASGIApp, body_s: float) -> None:
        self._app = app
        self._body_s = body_s
        self._held = HeldBytes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting the bytes of its body and the time that it takes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _LimitedBody(scope, receive, self._body_s, self._held)
        try:
            await self._app(scope, body.next_message, send)
        finally:
            body.forget()


class _LimitedBody:
    """The body of one request, as far as it came."""

    def __init__(self, scope: Scope, receive: Receive, body_s: float, held: HeldBytes) -> None:
        caller = current_caller()
        self._known = caller is not None and not caller.by_session
        self._tenant = caller.tenant if caller is not None else ""
        streamed = MAX_STREAMED_BYTES.get(scope["path"]) if self._known else None
        self._limit = streamed or (MAX_BYTES if self._known else MAX_ANONYMOUS_BYTES)
        self._is_held = streamed is None
        self._declared = Headers(scope=scope).get("content-length", "")
        self._receive = receive
        self._body_s = body_s
        self._held = held
        self._began: float | None = None
        self._size = 0
        self._is_whole = False

    async def next_message(self) -> Message:
        """Return the next part of the body, or that the client has left.

        Raises
        ------
        HTTPException
            The body is too large or too slow, or too many bodies are in memory.
        """
        if self._is_whole:  # what follows is that the client leaves, which may take any time
            return await self._receive()
        if self._declared.isdecimal() and int(self._declared) > self._limit:
            raise self._too_large()
        message = await self._in_time()
        size = len(message.get("body", b""))
        self._size += size
        self._is_whole = not message.get("more_body", False)
        if self._is_held:
            self._held.add(self._tenant, size)
        if self._size > self._limit:
            raise self._too_large()
        return message

    async def _in_time(self) -> Message:
        """Return the next message; the time begins when the application asks for the first."""
        now = asyncio.get_running_loop().time()
        self._began = now if self._began is None else self._began
        try:
            async with asyncio.timeout_at(
                self._began + self._body_s + self._size / SLOWEST_BYTES_PER_S
            ):
                return await self._receive()
        except TimeoutError:
            raise HTTPException(408, TOO_SLOW) from None

    def _too_large(self) -> HTTPException:
        sentence = TOO_LARGE.format(mib=self._limit >> 20) if self._known else TOO_LARGE_ANONYMOUS
        return HTTPException(413, sentence)

    def forget(self) -> None:
        """Forget the bytes at the end of the request."""
        if self._is_held:
            self._held.remove(self._tenant, self._size)


LINES = "application/jsonl"


class LinesAsText:
    """Calls JSON lines plain text for a client that asks for that and knows no other name."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with the name that the client asks for."""
        asks = scope["type"] == "http" and Headers(scope=scope).get("accept") == "text/plain"

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith(LINES):
                    headers["content-type"] = "text/plain; charset=utf-8"
            await send(message)

        await self._app(scope, receive, named if asks else send)


LOCALHOST = {"127.0.0.1", "localhost", "::1"}
LOCALHOST_ONLY = (
    "This gateway has no tokens and serves this machine alone: not another host's name, and not the"
    " pages of other sites. Ask for it as localhost, or set BIASWATCH_GATEWAY_RUN_TOKEN."
)


class LocalhostOnly:
    """Refuses requests that a browser makes for a page of another site.

    Such a page can point a host name of its own to this machine (DNS rebinding), or send a form
    whose response it need not read. The headers Host and Origin tell.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests from this machine."""
        if scope["type"] == "http" and _is_foreign(Headers(scope=scope)):
            await JSONResponse({"detail": LOCALHOST_ONLY}, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_foreign(headers: Headers) -> bool:
    """Return whether a request is for another host, or from a page of another site."""
    origin = headers.get("origin")
    named = [f"//{headers.get('host', '')}", *([] if origin is None else [origin])]
    return not all(_host_of(each) in LOCALHOST for each in named)


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # not an address
        return None
