"""The gateway's application without a bus, for tests of what it says of itself and to strangers."""

from collections.abc import Sequence
from itertools import repeat

from fastapi import FastAPI

from biaswatch.services.gateway.app import web_app
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.store import Store


class CheckedPublisher:
    """Takes what the bus would take: what can be encoded."""

    async def publish(self, record: Record, *, publication: int = 0) -> None:
        """Do as the bus does with a record; nobody reads it."""
        if not record.encode() or not 0 <= publication < 2**63:
            raise ValueError("the bus takes no such record")

    async def publish_all(
        self, records: Sequence[Record], *, publication: int | Sequence[int] = 0
    ) -> Sequence[BiaswatchError | None]:
        """Do so with several."""
        numbers = repeat(publication) if isinstance(publication, int) else publication
        for record, number in zip(records, numbers, strict=False):
            await self.publish(record, publication=number)
        return [None for _ in records]


def api_on(store: Store, settings: GatewaySettings | None = None) -> FastAPI:
    """Return the application on a store; whatever it publishes is checked and dropped."""
    return web_app(settings or GatewaySettings(), store, CheckedPublisher())  # type: ignore[arg-type]
