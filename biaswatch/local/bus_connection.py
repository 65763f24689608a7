"""The bus that a command works on: the named one, the one that runs here, or one started now."""

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from biaswatch.local.address import AddressFile
from shared.bus.jetstream import Connection
from shared.bus.permissions import OPERATOR
from shared.bus.server import EmbeddedServer, disk_usage_bytes
from shared.bus.topology import StreamLimits, limits_within
from shared.runtime.settings import Settings


@contextmanager
def bus_url(settings: Settings) -> Iterator[str]:
    """Return the address of the bus; one that is started now stops with the context."""
    if "nats_url" in settings.model_fields_set:
        yield settings.nats_url
    elif running := AddressFile(settings.state_dir).read():
        yield running.nats_url
    else:
        with EmbeddedServer(settings.state_dir / "nats") as server:
            yield server.url


@asynccontextmanager
async def bus_connection(
    settings: Settings, url: str, name: str = OPERATOR
) -> AsyncIterator[Connection]:
    """Connect under a name, the operator's by default, while the context lasts."""
    connection = await Connection.open(
        url,
        name=name,
        seed_file=settings.nats_seed_file,
        ca_file=settings.nats_ca_file,
        patience_s=2,
    )
    try:
        yield connection
    finally:
        await connection.close()


def embedded_bus_limits(settings: Settings) -> StreamLimits:
    """Return the limits of the embedded bus's streams: they follow the disk it lies on."""
    directory = settings.state_dir / "nats"
    return limits_within(shutil.disk_usage(directory).free + disk_usage_bytes(directory))
