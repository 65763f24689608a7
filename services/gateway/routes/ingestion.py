"""The HTTP door for production answers."""

import asyncio
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Depends

from services.gateway.domain.exchanges import SentResponses, Taken
from services.gateway.handlers import Ingest
from services.gateway.routes.tokens import Tokens
from shared.contracts import Exchange
from shared.runtime.blocking import in_thread

Send = Callable[[Exchange], Awaitable[None]]


def ingestion_routes(ingest: Ingest, send: Send, tokens: Tokens) -> APIRouter:
    """Return the route of production answers."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(tokens.may_ingest)])

    @router.post("/responses", status_code=202)
    async def take_responses(sent: SentResponses) -> Taken:
        """Take a batch in; all of it is on the bus when this answers, or it may be sent again."""
        exchanges = await in_thread(ingest.exchanges_of, sent)
        await asyncio.gather(*map(send, exchanges))
        return Taken(accepted=len(exchanges))

    return router
