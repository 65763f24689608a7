"""Pages of searches: the list, and one search with its findings and what was looked at."""

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse

from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.services.gateway.searches.queries import SearchQueries
from biaswatch.shared.presentation.plots import search_plot
from biaswatch.shared.presentation.searches import (
    coverage_table,
    findings_table,
    proposals_table,
    search_remarks,
    searches_table,
)

RELOAD_S = 10


def router(ctx: GatewayContext) -> APIRouter:
    """Return the pages of searches."""
    router = APIRouter(dependencies=[Depends(ctx.tokens.signed_in)])
    queries = SearchQueries(ctx.store)

    @router.get("/searches")
    def list_searches() -> HTMLResponse:
        return page("searches.html", searches=searches_table(queries.latest()))

    @router.get("/searches/{search_id}")
    def show_search(search_id: str) -> HTMLResponse:
        view = queries.show(search_id)
        coverage = view.results.coverage
        return page(
            "search.html",
            reload_s=None if view.progress.over else RELOAD_S,
            progress=view.progress,
            results=view.results,
            plot=search_plot(view.results.findings),
            findings=findings_table(view.results),
            examples=queries.examples(search_id),
            remarks=list(search_remarks(view.progress, view.results)),
            map=queries.coverage(search_id),
            proposed=proposals_table(view.results),
            areas=coverage_table(coverage.areas, "area"),
            topics=coverage_table(sorted(coverage.topics, key=lambda t: -t.sets), "topic"),
            contexts=coverage_table(coverage.contexts, "context"),
        )

    return router
