"""Takes production answers in, for every monitor that watches the system they come from."""

from collections.abc import Callable, Sequence
from datetime import datetime

from services.gateway.domain.exchanges import (
    SentResponses,
    System,
    checked,
    exchange_of,
    is_late,
    response_of,
    watches,
)
from services.gateway.handlers.desk import NotThereError
from shared.contracts import Exchange, Monitor, MonitorState, Response, Traffic
from shared.errors import PoisonError, UsageError
from shared.store import Store
from shared.telemetry import EXCHANGES

Watchers = list[tuple[Monitor, Traffic]]


class Ingest:
    """The handler of exchanges; it reads the store, so it runs in a thread."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def exchanges_of(self, sent: SentResponses) -> list[Exchange]:
        """Return the records of a batch that was sent in.

        Raises
        ------
        NotThereError
            No active monitor watches the system.
        UsageError
            One of the answers is wrong; the first such is named.
        """
        watchers = self._watchers(("default", sent.source))
        if not any(_active(monitor) for monitor, _ in watchers):
            raise NotThereError(
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
            No monitor watches one of them, not even a paused one; or it is not whole.
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
            checked(exchange, now)
        except ValueError as error:
            raise PoisonError(f"The exchange {exchange.key!r}: {error}.") from None
        found = []
        for monitor, traffic in watchers:
            if _active(monitor):
                late = is_late(exchange, monitor, traffic, now)
                EXCHANGES.labels(monitor.name, "late" if late else "taken").inc()
                found.append(response_of(exchange, monitor, traffic, now))
        return found

    def _watchers(self, system: System) -> Watchers:
        """Return the monitors of a live system that are not deleted, as they are wanted now."""
        wanted = sorted(self._store.records.all(Monitor), key=lambda each: each.moment_ms)
        latest = {monitor.name: monitor for monitor in wanted}.values()
        found = [(each, watches(each, system)) for each in latest]
        return [
            (monitor, traffic)
            for monitor, traffic in found
            if traffic is not None and monitor.state is not MonitorState.DELETED
        ]


def _active(monitor: Monitor) -> bool:
    return monitor.state is MonitorState.ACTIVE
