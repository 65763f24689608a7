"""The routes of production answers: those of now, and those of the past."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Depends, Request

from services.gateway.auditing import CallerAudit
from services.gateway.auth import Tokens
from services.gateway.strict_requests import StrictRoute
from services.gateway.traffic.commands import HistoryCommands
from services.gateway.traffic.ingestion import ExchangeIngestion
from services.gateway.traffic.requests import AcceptedBatch, HistoryView, SentBatch, UnwatchedView
from shared.bus.port import Publisher
from shared.contracts import AuditAction, Exchange, Monitor, Token
from shared.errors import BackPressureError, TransientError
from shared.runtime.blocking import in_thread
from shared.store import Store

MOST_QUEUED = 15_000
"""How many answers may wait to be accounted for; the queue of a live system holds 20,000, and a
batch of which it takes a part alone would be sent again whole."""
MOST_BEHIND = 20_000
"""How many answers may wait to be written or measured while more of the past is taken in."""
BEHIND_S = 1.0
"""After how long it is worth asking again."""
BATCHES_AT_ONCE = 4


@dataclass(frozen=True)
class WaitingAnswers:
    """How many answers the bus holds."""

    queued: int = 0
    """Not accounted for yet."""
    unread: int = 0
    """Not written or not measured yet."""


Waiting = Callable[[], WaitingAnswers]


async def publish_exchanges(publisher: Publisher, exchanges: Sequence[Exchange]) -> None:
    """Return when the bus has all exchanges, or raise the first error.

    Each sending is another publication: the bus would drop what is sent again as a duplicate, and
    nobody could say what became of it.
    """
    numbers = [each.sending or 0 for each in exchanges]
    for error in await publisher.publish_all(exchanges, publication=numbers):
        if error is not None:
            raise error


def ingestion_routes(
    ingest: ExchangeIngestion, publisher: Publisher, waiting: Waiting, tokens: Tokens
) -> APIRouter:
    """Return the route of production answers."""
    may = [Depends(tokens.may_ingest)]
    router = APIRouter(prefix="/v1", dependencies=may, route_class=StrictRoute)
    slots = asyncio.Semaphore(BATCHES_AT_ONCE)

    @router.post("/responses", status_code=202)
    async def take_responses(sent: SentBatch, request: Request) -> AcceptedBatch:
        """Accept a batch; all of it is on the bus when this answers. It may be sent again."""
        refuse_when_behind(waiting(), history=sent.history)
        behind = slots.locked()
        async with slots:
            # Who does not wait any more sends it again. To take both would double the work of a
            # gateway that is behind, for nothing but duplicates.
            if behind and await request.is_disconnected():
                raise TransientError("The sender has gone; nothing was taken in.")
            return await take(sent)

    async def take(sent: SentBatch) -> AcceptedBatch:
        # Threads take longer than a few answers do, unless the store has to be asked.
        if few := ingest.exchanges_of_few(sent):
            await publish_exchanges(publisher, few)
            return accepted(few, ingest.late(few))
        exchanges = await in_thread(ingest.exchanges_of, sent)
        await publish_exchanges(publisher, exchanges)
        return accepted(exchanges, await in_thread(ingest.late, exchanges))

    def accepted(exchanges: Sequence[Exchange], late: dict[str, int]) -> AcceptedBatch:
        redacted = sum((Counter(each.redacted) for each in exchanges), Counter[str]())
        return AcceptedBatch(accepted=len(exchanges), late=late, redacted=redacted)

    return router


def refuse_when_behind(waiting: WaitingAnswers, *, history: bool) -> None:
    """Raise BackPressureError while too many answers wait for more to be taken in."""
    behind = waiting.queued
    if behind <= MOST_QUEUED:
        behind = waiting.unread if history and waiting.unread > MOST_BEHIND else 0
    if behind:
        raise BackPressureError(
            f"{behind} answers that came before are not handled yet. Send this batch again in a"
            " moment; nothing of it was taken in.",
            retry_after_s=BEHIND_S,
        )


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
