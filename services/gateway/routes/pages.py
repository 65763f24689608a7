"""The dashboard: pages about monitors and runs, for people with a browser. They change nothing."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response

from services.gateway.domain.charts import evidence_chart, gap_chart
from services.gateway.domain.findings import MOST_GAPS, by_weight
from services.gateway.domain.monitor_views import Shown
from services.gateway.domain.operations import operations_of
from services.gateway.domain.whiskers import Whisker, whiskers
from services.gateway.handlers import Desk, MonitorBoard
from services.gateway.routes.rendering import HEADERS, page, style
from services.gateway.routes.sessions import Sessions, SignIn, next_of
from shared.runtime.blocking import in_thread

AGAIN_S = 30
MOST_RUNS = 25
MOST_CHARTS = 12


def page_routes(
    desk: Desk, board: MonitorBoard, sessions: Sessions, now: Callable[[], datetime]
) -> APIRouter:
    """Return the pages, and what a browser needs for them."""
    router = APIRouter(include_in_schema=False)
    router.include_router(_shown(desk, board, sessions, now))

    @router.get("/style.css")
    async def give_style() -> Response:
        return Response(style(), media_type="text/css", headers={**HEADERS, "Cache-Control": ""})

    @router.get("/login")
    async def ask_for_token(where: Annotated[str, Depends(next_of)]) -> HTMLResponse:
        return page("login.html", next=where, refused=False)

    @router.post("/login")
    async def take_token(request: Request) -> Response:
        form = await SignIn.of(request)
        begun = sessions.begin(form, request)
        return begun or page("login.html", 401, next=form.next, refused=True)

    return router


def _shown(
    desk: Desk, board: MonitorBoard, sessions: Sessions, now: Callable[[], datetime]
) -> APIRouter:
    router = APIRouter(dependencies=[Depends(sessions.signed_in)])

    @router.get("/")
    async def overview() -> HTMLResponse:
        stands, runs = await in_thread(board.stands), await in_thread(desk.runs, MOST_RUNS)
        return page("overview.html", again_s=AGAIN_S, stands=stands, runs=runs, now=now())

    @router.get("/monitors/{name}")
    async def show_monitor(name: str) -> HTMLResponse:
        view = await in_thread(board.show, name)
        told = (await in_thread(board.histories, name))[:MOST_CHARTS]
        charts = [(each, gap_chart(each), evidence_chart(each)) for each in told]
        evidence = sorted(view.evidence, key=lambda each: -each.log_supremum / each.bound)
        return page(
            "monitor.html",
            again_s=AGAIN_S,
            view=view,
            evidence=evidence,
            whiskers=_beside(evidence),
            charts=charts,
            now=now(),
        )

    @router.get("/monitors/{name}/alarms")
    async def show_alarms(name: str) -> HTMLResponse:
        return page("alarms.html", name=name, alarms=await in_thread(board.alarms, name))

    @router.get("/runs/{run_id}")
    async def show_run(run_id: str) -> HTMLResponse:
        run = await in_thread(desk.progress, run_id)
        found = [by_weight(each) for each in await in_thread(desk.diagnoses, run_id)]
        drawn = [(each, whiskers([gap.gap for gap in each.gaps[:MOST_GAPS]])) for each in found]
        again_s = None if run.ended else AGAIN_S
        return page("run.html", again_s=again_s, run=run, diagnoses=drawn, most=MOST_GAPS)

    @router.get("/docs")
    async def describe(request: Request) -> HTMLResponse:
        return page("api.html", operations=operations_of(request.app.openapi()))

    return router


def _beside(evidence: list[Shown]) -> list[Whisker | None]:
    """Place gaps, in their order; only those of the same number share a scale."""
    numbers = [each.number for each in evidence]
    placed: dict[str, list[Whisker | None]] = {
        name: whiskers([e.gap for e, n in zip(evidence, numbers, strict=True) if n == name])
        for name in set(numbers)
    }
    return [placed[name].pop(0) for name in numbers]
