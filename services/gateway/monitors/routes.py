"""The routes of monitors: the same verbs as the command line."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Depends

from services.gateway.auth import Tokens
from services.gateway.monitors.commands import MonitorCommands
from services.gateway.monitors.queries import MonitorQueries
from services.gateway.monitors.requests import AnyMonitorRequest
from services.gateway.monitors.views import AppliedMonitor
from shared.contracts import Monitor, MonitorState
from shared.runtime.blocking import in_thread

Send = Callable[[Monitor], Awaitable[None]]


def monitor_routes(
    commands: MonitorCommands, queries: MonitorQueries, send: Send, tokens: Tokens
) -> APIRouter:
    """Return the routes of monitors."""
    router = APIRouter(prefix="/v1")
    read, run = [Depends(tokens.may_read)], [Depends(tokens.may_run)]
    for path, show in (
        ("/monitors", queries.statuses),
        ("/monitors/{name}", queries.show),
        ("/monitors/{name}/alarms", queries.alarms),
        ("/monitors/{name}/history", queries.histories),
        ("/monitors/{name}/windows", queries.windows),
    ):
        router.add_api_route(path, show, dependencies=read)

    @router.post("/monitors", dependencies=run)
    async def apply_monitor(monitor_request: AnyMonitorRequest) -> AppliedMonitor:
        applied = await in_thread(commands.apply, monitor_request)
        # Sent even if nothing changed: a gateway that died before sending is helped by the repeat.
        await send(applied.monitor)
        return applied

    async def change(name: str, state: MonitorState) -> Monitor:
        monitor = await in_thread(commands.change_state, name, state)
        await send(monitor)
        return monitor

    @router.post("/monitors/{name}/pause", status_code=202, dependencies=run)
    async def pause_monitor(name: str) -> Monitor:
        return await change(name, MonitorState.PAUSED)

    @router.post("/monitors/{name}/resume", status_code=202, dependencies=run)
    async def resume_monitor(name: str) -> Monitor:
        return await change(name, MonitorState.ACTIVE)

    @router.delete("/monitors/{name}", status_code=202, dependencies=run)
    async def delete_monitor(name: str) -> Monitor:
        return await change(name, MonitorState.DELETED)

    return router
