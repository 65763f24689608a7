"""The address of the platform that runs on this machine, in a file for other commands."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from shared.bus.server import alive


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
