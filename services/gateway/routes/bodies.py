"""How much may be sent: a body is read into memory, so that nobody unknown may send a large one."""

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.routes.tokens import Tokens

MOST_BYTES = 512 * 1024 * 1024
"""From who may be here: the largest suites, and the largest batches of production answers."""

STRANGERS_BYTES = 16 * 1024
"""From anybody: enough to sign in, and to be told what is wrong."""


class BodyLimits:
    """Stops reading what is too large, before it is all there."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and count what comes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        known = self._tokens.known(Headers(scope=scope).get("authorization"))
        left = MOST_BYTES if known else STRANGERS_BYTES

        async def counted() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, _too_large(known=known))
            return message

        await self._app(scope, counted, send)


def _too_large(*, known: bool) -> str:
    if known:
        return f"That is too much at once: more than {MOST_BYTES >> 20} MiB. Send it in parts."
    return "That is too much from somebody unknown. Set BIASWATCH_TOKEN to a token of this gateway."
