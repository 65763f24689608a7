"""The HTTP face of monitors: the same verbs as the command line."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from services.gateway.domain.histories import History
from services.gateway.domain.monitor_views import Applied, MonitorStand, MonitorView, ShownAlarm
from services.gateway.domain.traffic_monitors import Asked
from services.gateway.handlers import MonitorBoard, MonitorDesk
from services.gateway.routes.tokens import Tokens
from shared.contracts import Description, Monitor, MonitorState
from shared.runtime.blocking import in_thread

Send = Callable[[Monitor], Awaitable[None]]
MOST_WINDOWS = 1000


def monitor_routes(desk: MonitorDesk, board: MonitorBoard, send: Send, tokens: Tokens) -> APIRouter:
    """Return the routes of monitors."""
    router = APIRouter(prefix="/v1")
    router.include_router(_reading(board, tokens))
    router.include_router(_changing(desk, send, tokens))
    return router


def _reading(board: MonitorBoard, tokens: Tokens) -> APIRouter:
    """Return what shows."""
    router = APIRouter(dependencies=[Depends(tokens.may_read)])

    @router.get("/monitors")
    async def list_monitors() -> list[MonitorStand]:
        return await in_thread(board.stands)

    @router.get("/monitors/{name}")
    async def show_monitor(name: str) -> MonitorView:
        return await in_thread(board.show, name)

    @router.get("/monitors/{name}/alarms")
    async def show_alarms(name: str) -> list[ShownAlarm]:
        return await in_thread(board.alarms, name)

    @router.get("/monitors/{name}/history")
    async def show_history(name: str) -> list[History]:
        return await in_thread(board.histories, name)

    @router.get("/monitors/{name}/windows")
    async def show_windows(
        name: str, last: Annotated[int, Query(ge=1, le=MOST_WINDOWS)] = 100
    ) -> list[Description]:
        return await in_thread(board.windows, name, last)

    return router


def _changing(desk: MonitorDesk, send: Send, tokens: Tokens) -> APIRouter:
    """Return what spends money, or ends the spending."""
    router = APIRouter(dependencies=[Depends(tokens.may_run)])

    @router.post("/monitors")
    async def apply_monitor(asked: Asked) -> Applied:
        applied = await in_thread(desk.apply, asked)
        # Sent even where nothing changed: whoever died before sending it is helped by the repeat.
        await send(applied.monitor)
        return applied

    async def turn(name: str, state: MonitorState) -> Monitor:
        monitor = await in_thread(desk.turned, name, state)
        await send(monitor)
        return monitor

    @router.post("/monitors/{name}/pause", status_code=202)
    async def pause_monitor(name: str) -> Monitor:
        return await turn(name, MonitorState.PAUSED)

    @router.post("/monitors/{name}/resume", status_code=202)
    async def resume_monitor(name: str) -> Monitor:
        return await turn(name, MonitorState.ACTIVE)

    @router.delete("/monitors/{name}", status_code=202)
    async def delete_monitor(name: str) -> Monitor:
        return await turn(name, MonitorState.DELETED)

    return router
