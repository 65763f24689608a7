"""The disk of the embedded bus: said when it is full, and the server started again with space.

A server that met a full disk takes no message any more, also when there is space again.
"""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from shared.bus.server import EmbeddedServer
from shared.runtime.blocking import in_thread
from shared.telemetry import log

LOW_BYTES = 64 * 1024**2
"""With less free space, writing stops soon: people are warned."""
FULL_BYTES = 8 * 1024**2
"""With less, the server has met or will meet a full disk."""
LOOK_S = 2.0


class BusDisk:
    """Looks at the free space of the bus's folder."""

    def __init__(
        self, folder: Path, restart: Callable[[], object], free_bytes: Callable[[], int]
    ) -> None:
        self._folder = folder
        self._restart = restart
        self._free_bytes = free_bytes
        self._warned = False
        self._was_full = False

    @classmethod
    def of(cls, server: EmbeddedServer, folder: Path) -> "BusDisk":
        """Return the disk of a server that runs here."""

        def restart() -> None:
            server.stop()
            server.start()

        return cls(folder, restart, lambda: shutil.disk_usage(folder).free)

    async def watch(self) -> None:
        """Look for ever."""
        while True:
            await in_thread(self.look)
            await asyncio.sleep(LOOK_S)

    def look(self) -> None:
        """Say once that space is short; start the server again when a full disk has space."""
        free = self._free_bytes()
        self._was_full = self._was_full or free < FULL_BYTES
        if free >= LOW_BYTES:
            if self._was_full:
                log("platform").warning("the disk has space again: the bus is started again")
                self._restart()
            self._warned = self._was_full = False
        elif not self._warned:
            self._warned = True
            log("platform").error(
                f"There is almost no space left on the disk of {self._folder}: nothing more can be"
                " recorded soon. Free some; the bus is started again by itself then.",
                free_mb=free // 1024**2,
            )
