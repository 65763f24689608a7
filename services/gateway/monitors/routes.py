"""Routes of monitors: the same verbs as the command line."""

from fastapi import APIRouter

from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.monitors.commands import monitor_commands, publish_change
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.monitors.strata import StrataQueries
from biaswatch.shared.contracts import AuditAction, Monitor, MonitorState, Right
from biaswatch.shared.requests.monitor_views import AppliedMonitor
from biaswatch.shared.requests.monitors import AnyMonitorRequest
from biaswatch.shared.runtime.threads import in_thread


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of monitors."""
    router = APIRouter(prefix="/v1")
    queries = ctx.queries(MonitorQueries)
    for path, read in (
        ("/monitors", queries.statuses),
        ("/monitors/{name}", queries.show),
        ("/monitors/{name}/alarms", queries.alarms),
        ("/monitors/{name}/history", queries.histories),
        ("/monitors/{name}/windows", queries.windows),
        ("/monitors/{name}/strata", StrataQueries(ctx.store, queries).strata),
    ):
        router.add_api_route(path, read, dependencies=[ctx.tokens.require(Right.READ)])
    router.include_router(_write_routes(ctx))
    return router


def _write_routes(ctx: GatewayContext) -> APIRouter:
    router = APIRouter(dependencies=[ctx.tokens.require(Right.RUN)], route_class=StrictRoute)
    commands = monitor_commands(ctx)

    @router.post("/monitors")
    async def apply_monitor(monitor_request: AnyMonitorRequest) -> AppliedMonitor:
        """Begin a monitor, or change one as requested; the same again changes nothing."""
        applied = await in_thread(commands.definition_of, monitor_request)
        await publish_change(applied, AuditAction.MONITOR_APPLY, commands, ctx)
        return applied

    async def change(name: str, state: MonitorState, action: AuditAction) -> Monitor:
        applied = await in_thread(commands.changed_state, name, state)
        await publish_change(applied, action, commands, ctx)
        return applied.monitor

    @router.post("/monitors/{name}/pause", status_code=202)
    async def pause_monitor(name: str) -> Monitor:
        """Ask no further rounds until it is resumed."""
        return await change(name, MonitorState.PAUSED, AuditAction.MONITOR_PAUSE)

    @router.post("/monitors/{name}/resume", status_code=202)
    async def resume_monitor(name: str) -> Monitor:
        """Ask rounds again; earlier evidence still counts."""
        return await change(name, MonitorState.ACTIVE, AuditAction.MONITOR_RESUME)

    @router.delete("/monitors/{name}", status_code=202)
    async def delete_monitor(name: str) -> Monitor:
        """End a monitor; its evidence is kept."""
        return await change(name, MonitorState.DELETED, AuditAction.MONITOR_DELETE)

    return router
