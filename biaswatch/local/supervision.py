"""Restart the embedded bus when it has died or met a full disk, and services that have died.

A server that met a full disk accepts no more messages, even once there is space again.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count, repeat
from pathlib import Path
from typing import Protocol

from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.telemetry import log

LOW_BYTES = 64 * 1024**2
"""Free space that raises a warning."""
FULL_BYTES = 8 * 1024**2
"""Free space that counts as a full disk."""
NO_SPACE = ("no space left on device", "disk quota exceeded")
"""Log entries of the server after a failed write."""
LOOK_S = 1.0
FIRST_BUS_PAUSE_S, MAX_BUS_PAUSE_S = 1.0, 60.0
"""Bounds of the pause between two starts."""
STEADY_S = 120.0
"""Uptime after which a server restarts without a pause."""


class BusServer(Protocol):
    """The part of the embedded server that supervision needs."""

    @property
    def runs(self) -> bool:
        """True while its process is alive."""

    @property
    def log_path(self) -> Path:
        """Path of its log file."""

    def start(self) -> object:
        """Start the server on the same port."""

    def stop(self) -> None:
        """Stop the server."""


class BusSupervision:
    """Watch the process of the bus, its log, and the free space of its folder."""

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
        """Check the bus every second until cancelled."""
        while True:
            await in_thread(self.run_once)
            await asyncio.sleep(LOOK_S)

    def run_once(self) -> None:
        """Warn once that space is low; restart the bus if it has died or can write again."""
        free = self._free_bytes(self._folder)
        self._stuck = self._failed_to_write() or self._stuck or free < FULL_BYTES
        if free < LOW_BYTES and not self._warned:
            log("platform").error(
                f"The disk of {self._folder} is almost full, so recording will stop soon. Free some"
                " space; the platform then continues by itself.",
                free_mb=free // 1024**2,
            )
        self._warned = free < LOW_BYTES
        if not self._server.runs:
            self._restart("the bus has died and restarts")
        elif self._stuck and free >= LOW_BYTES:
            self._restart("the disk has space again: the bus restarts")

    def _failed_to_write(self) -> bool:
        """Return whether the log has a new entry about a full disk."""
        try:
            with self._server.log_path.open(errors="replace") as file:
                self._read_to = min(self._read_to, os.fstat(file.fileno()).st_size)
                file.seek(self._read_to)
                tail = file.read().lower()
                self._read_to = file.tell()
        except OSError:  # it is about to be started
            return False
        return any(phrase in tail for phrase in NO_SPACE)

    def _restart(self, why: str) -> None:
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
    """Return the free bytes of a folder's disk; 0 if no more files can be created."""
    disk = os.statvfs(folder)
    if disk.f_files and not disk.f_favail:
        return 0
    return disk.f_bavail * disk.f_frsize


STOPPED_AS_ASKED, NEEDS_PERSON = 0, 2
FIRST_SERVICE_PAUSE_S, MAX_SERVICE_PAUSE_S = 0.5, 30.0
"""Bounds of the pause before a restart, which doubles for short-lived services."""
STABLE_S = 60.0
"""Uptime after which the pause starts over."""
STOP_PATIENCE_S = 30.0


@asynccontextmanager
async def supervised_processes(
    services: Iterable[str], settings: Mapping[str, str], *, metrics_port: int = 0
) -> AsyncIterator[None]:
    """Run services as processes while the context lasts.

    The first serves its health and metrics on `metrics_port`, the next on the port after it, and
    so on; with 0, each takes a free port.

    Raises
    ------
    ConfigurationError
        A service has ended with an error that needs a person; its reason is on standard error.
    """
    # Services stop with this process, so that none is left behind when it is killed.
    variables = {**settings, "BIASWATCH_STOP_WITH_PARENT": "true"}
    # One thread of linear algebra per service: more compete for the cores.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, **variables}  # noqa: TID251 - handed on to the services
    keepers = [
        asyncio.create_task(_keep_running(service, {**environment, "BIASWATCH_HEALTH_PORT": port}))
        for service, port in zip(services, _ports(metrics_port), strict=False)
    ]
    try:
        async with ended_by_failure(keepers):
            yield
    finally:
        for keeper in keepers:
            keeper.cancel()
        await asyncio.gather(*keepers, return_exceptions=True)


def _ports(first: int) -> Iterator[str]:
    return map(str, count(first) if first else repeat(0))


@asynccontextmanager
async def ended_by_failure(tasks: Sequence["asyncio.Task[None]"]) -> AsyncIterator[None]:
    """End the context when one of the tasks fails, and raise its error."""
    inside = asyncio.current_task()
    for task in tasks:
        task.add_done_callback(lambda ended: _failure(ended) and inside and inside.cancel())
    try:
        yield
    except asyncio.CancelledError:
        for failure in filter(None, map(_failure, tasks)):
            raise failure from None
        raise


def next_pause_s(before_s: float | None, lived_s: float) -> float:
    """Return the pause before the next restart, from the previous pause and the uptime."""
    if before_s is None or lived_s >= STABLE_S:
        return FIRST_SERVICE_PAUSE_S
    return min(MAX_SERVICE_PAUSE_S, 2 * before_s)


async def _keep_running(service: str, environment: Mapping[str, str]) -> None:
    clock, pause_s = asyncio.get_running_loop().time, None
    while True:
        began = clock()
        code = await _run(service, environment)
        if code == NEEDS_PERSON:
            raise ConfigurationError(f"The {service} has stopped; the reason is above.")
        if code == STOPPED_AS_ASKED:
            return
        pause_s = next_pause_s(pause_s, clock() - began)
        log("platform").warning(
            "a service has died and restarts",
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
