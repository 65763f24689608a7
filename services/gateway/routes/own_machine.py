"""Without tokens the gateway trusts this machine; this keeps other sites' pages from using that."""

from urllib.parse import urlsplit

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

OURS = {"127.0.0.1", "localhost", "::1"}


class OwnMachine:
    """Refuses requests that a browser makes for a page of somebody else.

    Such a page can have a name of its own lead to this machine, or send what no answer is needed
    for. The browser says so itself: in the host it asks for, and in the origin of the page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes from this machine."""
        if scope["type"] == "http" and (name := _stranger(Headers(scope=scope))):
            said = (
                f"This gateway has no tokens and serves this machine alone, not {name}. Ask for it"
                " as localhost, or set BIASWATCH_GATEWAY_RUN_TOKEN."
            )
            await JSONResponse({"detail": said}, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _stranger(headers: Headers) -> str | None:
    """Name whom the request is for or from, where that is not this machine."""
    host = urlsplit(f"//{headers.get('host', '')}").hostname
    if host not in OURS:
        return f"the host {host}"
    origin = headers.get("origin")
    return None if origin is None or urlsplit(origin).hostname in OURS else f"a page of {origin}"
