"""Routes of the dashboard: its pages, static files and login."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.auth import PAGE_HEADERS, local_path
from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.dashboard import (
    answer_pages,
    forms,
    label_pages,
    live_pages,
    monitor_pages,
    overview_pages,
    run_pages,
    search_pages,
    start_pages,
)
from biaswatch.services.gateway.dashboard.rendering import page, static_file, style_sheet
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.runs.studies import StudyQueries
from biaswatch.shared.lookup import first
from biaswatch.shared.network.outgoing import host_of

PAGES = (
    live_pages, forms, start_pages, monitor_pages, search_pages, answer_pages, label_pages,
)  # fmt: skip


def router(ctx: GatewayContext) -> APIRouter:
    """Return the pages, their static files and the login."""
    router = APIRouter(include_in_schema=False)
    # Overview and run pages share its cache of scores.
    studies = StudyQueries(ctx.store, ctx.queries(RunQueries))
    router.include_router(overview_pages.router(ctx, studies))
    for pages in PAGES:
        router.include_router(pages.router(ctx))
    router.include_router(run_pages.router(ctx, studies))
    router.include_router(_session_routes(ctx))
    return router


def _session_routes(ctx: GatewayContext) -> APIRouter:
    """Return the description of the API, the static files and the login."""
    router = APIRouter()

    @router.get("/docs", dependencies=[Depends(ctx.tokens.signed_in)])
    async def show_api(request: Request) -> HTMLResponse:
        return page("operations.html", operations=operations_of(request.app.openapi()))

    @router.get("/style.css")
    async def show_style_sheet() -> Response:
        return Response(
            style_sheet(), media_type="text/css", headers={**PAGE_HEADERS, "Cache-Control": ""}
        )

    @router.get("/static/{name}")
    def show_static_file(name: str, v: str = "") -> Response:
        file = static_file(name)
        cache = "public, max-age=31536000, immutable" if v == file.version else "no-cache"
        headers = {**PAGE_HEADERS, "Cache-Control": cache}
        return Response(file.body, media_type=file.media_type, headers=headers)

    @router.get("/login")
    async def show_login(next_path: Annotated[str, Depends(local_path)]) -> HTMLResponse:
        return login_page(next_path, refused=False)

    @router.post("/login")
    async def log_in(request: Request) -> Response:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"))  # any may be missing
        next_path = local_path(fields.get("next", ["/"])[0])
        session = ctx.tokens.begin_session(fields.get("token", [""])[0], next_path, request)
        return session or login_page(next_path, refused=True)

    def login_page(next_path: str, *, refused: bool) -> HTMLResponse:
        offers_issuer = ctx.sign_in is not None and ctx.sign_in.cookies is not None
        issuer = host_of(ctx.settings.gateway_oidc_issuer or "") if offers_issuer else None
        status = 401 if refused else 200
        return page("login.html", status, next=next_path, refused=refused, issuer=issuer)

    return router


@dataclass(frozen=True)
class Operation:
    """An operation of the API as the page shows it."""

    method: str
    path: str
    does: str
    takes: str
    gives: str


def operations_of(openapi: Mapping[str, Any]) -> list[Operation]:
    """Return every operation of an OpenAPI description, sorted by path."""
    operations = [
        Operation(
            method=verb.upper(),
            path=path,
            does=_description(operation),
            takes=_body_name(operation.get("requestBody", {})),
            gives=_body_name(
                first(
                    (reply for code, reply in operation["responses"].items() if code[0] == "2"),
                    f"{path} has no success response.",
                )
            ),
        )
        for path, verbs in openapi["paths"].items()
        for verb, operation in verbs.items()
    ]
    return sorted(operations, key=lambda operation: (operation.path, operation.method))


def _description(operation: Mapping[str, Any]) -> str:
    """Return the description of an operation, without its section on errors."""
    words = str(operation.get("description") or operation["summary"])
    return words.partition("\nRaises\n")[0].strip().replace("`", "")


def _body_name(part: Mapping[str, Any]) -> str:
    """Return the name of a body: its schema, a list of them, or its media type."""
    for media, content in part.get("content", {}).items():
        schema = content.get("schema", {})
        inner = schema.get("items", schema)
        kinds = [option["$ref"].rpartition("/")[2] for option in inner.get("oneOf", ())]
        title = " or ".join(kinds) or str(inner.get("title", media))
        # A title that was made of the operation's own name says nothing about its body.
        name = str(inner.get("$ref", "")).rpartition("/")[2] or (
            media if title.startswith("Response ") else title
        )
        return f"list of {name}" if schema.get("type") == "array" else name
    return ""
