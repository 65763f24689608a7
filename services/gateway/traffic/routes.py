"""Routes of production answers: live, and from the past."""

from fastapi import APIRouter, Request

from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.openapi import body_of
from biaswatch.services.gateway.traffic.batches import BatchIntake
from biaswatch.services.gateway.traffic.history import HistoryCommands
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import redaction_of
from biaswatch.shared.contracts import AuditAction, Right, Token
from biaswatch.shared.requests.traffic import AcceptedBatch, HistoryView, SentBatch, UnwatchedView
from biaswatch.shared.runtime.threads import in_thread


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of production answers."""
    router = APIRouter(prefix="/v1")
    ingestion = ExchangeIngestion(
        ctx.store,
        now=now,
        redaction=redaction_of(ctx.settings.gateway_redaction_file),
        watchers_ttl_s=ctx.watchers_ttl_s,
    )
    intake = BatchIntake(ingestion, ctx)

    @router.post(
        "/responses",
        status_code=202,
        dependencies=[ctx.tokens.require(Right.INGEST)],
        openapi_extra=body_of(SentBatch),
    )
    async def take_responses(request: Request) -> AcceptedBatch:
        """Accept a batch; all of it is on the bus when this answers. It may be sent again."""
        return await intake.accept(request)

    @router.get("/unwatched", dependencies=[ctx.tokens.require(Right.READ)])
    async def list_unwatched() -> list[UnwatchedView]:
        """Return the live systems with answers that no monitor watched, and their numbers."""
        systems = await in_thread(ctx.store.unwatched_answers.read)
        return [UnwatchedView.model_validate(system, from_attributes=True) for system in systems]

    router.include_router(_history_routes(ctx))
    return router


def _history_routes(ctx: GatewayContext) -> APIRouter:
    """Return the routes of the past of live systems."""
    router = APIRouter(prefix="/history", route_class=StrictRoute)
    run = [ctx.tokens.require(Right.RUN)]
    commands = HistoryCommands(ctx.store, ctx.queries(MonitorQueries), now=now)

    @router.get("/{source}", dependencies=[ctx.tokens.require(Right.READ)])
    async def show_history(source: Token) -> list[HistoryView]:
        """Return how far the past is read, by each monitor that watches the system."""
        return await in_thread(commands.show, source)

    @router.post("/{source}", dependencies=run)
    async def begin_history(source: Token) -> list[HistoryView]:
        """Prepare to accept answers of the past, with `history` in their batches."""
        await in_thread(commands.check_watched, source)
        async with ctx.audit.act(AuditAction.HISTORY_BEGIN, source):
            for monitor in await in_thread(commands.begin, source):
                # Also if it existed: a gateway may have ended between storing and sending it.
                await ctx.send(monitor)
        return await in_thread(commands.show, source)

    @router.post("/{source}/read", status_code=202, dependencies=run)
    async def read_history(source: Token) -> list[HistoryView]:
        """Read all answers of the past that were sent, window by window in their order."""
        await in_thread(commands.show, source)
        async with ctx.audit.act(AuditAction.HISTORY_READ, source):
            for monitor in await in_thread(commands.read, source):
                await ctx.send(monitor)
        return await in_thread(commands.show, source)

    return router
