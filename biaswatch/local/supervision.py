"""The embedded bus, kept running: started again when it has died, or has met a full disk.

A server that met a full disk takes no message any more, also when there is space again.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
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
FIRST_BUS_PAUSE_S, MAX_BUS_PAUSE_S = 1.0, 60.0
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
        self._started_at, self._pause_s = float("-inf"), FIRST_BUS_PAUSE_S

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
        self._pause_s = FIRST_BUS_PAUSE_S if steady else min(MAX_BUS_PAUSE_S, 2 * self._pause_s)
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


STOPPED_AS_ASKED, A_PERSON_IS_NEEDED = 0, 2
FIRST_SERVICE_PAUSE_S, MAX_SERVICE_PAUSE_S = 0.5, 30.0
"""Before a service is started again: longer each time, as long as it lives but a moment."""
LIVED_S = 60.0
"""A service that lived so long is started again at once when it dies."""
STOP_PATIENCE_S = 30.0


@asynccontextmanager
async def supervised_processes(
    services: Iterable[str], settings: Mapping[str, str]
) -> AsyncIterator[None]:
    """Run these services while the context lasts.

    Raises
    ------
    ConfigurationError
        One has ended because a person must change something; it has said what on standard error.
    """
    # Each ends by itself when we are killed: an orphan would work on for nobody.
    given = {**settings, "BIASWATCH_STOP_WITH_PARENT": "true", "BIASWATCH_HEALTH_PORT": "0"}
    # One thread of linear algebra each: more only wait for one another, and burn the cores.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, **given}  # noqa: TID251 - handed on to the services
    inside = asyncio.current_task()
    keepers = [asyncio.create_task(_keep_running(service, environment)) for service in services]
    for keeper in keepers:
        keeper.add_done_callback(lambda ended: _failure(ended) and inside and inside.cancel())
    try:
        yield
    except asyncio.CancelledError:
        for failure in filter(None, map(_failure, keepers)):
            raise failure from None
        raise
    finally:
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)


def next_pause_s(before_s: float | None, lived_s: float) -> float:
    """Return how long to wait before a service is started again, by the wait before it."""
    if before_s is None or lived_s >= LIVED_S:
        return FIRST_SERVICE_PAUSE_S
    return min(MAX_SERVICE_PAUSE_S, 2 * before_s)


async def _keep_running(service: str, environment: Mapping[str, str]) -> None:
    clock, pause_s = asyncio.get_running_loop().time, None
    while True:
        began = clock()
        code = await _run(service, environment)
        if code == A_PERSON_IS_NEEDED:
            raise ConfigurationError(f"The {service} cannot work; it has said above why.")
        if code == STOPPED_AS_ASKED:
            return
        pause_s = next_pause_s(pause_s, clock() - began)
        log("platform").warning(
            "a service has died and is started again",
            service=service, code=code, after_s=pause_s,
        )  # fmt: skip
        await asyncio.sleep(pause_s)


async def _run(service: str, environment: Mapping[str, str]) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", f"biaswatch.services.{service}.app", env=environment
    )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            try:
                async with asyncio.timeout(STOP_PATIENCE_S):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


def _failure(task: "asyncio.Task[None]") -> BaseException | None:
    return task.exception() if task.done() and not task.cancelled() else None
