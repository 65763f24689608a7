"""Production answers arrive over HTTP and become responses for each monitor that watches."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from fastapi import APIRouter, Depends

from services.gateway.auth import Tokens
from services.gateway.monitors.queries import MonitorQueries
from services.gateway.traffic.requests import (
    AcceptedBatch,
    LiveSystem,
    SentBatch,
    check_exchange,
    exchange_of,
    is_late,
    response_of,
    traffic_watched,
)
from shared.contracts import Exchange, Monitor, MonitorState, Response, Traffic
from shared.errors import NotFoundError, PoisonError, UsageError
from shared.runtime.blocking import in_thread
from shared.store import Store
from shared.telemetry import EXCHANGES

Watchers = list[tuple[Monitor, Traffic]]


class ExchangeIngestion:
    """Handles exchanges; it reads the store, so it runs in a thread."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._monitors = MonitorQueries(store)
        self._now = now

    def exchanges_of(self, sent: SentBatch) -> list[Exchange]:
        """Return the records of a batch that was sent.

        Raises
        ------
        NotFoundError
            No active monitor watches the system.
        UsageError
            One of the answers is wrong; the error names the first.
        """
        watchers = self._watchers(("default", sent.source))
        if not any(_active(monitor) for monitor, _ in watchers):
            raise NotFoundError(
                f"No active monitor watches the traffic {sent.source}. Apply one with the target"
                f" traffic:{sent.source}."
            )
        now, found = self._now(), []
        for each in sent.responses:
            try:
                found.append(exchange_of(sent.source, each, now))
            except ValueError as error:
                raise UsageError(f"The response {each.id!r}: {error}.") from None
        return found

    def __call__(self, batch: Sequence[Exchange]) -> Sequence[Response]:
        """Return a response for each exchange and each monitor that watches its system.

        Raises
        ------
        PoisonError
            No monitor, not even a paused one, watches the system of an exchange, or one is invalid.
        """
        systems = {(each.tenant, each.source) for each in batch}
        watchers = {system: self._watchers(system) for system in systems}
        return [
            response
            for exchange in batch
            for response in self._responses(exchange, watchers[exchange.tenant, exchange.source])
        ]

    def _responses(self, exchange: Exchange, watchers: Watchers) -> list[Response]:
        if not watchers:
            raise PoisonError(
                f"No monitor watches the traffic {exchange.source}. Apply one with the target"
                f" traffic:{exchange.source}, then replay this exchange."
            )
        now = self._now()
        try:
            check_exchange(exchange, now)
        except ValueError as error:
            raise PoisonError(f"The exchange {exchange.key!r}: {error}.") from None
        found = []
        for monitor, traffic in watchers:
            if _active(monitor):
                late = is_late(exchange, monitor, traffic, now)
                EXCHANGES.labels(monitor.name, "late" if late else "taken").inc()
                found.append(response_of(exchange, monitor, traffic, now))
        return found

    def _watchers(self, system: LiveSystem) -> Watchers:
        """Return the monitors of a live system that are not deleted."""
        found = [(each, traffic_watched(each, system)) for each in self._monitors.latest().values()]
        return [
            (monitor, traffic)
            for monitor, traffic in found
            if traffic is not None and monitor.state is not MonitorState.DELETED
        ]


def _active(monitor: Monitor) -> bool:
    return monitor.state is MonitorState.ACTIVE


Send = Callable[[Exchange], Awaitable[None]]


def ingestion_routes(ingest: ExchangeIngestion, send: Send, tokens: Tokens) -> APIRouter:
    """Return the route of production answers."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(tokens.may_ingest)])

    @router.post("/responses", status_code=202)
    async def take_responses(sent: SentBatch) -> AcceptedBatch:
        """Accept a batch; all of it is on the bus when this answers. It may be sent again."""
        exchanges = await in_thread(ingest.exchanges_of, sent)
        await asyncio.gather(*map(send, exchanges))
        return AcceptedBatch(accepted=len(exchanges))

    return router
