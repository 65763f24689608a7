"""Routes of searches: the same verbs as the command line."""

from fastapi import APIRouter

from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.searches.commands import SearchCommands
from biaswatch.services.gateway.searches.queries import SearchQueries
from biaswatch.shared.contracts import Right
from biaswatch.shared.requests.search_views import SearchBudget, SearchProgress, SearchRequest


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of searches."""
    router = APIRouter(prefix="/v1")
    queries = SearchQueries(ctx.store)
    for path, read in (
        ("/searches", queries.latest),
        ("/searches/{search_id}", queries.show),
        ("/searches/{search_id}/examples", queries.examples),
        ("/searches/{search_id}/suite", queries.suite),
    ):
        router.add_api_route(path, read, dependencies=[ctx.tokens.require(Right.READ)])
    router.include_router(_write_routes(ctx, queries))
    return router


def _write_routes(ctx: GatewayContext, queries: SearchQueries) -> APIRouter:
    router = APIRouter(dependencies=[ctx.tokens.require(Right.RUN)], route_class=StrictRoute)
    commands = SearchCommands(ctx, queries)

    @router.post("/searches", status_code=201)
    async def start_search(request: SearchRequest) -> SearchProgress:
        """Start a search, or continue it; the same plan is one search, whatever its budget."""
        return await commands.start(request)

    @router.post("/searches/{search_id}/budget")
    async def raise_budget(search_id: str, request: SearchBudget) -> SearchProgress:
        """Raise the budget of a search, which continues with its evidence."""
        return await commands.raise_budget(search_id, request.calls)

    @router.post("/searches/{search_id}/cancel", status_code=202)
    async def cancel_search(search_id: str) -> SearchProgress:
        """Cancel a search; its answers and its evidence are kept."""
        return await commands.cancel(search_id)

    return router
