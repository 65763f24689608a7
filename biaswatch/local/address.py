"""The address of the platform that runs on this machine, and the bus a command works on."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from shared.bus.server import EmbeddedServer, alive, disk_usage_bytes
from shared.bus.topology import StreamLimits, limits_within
from shared.runtime.settings import Settings


@dataclass(frozen=True)
class RunningPlatform:
    """A platform that runs on this machine."""

    url: str
    """Its gateway."""
    nats_url: str
    """Its bus."""
    pid: int


class AddressFile:
    """The file that tells other commands where the running platform is."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "platform.json"

    def write(self, running: RunningPlatform) -> None:
        """Write the address of the running platform."""
        self._path.write_text(json.dumps(asdict(running)))

    def read(self) -> RunningPlatform | None:
        """Return the platform that runs here, or None."""
        try:
            running = RunningPlatform(**json.loads(self._path.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return running if alive(running.pid) else None

    def remove(self) -> None:
        """Remove the file: the platform has stopped."""
        self._path.unlink(missing_ok=True)


def embedded_bus_sizes(settings: Settings) -> StreamLimits:
    """Return the sizes of the embedded bus: they follow the disk that it lies on."""
    directory = settings.state_dir / "nats"
    return limits_within(shutil.disk_usage(directory).free + disk_usage_bytes(directory))


@contextmanager
def bus_url(settings: Settings) -> Iterator[str]:
    """Return the bus a command shall work on: the one named, the one running here, or our own."""
    if "nats_url" in settings.model_fields_set:
        yield settings.nats_url
    elif running := AddressFile(settings.state_dir).read():
        yield running.nats_url
    else:
        with EmbeddedServer(settings.state_dir / "nats") as server:
            yield server.url
