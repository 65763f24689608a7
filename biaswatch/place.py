"""Where the platform is that a command works on: named, running here, or asleep on its disk."""

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
class House:
    """A house that runs on this machine."""

    url: str
    """Its gateway."""
    nats_url: str
    """Its bus."""
    pid: int


class Address:
    """The file that tells other commands where a running house is."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "house.json"

    def write(self, house: House) -> None:
        """Say where the house is."""
        self._path.write_text(json.dumps(asdict(house)))

    def read(self) -> House | None:
        """Return the house that runs here, if one does."""
        try:
            house = House(**json.loads(self._path.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return house if alive(house.pid) else None

    def remove(self) -> None:
        """Say that the house is no more."""
        self._path.unlink(missing_ok=True)


def embedded_sizes(settings: Settings) -> StreamLimits:
    """Return the sizes of the embedded bus: they follow the disk that it lies on."""
    directory = settings.state_dir / "nats"
    return limits_within(shutil.disk_usage(directory).free + disk_usage_bytes(directory))


@contextmanager
def bus_url(settings: Settings) -> Iterator[str]:
    """Return the bus a command shall work on: the one named, the one running here, or our own."""
    if "nats_url" in settings.model_fields_set:
        yield settings.nats_url
    elif house := Address(settings.state_dir).read():
        yield house.nats_url
    else:
        with EmbeddedServer(settings.state_dir / "nats") as server:
            yield server.url
