"""The routes of monitors: the same verbs as the command line."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from services.gateway.auth import Tokens
from services.gateway.monitors.commands import MonitorCommands
from services.gateway.monitors.queries import MonitorQueries
from services.gateway.monitors.requests import AnyMonitorRequest
from services.gateway.monitors.views import (
    AlarmView,
    AppliedMonitor,
    History,
    MonitorStatus,
    MonitorView,
)
from shared.contracts import Description, Monitor, MonitorState
from shared.runtime.blocking import in_thread

Send = Callable[[Monitor], Awaitable[None]]
MAX_WINDOWS = 1000


def monitor_routes(
    commands: MonitorCommands, queries: MonitorQueries, send: Send, tokens: Tokens
) -> APIRouter:
    """Return the routes of monitors."""
    router = APIRouter(prefix="/v1")
    router.include_router(_read_routes(queries, tokens))
    router.include_router(_write_routes(commands, send, tokens))
    return router


def _read_routes(queries: MonitorQueries, tokens: Tokens) -> APIRouter:
    """Return the routes that only read."""
    router = APIRouter(dependencies=[Depends(tokens.may_read)])

    @router.get("/monitors")
    async def list_monitors() -> list[MonitorStatus]:
        return await in_thread(queries.statuses)

    @router.get("/monitors/{name}")
    async def show_monitor(name: str) -> MonitorView:
        return await in_thread(queries.show, name)

    @router.get("/monitors/{name}/alarms")
    async def show_alarms(name: str) -> list[AlarmView]:
        return await in_thread(queries.alarms, name)

    @router.get("/monitors/{name}/history")
    async def show_history(name: str) -> list[History]:
        return await in_thread(queries.histories, name)

    @router.get("/monitors/{name}/windows")
    async def show_windows(
        name: str, last: Annotated[int, Query(ge=1, le=MAX_WINDOWS)] = 100
    ) -> list[Description]:
        return await in_thread(queries.windows, name, last)

    return router


def _write_routes(commands: MonitorCommands, send: Send, tokens: Tokens) -> APIRouter:
    """Return the routes that spend money or end the spending."""
    router = APIRouter(dependencies=[Depends(tokens.may_run)])

    @router.post("/monitors")
    async def apply_monitor(monitor_request: AnyMonitorRequest) -> AppliedMonitor:
        applied = await in_thread(commands.apply, monitor_request)
        # Sent even if nothing changed: a gateway that died before sending is helped by the repeat.
        await send(applied.monitor)
        return applied

    async def change(name: str, state: MonitorState) -> Monitor:
        monitor = await in_thread(commands.change_state, name, state)
        await send(monitor)
        return monitor

    @router.post("/monitors/{name}/pause", status_code=202)
    async def pause_monitor(name: str) -> Monitor:
        return await change(name, MonitorState.PAUSED)

    @router.post("/monitors/{name}/resume", status_code=202)
    async def resume_monitor(name: str) -> Monitor:
        return await change(name, MonitorState.ACTIVE)

    @router.delete("/monitors/{name}", status_code=202)
    async def delete_monitor(name: str) -> Monitor:
        return await change(name, MonitorState.DELETED)

    return router
