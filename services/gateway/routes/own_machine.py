"""Without tokens the gateway trusts this machine; this keeps other sites' pages from using that."""

from urllib.parse import urlsplit

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

OURS = {"127.0.0.1", "localhost", "::1"}
NOT_HERE = (
    "This gateway has no tokens and serves this machine alone: not another host's name, and not the"
    " pages of other sites. Ask for it as localhost, or set BIASWATCH_GATEWAY_RUN_TOKEN."
)


class OwnMachine:
    """Refuses requests that a browser makes for a page of somebody else.

    Such a page can have a name of its own lead to this machine, or send what no answer is needed
    for. The browser says so itself: in the host it asks for, and in the origin of the page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes from this machine."""
        if scope["type"] == "http" and _stranger(Headers(scope=scope)):
            await JSONResponse({"detail": NOT_HERE}, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _stranger(headers: Headers) -> bool:
    """Tell whether the request is for another host, or from another site's page."""
    origin = headers.get("origin")
    named = [f"//{headers.get('host', '')}", *([] if origin is None else [origin])]
    return not all(_host_of(each) in OURS for each in named)


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # no address at all
        return None
