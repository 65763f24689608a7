"""Checks that every request passes first: its caller, its origin, and limits on its body."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
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
from biaswatch.shared.errors import TransientError, UsageError

if TYPE_CHECKING:
    from biaswatch.services.gateway.sign_in.sessions import SignIn

MAX_BYTES = 4 * 1024 * 1024
"""Body with a token, on routes that are not named below."""
MAX_STREAMED_BYTES = {
    "/v1/suites": 512 * 1024 * 1024,
    "/v1/responses": 64 * 1024 * 1024,
    "/v1/traces": 65 * 1024 * 1024,
    "/v1/logs": 65 * 1024 * 1024,
    "/api/public/otel/v1/traces": 65 * 1024 * 1024,
}
"""Body with a token, on routes that stream it; OTLP's routes themselves refuse 64 MiB."""
MAX_HELD_BYTES, MAX_HELD_PER_TENANT = 32 * 1024 * 1024, 16 * 1024 * 1024
"""All bodies of other routes that are in memory at one time."""
MAX_ANONYMOUS_BYTES = 16 * 1024
"""Body without a token: enough to sign in and to get an error message."""
MIN_BYTES_PER_S = 64 * 1024
"""Rate at which a body must arrive, beyond the time that every body has."""
TOO_MUCH_HELD = "Too many requests are being read. Send this one again in a moment."
TOO_LARGE = "That is too much at once: more than {mib} MiB. Send it in parts."
TOO_LARGE_ANONYMOUS = (
    "That is too much without a token. Set BIASWATCH_TOKEN to a token of this gateway."
)
TOO_SLOW = (
    "The body did not come within the time that its size allows. Send it at once, or ask the"
    " gateway's operator to raise BIASWATCH_GATEWAY_BODY_S."
)
ISSUER_RETRY_S = "10"
OTHER_SITE = "A page of another site made the browser send this, so it is refused."
LOCALHOST_ONLY = (
    "This gateway has no tokens and serves this machine alone: not another host's name, and not the"
    " pages of other sites. Ask for it as localhost, or set BIASWATCH_GATEWAY_RUN_TOKEN."
)
NUL_IN_ADDRESS = "An address holds no NUL character."
TEXTS_HEADER = (b"biaswatch-texts", b"withheld")
"""Tells a caller that texts may exist that it does not see."""
NOSNIFF = (b"x-content-type-options", b"nosniff")
LANGFUSE_PATHS = "/api/public/"
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
LOCALHOST = {"127.0.0.1", "localhost", "::1"}
JSON_LINES = "application/jsonl"


