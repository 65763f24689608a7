"""The route of the platform as a whole."""

from fastapi import APIRouter, Depends

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.status.queries import StatusQueries


def status_routes(queries: StatusQueries, tokens: Tokens) -> APIRouter:
    """Return the route that says what alarms, what changed and what waits for a person."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(tokens.may_read)])
    router.add_api_route("/status", queries.status)
    return router
