"""Pages that start a run, a monitor or a search, with what it costs and can decide."""

from collections.abc import Sequence
from functools import partial
from secrets import token_hex
from typing import Annotated
from urllib.parse import parse_qs

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
from biaswatch.services.gateway.dashboard.rendering import START, page
from biaswatch.services.gateway.dashboard.start_forms import Filled, FormField, Preview
from biaswatch.services.gateway.dashboard.start_kinds import RunKind, SearchKind
from biaswatch.services.gateway.dashboard.start_monitors import MonitorKind
from biaswatch.services.gateway.dashboard.start_queries import StartQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.threads import in_thread

StartKind = RunKind | MonitorKind | SearchKind
KINDS = (RunKind, MonitorKind, SearchKind)


def router(ctx: GatewayContext) -> APIRouter:
    """Return the page of each kind, and the route of its form."""
    router, queries = APIRouter(), StartQueries(ctx.store, ctx.queries(RunQueries))
    for kind in KINDS:
        router.include_router(_routes(kind(ctx, queries), ctx, queries))
    return router


def _routes(kind: StartKind, ctx: GatewayContext, queries: StartQueries) -> APIRouter:
    router, forms = APIRouter(), IdempotentForms(ctx.store, now)
    page_forms = forms_with(ctx.tokens)

    @router.get(kind.path)
    def show_form(
        request: Request, page_forms: Annotated[PageForms, Depends(page_forms)]
    ) -> HTMLResponse:
        query = parse_qs(request.url.query, max_num_fields=500)
        filled = Filled(query)
        fields = kind.fields(filled) if page_forms.allowed else []
        preview, wrong = _previewed(kind, filled, fields)
        shown = page(
            "start.html",
            scripts=(START,),
            forms=page_forms,
            kind=kind,
            kinds=KINDS,
            fields=fields,
            filled=filled,
            wrong=wrong,
            preview=preview,
            suites=queries.suites(),
            nonce=token_hex(8),
        )
        return page_forms.with_cookie(shown)

    @router.post(kind.path)
    async def start(
        request: Request, caller: Annotated[Caller, Depends(ctx.tokens.signed_in)]
    ) -> RedirectResponse:
        fields = await sent_form(request, caller)
        filled = Filled({name: [value] for name, value in fields.items()})
        nonce = fields.get("nonce", "")
        address = await in_thread(kind.address, filled, nonce)
        await forms.once(request, caller, partial(kind.start, filled, nonce))
        return redirect(address)

    return router


def _previewed(
    kind: StartKind, filled: Filled, fields: Sequence[FormField]
) -> tuple[Preview | None, str]:
    """Return what a complete form would start, or why it is invalid."""
    defaults = {field.name: [field.default] for field in fields if not filled.text(field.name)}
    filled = Filled({**filled.values, **defaults})
    has_all = all(filled.text(field.name) for field in fields if field.required)
    if not (fields and has_all and kind.is_complete(filled)):
        return None, ""
    try:
        return kind.preview(filled), ""
    except UsageError as error:
        return None, str(error)