@dataclass(frozen=True)
class CallerIdentity:
    """Identifies the caller of a request, once for everything that handles it."""

    app: ASGIApp
    known: KnownTokens
    audit: TokenAudit
    sign_in: "SignIn | None" = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Set the caller and pass the request on; answer here if a signed token is refused."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        await self.audit.note()
        headers = Headers(scope=scope)
        try:
            caller = await self._caller(scope, headers)
        except UsageError as error:
            refusal = JSONResponse({"detail": str(error)}, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        except TransientError as error:
            refusal = JSONResponse({"detail": str(error)}, 503, {"Retry-After": ISSUER_RETRY_S})
            await refusal(scope, receive, send)
            return
        set_caller(caller)
        if caller is not None and caller.by_proxy and _is_cross_site(scope, headers):
            await JSONResponse({"detail": OTHER_SITE}, 403)(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                added = [TEXTS_HEADER] if caller and not caller.texts else []
                if all(name.lower() != NOSNIFF[0] for name, _ in own):
                    added.append(NOSNIFF)
                message = {**message, "headers": [*own, *added]}
            await send(message)

        await self.app(scope, receive, send_with_headers)

    async def _caller(self, scope: Scope, headers: Headers) -> Caller | None:
        if not self.known.needed:
            return THIS_MACHINE
        peer = scope["client"][0] if scope.get("client") else "unknown"
        known, now = self.known.current(), self.known.now()
        # Browsers repeat basic credentials for other sites, so only Langfuse's paths accept them.
        keys = scope["path"].startswith(LANGFUSE_PATHS)
        session = _session(headers)
        caller = caller_of(known, headers, session, peer, now, keys=keys)
        if caller is None and self.sign_in is not None:
            bearer = headers.get("authorization", "").removeprefix("Bearer ")
            return await self.sign_in.caller(known, bearer, session, peer)
        return caller


def _session(headers: Headers) -> str | None:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return cookie.value if cookie else None


def _is_cross_site(scope: Scope, headers: Headers) -> bool:
    """Return whether a browser sends a change on behalf of another site's page.

    A proxy authenticates everything a browser sends, like a cookie; programs send neither header.
    """
    if scope["method"] in SAFE_METHODS:
        return False
    origin = headers.get("origin")
    own = {_host_of(f"//{headers.get(name, '')}") for name in ("host", "x-forwarded-host")}
    foreign = origin is not None and _host_of(origin) not in own - {None}
    return foreign or headers.get("sec-fetch-site") in {"cross-site", "same-site"}


class BodyLimits:
    """Refuses bodies that are too large, before they are in memory, or too slow."""

    def __init__(self, app: ASGIApp, body_s: float) -> None:
        self._app = app
        self._body_s = body_s
        self._held = HeldBytes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting the bytes and the time of its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _LimitedBody(scope, receive, self._body_s, self._held)
        try:
            await self._app(scope, body.next_message, send)
        finally:
            body.release()


class HeldBytes:
    """Counts the bodies that are in memory, in all and by tenant."""

    def __init__(self) -> None:
        self._by_tenant = Counter[str]()

    def add(self, tenant: str, size: int) -> None:
        """Count bytes; raise HTTPException if they are too many."""
        self._by_tenant[tenant] += size
        own, total = self._by_tenant[tenant], self._by_tenant.total()
        if own > MAX_HELD_PER_TENANT or total > MAX_HELD_BYTES:
            raise HTTPException(503, TOO_MUCH_HELD, {"Retry-After": "1"})

    def remove(self, tenant: str, size: int) -> None:
        """Subtract counted bytes."""
        self._by_tenant[tenant] -= size
        if not self._by_tenant[tenant]:
            del self._by_tenant[tenant]


class _LimitedBody:
    """The body of one request, as far as it has arrived."""

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
        self._is_complete = False

    async def next_message(self) -> Message:
        """Return the next part of the body, or the message that the client has left.

        Raises
        ------
        HTTPException
            The body is too large or too slow, or too many bodies are in memory.
        """
        if self._is_complete:  # the next message is the end of the connection, at any time
            return await self._receive()
        if self._declared.isdecimal() and int(self._declared) > self._limit:
            raise self._too_large()
        message = await self._receive_in_time()
        size = len(message.get("body", b""))
        self._size += size
        self._is_complete = not message.get("more_body", False)
        if self._is_held:
            self._held.add(self._tenant, size)
        if self._size > self._limit:
            raise self._too_large()
        return message

    async def _receive_in_time(self) -> Message:
        """Return the next message; time runs from the first call."""
        if self._began is None:
            self._began = asyncio.get_running_loop().time()
        deadline = self._began + self._body_s + self._size / MIN_BYTES_PER_S
        try:
            async with asyncio.timeout_at(deadline):
                return await self._receive()
        except TimeoutError:
            raise HTTPException(408, TOO_SLOW) from None

    def _too_large(self) -> HTTPException:
        sentence = TOO_LARGE.format(mib=self._limit >> 20) if self._known else TOO_LARGE_ANONYMOUS
        return HTTPException(413, sentence)

    def release(self) -> None:
        """Subtract the bytes of the body at the end of the request."""
        if self._is_held:
            self._held.remove(self._tenant, self._size)


@dataclass(frozen=True)
class JsonLinesAsText:
    """Labels JSON lines as plain text for clients that accept only that."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and change the content type if the client asks for it."""
        wanted = scope["type"] == "http" and Headers(scope=scope).get("accept") == "text/plain"

        async def send_as_text(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith(JSON_LINES):
                    headers["content-type"] = "text/plain; charset=utf-8"
            await send(message)

        await self.app(scope, receive, send_as_text if wanted else send)


@dataclass(frozen=True)
class RejectNulInAddress:
    """Refuses addresses with a NUL, which no text of a database can hold."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests for other addresses."""
        if scope["type"] == "http" and (
            "\x00" in scope["path"] or b"%00" in scope.get("query_string", b"")
        ):
            await JSONResponse({"detail": NUL_IN_ADDRESS}, 422)(scope, receive, send)
            return
        await self.app(scope, receive, send)


@dataclass(frozen=True)
class LocalhostOnly:
    """Refuses requests that a browser sends for a page of another site.

    Such a page can point a host name of its own to this machine (DNS rebinding), or send a form
    whose response it need not read. The headers Host and Origin reveal both.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests from this machine."""
        if scope["type"] == "http" and _is_foreign(Headers(scope=scope)):
            await JSONResponse({"detail": LOCALHOST_ONLY}, 403)(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _is_foreign(headers: Headers) -> bool:
    """Return whether a request is for another host, or from a page of another site."""
    addresses = [f"//{headers.get('host', '')}"]
    if (origin := headers.get("origin")) is not None:
        addresses.append(origin)
    return any(_host_of(address) not in LOCALHOST for address in addresses)


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # not an address
        return None
