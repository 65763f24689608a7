"""The embedded bus, kept running: started again when it has died, or has met a full disk.

A server that met a full disk takes no message any more, also when there is space again.
"""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.telemetry import log

LOW_BYTES = 64 * 1024**2
"""With less free space, writing stops soon: people are warned."""
FULL_BYTES = 8 * 1024**2
"""With less, the server has met or will meet a full disk."""
NO_SPACE = ("no space left on device", "disk quota exceeded")
"""What the server's log says of a message that it could not write."""
LOOK_S = 1.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
"""Between two starts: a server that cannot work is not started every second."""
STEADY_S = 120.0
"""A server that ran so long is started again at once."""


class BusServer(Protocol):
    """The part of the embedded server that supervision needs."""

    @property
    def runs(self) -> bool:
        """Whether its process is alive."""

    @property
    def log_path(self) -> Path:
        """Where it says what goes wrong."""

    def start(self) -> object:
        """Start it on the same port."""

    def stop(self) -> None:
        """Stop it."""


class BusSupervision:
    """Looks at the process of the bus, at its log, and at the free space of its folder."""

    def __init__(
        self,
        server: BusServer,
        folder: Path,
        *,
        free_bytes: Callable[[Path], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._folder = server, folder
        self._free_bytes, self._clock = free_bytes, clock
        self._warned = self._stuck = False
        self._read_to = 0
        self._started_at, self._pause_s = float("-inf"), FIRST_PAUSE_S

    async def watch(self) -> None:
        """Look for ever."""
        while True:
            await in_thread(self.look)
            await asyncio.sleep(LOOK_S)

    def look(self) -> None:
        """Say once that space is short; start the bus again where it is needed and can help."""
        free = self._free_bytes(self._folder)
        self._stuck = self._wrote_nothing() or self._stuck or free < FULL_BYTES
        if free < LOW_BYTES and not self._warned:
            log("platform").error(
                f"There is almost no space left on the disk of {self._folder}: nothing more can be"
                " recorded soon. Free some; everything goes on by itself then.",
                free_mb=free // 1024**2,
            )
        self._warned = free < LOW_BYTES
        if not self._server.runs:
            self._start_again("the bus has died and is started again")
        elif self._stuck and free >= LOW_BYTES:
            self._start_again("the disk has space again: the bus is started again")

    def _wrote_nothing(self) -> bool:
        """Tell whether the server has complained of the disk since the last look."""
        try:
            with self._server.log_path.open(errors="replace") as file:
                self._read_to = min(self._read_to, os.fstat(file.fileno()).st_size)
                file.seek(self._read_to)
                said = file.read().lower()
                self._read_to = file.tell()
        except OSError:  # it is about to be started
            return False
        return any(each in said for each in NO_SPACE)

    def _start_again(self, why: str) -> None:
        now = self._clock()
        steady = now - self._started_at >= STEADY_S
        if not steady and now - self._started_at < self._pause_s:
            return
        self._pause_s = FIRST_PAUSE_S if steady else min(LONGEST_PAUSE_S, 2 * self._pause_s)
        self._started_at = now
        log("platform").warning(why)
        self._server.stop()
        try:
            self._server.start()
        except ConfigurationError as error:
            log("platform").error("the bus does not start", why=str(error))
        else:
            self._stuck, self._read_to = False, 0


def free_bytes(folder: Path) -> int:
    """Return the free space of a folder's disk; none where no file can be made any more."""
    disk = os.statvfs(folder)
    if disk.f_files and not disk.f_favail:
        return 0
    return disk.f_bavail * disk.f_frsize
