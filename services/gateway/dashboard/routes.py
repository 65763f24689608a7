"""The routes of the dashboard: its pages, and what their forms do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response

from biaswatch.services.gateway.archived_answers import AnswersInStore
from biaswatch.services.gateway.auth import PAGE_HEADERS, Tokens, local_path
from biaswatch.services.gateway.dashboard.actions import PageActions, action_routes
from biaswatch.services.gateway.dashboard.answer_pages import AnswerQueries, answer_routes
from biaswatch.services.gateway.dashboard.label_pages import LabelPages, label_page_routes
from biaswatch.services.gateway.dashboard.live_pages import LiveQueries, live_routes
from biaswatch.services.gateway.dashboard.monitor_pages import monitor_page_routes, strata_routes
from biaswatch.services.gateway.dashboard.overview_pages import OverviewQueries, operation_routes
from biaswatch.services.gateway.dashboard.rendering import page, static_file, style_sheet
from biaswatch.services.gateway.dashboard.run_pages import comparison_routes, run_page_routes
from biaswatch.services.gateway.dashboard.start_pages import StartPage, StartQueries, start_routes
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.monitors.strata import StrataQueries
from biaswatch.services.gateway.runs.measurements import GroupValueQueries
from biaswatch.services.gateway.runs.provenance import InterpretationQueries, ProvenanceQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.runs.studies import StudyQueries
from biaswatch.shared.lookup import first


@dataclass(frozen=True)
class PageSources:
    """What the pages read."""

    runs: RunQueries
    monitors: MonitorQueries
    answers: AnswerQueries
    provenances: ProvenanceQueries
    group_values: GroupValueQueries
    studies: StudyQueries
    interpretations: InterpretationQueries
    overview: OverviewQueries
    in_store: AnswersInStore
    starting: StartQueries
    strata: StrataQueries


def page_routes(
    sources: PageSources,
    actions: PageActions,
    labels: LabelPages,
    tokens: Tokens,
    now: Callable[[], datetime],
) -> APIRouter:
    """Return the pages, their style sheet and the login."""
    router = APIRouter(include_in_schema=False)
    router.include_router(_api_routes(tokens))
    platform = operation_routes(sources.overview, sources.runs, sources.monitors, tokens, now)
    router.include_router(platform)
    live = LiveQueries(sources.runs, sources.monitors, sources.overview)
    router.include_router(live_routes(live, tokens))
    router.include_router(comparison_routes(sources.runs, tokens))
    router.include_router(action_routes(actions, tokens))
    router.include_router(start_routes(StartPage(sources.starting, actions), tokens))
    router.include_router(monitor_page_routes(sources.monitors, sources.overview, tokens, now))
    router.include_router(strata_routes(sources.strata, tokens))
    router.include_router(answer_routes(sources.answers, sources.runs, sources.in_store, tokens))
    router.include_router(label_page_routes(labels, tokens))
    beside = sources.provenances, sources.group_values, sources.studies, labels.queries
    runs = run_page_routes(sources.runs, *beside, sources.interpretations, tokens)
    router.include_router(runs)

    @router.get("/style.css")
    async def show_style_sheet() -> Response:
        return Response(
            style_sheet(), media_type="text/css", headers={**PAGE_HEADERS, "Cache-Control": ""}
        )

    @router.get("/static/{name}")
    def show_static_file(name: str, v: str = "") -> Response:
        found = static_file(name)
        kept = "public, max-age=31536000, immutable" if v == found.version else "no-cache"
        headers = {**PAGE_HEADERS, "Cache-Control": kept}
        return Response(found.body, media_type=found.media_type, headers=headers)

    @router.get("/login")
    async def show_login(next_path: Annotated[str, Depends(local_path)]) -> HTMLResponse:
        return page("login.html", next=next_path, refused=False)

    @router.post("/login")
    async def log_in(request: Request) -> Response:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"))  # any may be missing
        wanted = local_path(fields.get("next", ["/"])[0])
        begun = tokens.begin_session(fields.get("token", [""])[0], wanted, request)
        return begun or page("login.html", 401, next=wanted, refused=True)

    return router


def _api_routes(tokens: Tokens) -> APIRouter:
    router = APIRouter(dependencies=[Depends(tokens.signed_in)])

    @router.get("/docs")
    async def show_api(request: Request) -> HTMLResponse:
        return page("operations.html", operations=operations_of(request.app.openapi()))

    return router


@dataclass(frozen=True)
class Operation:
    """One operation of the API, as the page shows it."""

    method: str
    path: str
    does: str
    takes: str
    gives: str


def operations_of(openapi: Mapping[str, Any]) -> list[Operation]:
    """Return every operation of an OpenAPI description, sorted by path."""
    found = [
        Operation(
            method=verb.upper(),
            path=path,
            does=_described(operation),
            takes=_body_name(operation.get("requestBody", {})),
            gives=_body_name(
                first(
                    (reply for code, reply in operation["responses"].items() if code[0] == "2"),
                    f"{path} has no answer of success.",
                )
            ),
        )
        for path, verbs in openapi["paths"].items()
        for verb, operation in verbs.items()
    ]
    return sorted(found, key=lambda each: (each.path, each.method))


def _described(operation: Mapping[str, Any]) -> str:
    """Return what an operation does, without the section on errors that programmers read."""
    words = str(operation.get("description") or operation["summary"])
    return words.partition("\nRaises\n")[0].strip().replace("`", "")


def _body_name(part: Mapping[str, Any]) -> str:
    """Return the name of a body: its schema, a list of them, or its media type."""
    for media, content in part.get("content", {}).items():
        schema = content.get("schema", {})
        inner = schema.get("items", schema)
        kinds = [each["$ref"].rpartition("/")[2] for each in inner.get("oneOf", ())]
        title = " or ".join(kinds) or str(inner.get("title", media))
        # A title that was made of the operation's own name says nothing about its body.
        name = str(inner.get("$ref", "")).rpartition("/")[2] or (
            media if title.startswith("Response ") else title
        )
        return f"list of {name}" if schema.get("type") == "array" else name
    return ""
