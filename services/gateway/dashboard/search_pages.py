"""Pages of searches: the list, and one search with its findings and what was looked at."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from biaswatch.services.gateway.auth import redirect
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.dashboard.page_forms import (
    IdempotentForms,
    PageForms,
    forms_with,
    sent_form,
)
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.services.gateway.searches.commands import SearchCommands
from biaswatch.services.gateway.searches.queries import SearchQueries
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.presentation.plots import search_plot
from biaswatch.shared.presentation.searches import (
    coverage_table,
    findings_table,
    proposals_table,
    search_remarks,
    searches_table,
)

RELOAD_S = 10
MORE_CALLS = 1000
"""Calls that the button of an ended search adds to its budget."""


def router(ctx: GatewayContext) -> APIRouter:
    """Return the pages of searches."""
    router = APIRouter(dependencies=[Depends(ctx.tokens.signed_in)])
    queries, page_forms = SearchQueries(ctx.store), forms_with(ctx.tokens)
    router.include_router(_forms(ctx, queries))

    @router.get("/searches")
    def list_searches() -> HTMLResponse:
        return page("searches.html", searches=searches_table(queries.latest()))

    @router.get("/searches/{search_id}")
    def show_search(
        search_id: str, forms: Annotated[PageForms, Depends(page_forms)]
    ) -> HTMLResponse:
        view = queries.show(search_id)
        coverage = view.results.coverage
        shown = page(
            "search.html",
            forms=forms,
            more_calls=MORE_CALLS,
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
        return forms.with_cookie(shown)

    return router


def _forms(ctx: GatewayContext, queries: SearchQueries) -> APIRouter:
    router, forms = APIRouter(), IdempotentForms(ctx.store, now)
    commands = SearchCommands(ctx, queries)
    actions: dict[str, Callable[[str], Awaitable[object]]] = {
        "cancel": commands.cancel,
        "continue": partial(commands.add_calls, calls=MORE_CALLS),
    }

    @router.post("/searches/{search_id}/{verb}")
    async def change_search(
        search_id: str,
        verb: str,
        request: Request,
        caller: Annotated[Caller, Depends(ctx.tokens.signed_in)],
    ) -> RedirectResponse:
        await sent_form(request, caller)
        if verb not in actions:
            raise NotFoundError(f"The action {verb} does not exist for a search.")
        await forms.once(request, caller, partial(actions[verb], search_id))
        return redirect(f"/searches/{search_id}")

    return router
