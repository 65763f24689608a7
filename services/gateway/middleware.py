"""What every request passes first: who sends it, limits on its body, where it may come from."""

import asyncio
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.auditing import TokenAudit
from services.gateway.callers import (
    COOKIE,
    THIS_MACHINE,
    Caller,
    caller_of,
    current_caller,
    set_caller,
)
from services.gateway.tokens_file import KnownTokens

MAX_BYTES = 512 * 1024 * 1024
"""With a token: the largest suites and the largest batches of production answers."""
MAX_ANONYMOUS_BYTES = 16 * 1024
"""Without a token: enough to sign in and to be told what is wrong."""
TOO_LARGE = f"That is too much at once: more than {MAX_BYTES >> 20} MiB. Send it in parts."
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


class BodyLimits:
    """Refuses a body that is too large before all of it is in memory, and one that never ends."""

    def __init__(self, app: ASGIApp, body_s: float) -> None:
        self._app = app
        self._body_s = body_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting the bytes of its body and the time that it takes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        known = (caller := current_caller()) is not None and not caller.by_session
        most = MAX_BYTES if known else MAX_ANONYMOUS_BYTES
        began, size, whole = asyncio.get_running_loop().time(), 0, False

        async def bounded() -> Message:
            nonlocal size, whole
            if whole:  # what follows is that the client leaves, which may take as long as it likes
                return await receive()
            until = began + self._body_s + size / SLOWEST_BYTES_PER_S
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, TOO_SLOW) from None
            size += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if size > most:
                raise HTTPException(413, TOO_LARGE if known else TOO_LARGE_ANONYMOUS)
            return message

        await self._app(scope, bounded, send)


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
