"""The operator's connection to a bus: the same key and the same patience for every verb."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.bus.jetstream import Connection
from shared.bus.permissions import OPERATOR
from shared.runtime.settings import Settings


@asynccontextmanager
async def operator_bus(settings: Settings, url: str) -> AsyncIterator[Connection]:
    """Connect as the operator while the context lasts."""
    connection = await Connection.open(
        url,
        name=OPERATOR,
        seed_file=settings.nats_seed_file,
        ca_file=settings.nats_ca_file,
        patience_s=2,
    )
    try:
        yield connection
    finally:
        await connection.close()
