"""The routes of monitors: the same verbs as the command line."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Depends

from biaswatch.services.gateway.auth import CallerAudit, Tokens
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.monitors.commands import MonitorCommands
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.monitors.strata import StrataQueries
from biaswatch.shared.contracts import AuditAction, Monitor, MonitorState
from biaswatch.shared.requests.monitor_views import AppliedMonitor
from biaswatch.shared.requests.monitors import AnyMonitorRequest
from biaswatch.shared.runtime.blocking import in_thread

Send = Callable[[Monitor], Awaitable[None]]
ACTIONS = {
    MonitorState.PAUSED: AuditAction.MONITOR_PAUSE,
    MonitorState.ACTIVE: AuditAction.MONITOR_RESUME,
    MonitorState.DELETED: AuditAction.MONITOR_DELETE,
}


def monitor_routes(
    commands: MonitorCommands,
    queries: MonitorQueries,
    strata: StrataQueries,
    send: Send,
    tokens: Tokens,
    audit: CallerAudit,
) -> APIRouter:
    """Return the routes of monitors."""
    router = APIRouter(prefix="/v1")
    router.include_router(_read_routes(queries, strata, tokens))
    router.include_router(_write_routes(commands, send, tokens, audit))
    return router


def _read_routes(queries: MonitorQueries, strata: StrataQueries, tokens: Tokens) -> APIRouter:
    router = APIRouter(dependencies=[Depends(tokens.may_read)])
    for path, show in (
        ("/monitors", queries.statuses),
        ("/monitors/{name}", queries.show),
        ("/monitors/{name}/alarms", queries.alarms),
        ("/monitors/{name}/history", queries.histories),
        ("/monitors/{name}/windows", queries.windows),
        ("/monitors/{name}/strata", strata.strata),
    ):
        router.add_api_route(path, show)
    return router


def _write_routes(
    commands: MonitorCommands, send: Send, tokens: Tokens, audit: CallerAudit
) -> APIRouter:
    router = APIRouter(dependencies=[Depends(tokens.may_run)], route_class=StrictRoute)

    @router.post("/monitors")
    async def apply_monitor(monitor_request: AnyMonitorRequest) -> AppliedMonitor:
        """Begin a monitor, or change one as is asked for; the same again changes nothing."""
        applied = await in_thread(commands.definition_of, monitor_request)
        await carry_out(applied, AuditAction.MONITOR_APPLY)
        return applied

    async def change(name: str, state: MonitorState) -> Monitor:
        applied = await in_thread(commands.changed_state, name, state)
        await carry_out(applied, ACTIONS[state])
        return applied.monitor

    async def carry_out(applied: AppliedMonitor, action: AuditAction) -> None:
        monitor = applied.monitor
        if not applied.changed:
            # A gateway that died before sending is helped by the repeat.
            await send(monitor)
            return
        async with audit.act(action, monitor.name, monitor_id=monitor.monitor_id):
            await in_thread(commands.keep, monitor)
            await send(monitor)

    @router.post("/monitors/{name}/pause", status_code=202)
    async def pause_monitor(name: str) -> Monitor:
        """Ask no further rounds until it is resumed."""
        return await change(name, MonitorState.PAUSED)

    @router.post("/monitors/{name}/resume", status_code=202)
    async def resume_monitor(name: str) -> Monitor:
        """Ask rounds again; what was seen before still counts."""
        return await change(name, MonitorState.ACTIVE)

    @router.delete("/monitors/{name}", status_code=202)
    async def delete_monitor(name: str) -> Monitor:
        """End a monitor; what it has seen is kept."""
        return await change(name, MonitorState.DELETED)

    return router
