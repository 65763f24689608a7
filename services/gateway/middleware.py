"""What every request passes first: a limit on its body, and where it may come from."""

from urllib.parse import urlsplit

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.auth import Tokens

MAX_BYTES = 512 * 1024 * 1024
"""With a token: the largest suites and the largest batches of production answers."""
MAX_ANONYMOUS_BYTES = 16 * 1024
"""Without a token: enough to sign in and to be told what is wrong."""
TOO_LARGE = f"That is too much at once: more than {MAX_BYTES >> 20} MiB. Send it in parts."
TOO_LARGE_ANONYMOUS = (
    "That is too much from somebody unknown. Set BIASWATCH_TOKEN to a token of this gateway."
)


class BodyLimits:
    """Refuses a body that is too large, before all of it is in memory."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, counting the bytes of its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        known = self._tokens.knows(Headers(scope=scope).get("authorization"))
        left = MAX_BYTES if known else MAX_ANONYMOUS_BYTES

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, TOO_LARGE if known else TOO_LARGE_ANONYMOUS)
            return message

        await self._app(scope, counted, send)


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
