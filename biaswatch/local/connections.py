"""Find or start the platform of a command: its address, bus and gateway."""

import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from biaswatch.local.client import GatewayClient
from biaswatch.local.logins import LoginAuth, LoginFile
from biaswatch.shared.bus.permissions import OPERATOR
from biaswatch.shared.bus.server import EmbeddedServer, alive, disk_usage_bytes, unwritable
from biaswatch.shared.bus.topology import StreamLimits, limits_within
from biaswatch.shared.errors import ConfigurationError, UsageError
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.telemetry import configure_logs
from biaswatch.written_files import write_atomically

if TYPE_CHECKING:
    from biaswatch.shared.bus.jetstream import Connection


@dataclass(frozen=True)
class RunningPlatform:
    """A platform that runs on this machine."""

    url: str
    """Its gateway."""
    nats_url: str
    """Its bus."""
    pid: int
    metrics: str = ""
    """Where its metrics are, in words."""


@dataclass(frozen=True)
class MetricsAddress:
    """The host of metrics and their first port; 0 takes free ports."""

    host: str
    port: int


FREE_PORTS = MetricsAddress("127.0.0.1", 0)


@dataclass(frozen=True)
class Gateway:
    """The gateway that a command talks to."""

    server: str | None = None
    """Its address; None for the platform on this machine."""
    token: str | None = None

    def connect(
        self, *, as_processes: bool = False, with_models: bool = True
    ) -> AbstractAsyncContextManager[GatewayClient]:
        """Connect while the context lasts; `connected` describes the options."""
        return connected(
            self.server, self.token, as_processes=as_processes, with_models=with_models
        )


class AddressFile:
    """The file with the address of the running platform, for other commands."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "platform.json"
        self._starting = state_dir / "starting.pid"

    def write(self, running: RunningPlatform) -> None:
        """Write the address of the running platform atomically."""
        write_atomically(self._path, json.dumps(asdict(running)))
        self._starting.unlink(missing_ok=True)

    def read(self) -> RunningPlatform | None:
        """Return the platform that runs on this machine, or None.

        Raises
        ------
        ConfigurationError
            Another process is starting one.
        """
        try:
            running = RunningPlatform(**json.loads(self._path.read_text()))
        except (OSError, ValueError, TypeError):
            running = None
        if running is None or not alive(running.pid):
            self._check_not_starting()
            return None
        return running

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Tell other commands, until the address is written, that a platform starts."""
        try:
            self._starting.parent.mkdir(parents=True, exist_ok=True)
            self._starting.write_text(str(os.getpid()))
        except OSError as error:
            raise unwritable(self._starting.parent, error) from None
        try:
            yield
        finally:
            self._starting.unlink(missing_ok=True)

    def _check_not_starting(self) -> None:
        try:
            pid = int(self._starting.read_text())
        except (OSError, ValueError):
            return
        if pid != os.getpid() and alive(pid):
            raise ConfigurationError(
                f"The platform (`biaswatch up`, process {pid}) is still starting. Repeat this"
                " command when `biaswatch up` has printed its addresses."
            )

    def remove(self) -> None:
        """Remove the file: the platform has stopped."""
        self._path.unlink(missing_ok=True)


def running_platform() -> RunningPlatform | None:
    """Return the platform of the state directory that runs on this machine, or None."""
    return AddressFile(load_settings(Settings).state_dir).read()


@contextmanager
def bus_url(settings: Settings) -> Iterator[str]:
    """Yield the address of the bus; start one for the context if none is running."""
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
) -> "AsyncIterator[Connection]":
    """Connect under a name, the operator's by default, while the context lasts."""
    from biaswatch.shared.bus.jetstream import Connection  # slow to load

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
    """Return the limits of the embedded bus's streams, from the space of its disk."""
    directory = settings.state_dir / "nats"
    return limits_within(shutil.disk_usage(directory).free + disk_usage_bytes(directory))


def check_address(server: str) -> None:
    """Raise UsageError if this cannot be the address of a gateway."""
    try:
        parts = urlsplit(server)
        valid = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # the port is not a number
        valid = False
    if not valid:
        raise UsageError(
            f"{server!r} is not the address of a gateway. Write --server http://host:8080 or"
            " https://host."
        )


@asynccontextmanager
async def connected(
    server: str | None, token: str | None, *, as_processes: bool = False, with_models: bool = True
) -> AsyncIterator[GatewayClient]:
    """Yield a client of the named gateway, of the running one, or of one started now.

    Without `with_models`, a gateway started now calls no model: reading resumes no run, and a run
    that cannot continue can still be shown and stopped. Without a token, a named gateway gets the
    token of the login there.
    """
    settings = load_settings(Settings)
    running = AddressFile(settings.state_dir).read()
    if server is not None:
        check_address(server)
    async with AsyncExitStack() as stack:
        if not (url := server or (running and running.url)):
            started = started_platform(settings, as_processes=as_processes, with_models=with_models)
            url = (await stack.enter_async_context(started)).url
        here = None if server else running
        auth = _login_auth(settings, server) if server and not token else None
        client = GatewayClient(
            url, token, gone=lambda: here is not None and not alive(here.pid), auth=auth
        )
        stack.push_async_callback(client.close)
        yield client


def _login_auth(settings: Settings, server: str) -> LoginAuth | None:
    """Return the login at a gateway, if there is one."""
    file = LoginFile(settings.state_dir)
    login = file.read(server)
    return LoginAuth(file, server, login) if login else None


@asynccontextmanager
async def started_platform(
    settings: Settings, *, as_processes: bool = False, with_models: bool = True
) -> AsyncIterator[RunningPlatform]:
    """Start a platform that logs only errors, since progress is on the screen."""
    from biaswatch.local.platform import embedded_platform

    if "log_level" not in settings.model_fields_set:
        settings = settings.model_copy(update={"log_level": "ERROR"})
    configure_logs(settings.log_level)
    async with embedded_platform(
        settings, as_processes=as_processes, with_models=with_models
    ) as here:
        yield here
