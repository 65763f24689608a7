"""Connect to the gateway: the one that is named, the one that runs here, or one started now."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from biaswatch.local.address import AddressFile
from biaswatch.local.client import GatewayClient
from shared.errors import UsageError
from shared.runtime.settings import Settings, load_settings
from shared.telemetry import configure_logs


def check_address(server: str) -> None:
    """Raise UsageError where this cannot be the address of a gateway."""
    try:
        parts = urlsplit(server)
        right = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # a port that is none
        right = False
    if not right:
        raise UsageError(
            f"{server!r} is no address of a gateway. Write --server http://host:8080 or"
            " https://host."
        )


@asynccontextmanager
async def connected(
    server: str | None, token: str | None, *, apart: bool = False, asking: bool = True
) -> AsyncIterator[GatewayClient]:
    """Return a client of a gateway: the named one, the one that runs here, or one started now.

    What only looks asks no model (`asking`): a run that was stopped is not taken up behind the back
    of whoever looks at it, and one that cannot go on can still be looked at and cancelled.
    """
    from biaswatch.local.platform import embedded_platform

    settings = load_settings(Settings)
    running = AddressFile(settings.state_dir).read()
    if server is not None:
        check_address(server)
    if url := server or (running and running.url):
        client = GatewayClient(url, token)
        try:
            yield client
        finally:
            await client.close()
        return
    if "log_level" not in settings.model_fields_set:  # the progress is what is looked at
        settings = settings.model_copy(update={"log_level": "ERROR"})
    configure_logs(settings.log_level)
    async with embedded_platform(settings, apart=apart, asking=asking) as here:
        client = GatewayClient(here.url, token)
        try:
            yield client
        finally:
            await client.close()
