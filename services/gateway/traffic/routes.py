"""Routes of production answers: live, and from the past."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Depends, Request

from biaswatch.services.gateway.auth import CallerAudit, Tokens
from biaswatch.services.gateway.bodies import IntakeSlots
from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.openapi import body_of
from biaswatch.services.gateway.traffic.batches import BatchIntake, Waiting
from biaswatch.services.gateway.traffic.history import HistoryCommands
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import AuditAction, Monitor, Token
from biaswatch.shared.requests.traffic import AcceptedBatch, HistoryView, SentBatch, UnwatchedView
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store


def ingestion_routes(
    ingest: ExchangeIngestion,
    publisher: Publisher,
    waiting: Waiting,
    tokens: Tokens,
    slots: IntakeSlots,
) -> APIRouter:
    """Return the route of production answers."""
    may = [Depends(tokens.may_ingest)]
    router = APIRouter(prefix="/v1", dependencies=may)

    batches = BatchIntake(ingest, publisher, waiting, slots)

    @router.post("/responses", status_code=202, openapi_extra=body_of(SentBatch))
    async def take_responses(request: Request) -> AcceptedBatch:
        """Accept a batch; all of it is on the bus when this answers. It may be sent again."""
        return await batches.take(request)

    return router


def unwatched_routes(store: Store, tokens: Tokens) -> APIRouter:
    """Return the route that says of which systems answers come that nobody watches."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(tokens.may_read)])

    @router.get("/unwatched")
    async def list_unwatched() -> list[UnwatchedView]:
        """Return the live systems whose answers no monitor watched, and how many there were."""
        found = await in_thread(store.unwatched_answers.read)
        return [UnwatchedView.model_validate(each, from_attributes=True) for each in found]

    return router


def history_routes(
    commands: HistoryCommands,
    send: Callable[[Monitor], Awaitable[None]],
    tokens: Tokens,
    audit: CallerAudit,
) -> APIRouter:
    """Return the routes of the past of live systems."""
    router = APIRouter(prefix="/v1/history", route_class=StrictRoute)
    run = [Depends(tokens.may_run)]

    @router.get("/{source}", dependencies=[Depends(tokens.may_read)])
    async def show_history(source: Token) -> list[HistoryView]:
        """Return how far the past is read, by each monitor that watches the system."""
        return await in_thread(commands.show, source)

    @router.post("/{source}", dependencies=run)
    async def begin_history(source: Token) -> list[HistoryView]:
        """Prepare to take in answers of the past, with `history` in their batches."""
        await in_thread(commands.check_watched, source)
        async with audit.act(AuditAction.HISTORY_BEGIN, source):
            for monitor in await in_thread(commands.begin, source):
                # Sent even if it was there: a gateway that died before sending is helped by this.
                await send(monitor)
        return await in_thread(commands.show, source)

    @router.post("/{source}/read", status_code=202, dependencies=run)
    async def read_history(source: Token) -> list[HistoryView]:
        """Read all that was sent in of the past, window by window in their order."""
        await in_thread(commands.show, source)
        async with audit.act(AuditAction.HISTORY_READ, source):
            for monitor in await in_thread(commands.read, source):
                await send(monitor)
        return await in_thread(commands.show, source)

    return router
