"""Request bodies on disk, and the slots in which they are read and handled."""

import asyncio
import os
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import FileIO
from tempfile import TemporaryFile
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from biaswatch.services.gateway.callers import current_caller
from biaswatch.shared.errors import BackPressureError, TransientError
from biaswatch.shared.runtime.blocking import in_thread

MEMORY_BYTES = 1024 * 1024
"""The largest body that stays in memory."""
MAX_DISK_BYTES = 512 * 1024 * 1024
"""All bodies of the process on disk at the same time; a request beyond that is refused."""
DISK_FULL = (
    "The gateway holds as many requests on its disk as it may. Send this one again in a moment;"
    " nothing of it was taken in."
)
NO_DISK = "The disk of the gateway's temporary files takes no more; send this again later"


class DiskBudget:
    """Counts the bytes that the bodies of this process occupy on disk."""

    def __init__(self, limit_bytes: int = MAX_DISK_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self.used_bytes = 0
        """Bytes that are reserved now."""
        self._lock = threading.Lock()

    def take(self, size: int) -> None:
        """Reserve bytes; raise TransientError where there are not as many left."""
        with self._lock:
            if self.used_bytes + size > self._limit_bytes:
                raise TransientError(DISK_FULL)
            self.used_bytes += size

    def give_back(self, size: int) -> None:
        """Return bytes that were reserved."""
        with self._lock:
            self.used_bytes -= size


DISK = DiskBudget()
"""The budget of this process."""


class BodyFile:
    """Bytes that are appended first and read at any place afterwards."""

    def __init__(self, disk: DiskBudget = DISK) -> None:
        self._disk = disk
        self._memory = bytearray()
        self._file: FileIO | None = None
        self.size = 0

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Return a body that is known as a whole."""
        body = cls()
        body.write(data)
        return body

    def __enter__(self) -> Self:
        """Return the body; the end of the context closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Close it."""
        self.close()

    def stays_in_memory(self, more: int) -> bool:
        """Tell whether the next bytes can be written without touching the disk."""
        return self._file is None and self.size + more <= MEMORY_BYTES

    def write(self, data: bytes) -> None:
        """Append bytes; raise TransientError where the disk budget is used up."""
        if self.stays_in_memory(len(data)):
            self._memory += data
        else:
            self._write_to_disk(data)
        self.size += len(data)

    def _write_to_disk(self, data: bytes) -> None:
        if self._file is None:
            self._disk.take(self.size)
            try:
                self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - close() closes it
            except OSError as error:
                self._disk.give_back(self.size)
                raise _disk_failure(error) from None
            _append(self._file, self._memory)
            self._memory = bytearray()
        self._disk.take(len(data))
        try:
            _append(self._file, data)
        except TransientError:
            self._disk.give_back(len(data))
            raise

    def read_at(self, start: int, size: int) -> bytes:
        """Return the bytes from a place on, fewer at the end of the body."""
        if self._file is None:
            return bytes(memoryview(self._memory)[start : start + size])
        return os.pread(self._file.fileno(), size, start)

    def close(self) -> None:
        """Forget the bytes."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._disk.give_back(self.size)
        self._memory = bytearray()
        self.size = 0


def _append(file: FileIO, data: bytes | bytearray) -> None:
    """Write all of the data; raise TransientError where the disk takes no more."""
    left = memoryview(data)
    try:
        while left:
            left = left[file.write(left) :]
    except OSError as error:
        raise _disk_failure(error) from None
    finally:
        left.release()


def _disk_failure(error: OSError) -> TransientError:
    return TransientError(f"{NO_DISK} ({error.strerror}).")


READ_PER_TENANT = 8
"""Bodies of one tenant that are read at the same time; the others wait unread."""
HANDLED_PER_TENANT = 2
"""Requests of one tenant that are handled at the same time."""
THREADS = 2
"""Threads for all tenants; each is held for one batch, and tenants take turns."""
WAIT_S = 15.0
"""How long a request waits for a slot before it is refused."""
BUSY = (
    "Too many requests of this tenant are being read. Send this one again in a moment; nothing of"
    " it was taken in."
)

P = ParamSpec("P")
T = TypeVar("T")


class IntakeSlots:
    """Bounds what the senders of each tenant can occupy; one cannot stop another."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self._wait_s = wait_s
        self._reading = defaultdict[str, asyncio.Semaphore](
            lambda: asyncio.Semaphore(READ_PER_TENANT)
        )
        self._handling = defaultdict[str, asyncio.Semaphore](
            lambda: asyncio.Semaphore(HANDLED_PER_TENANT)
        )
        self._threads = asyncio.Semaphore(THREADS)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Hold a slot of the caller's tenant while its body is read and handled.

        Raises
        ------
        BackPressureError
            None became free in time.
        """
        slot = self._reading[tenant_of_caller()]
        try:
            async with asyncio.timeout(self._wait_s):
                await slot.acquire()
        except TimeoutError:
            raise BackPressureError(BUSY, retry_after_s=1.0) from None
        try:
            yield
        finally:
            slot.release()

    @asynccontextmanager
    async def handling(self) -> AsyncIterator[None]:
        """Hold a slot of the caller's tenant while a batch is handled and published."""
        async with self._handling[tenant_of_caller()]:
            yield

    def is_busy(self) -> bool:
        """Return whether a batch of the caller's tenant would have to wait."""
        return self._handling[tenant_of_caller()].locked()

    async def in_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking call in one of the few threads for bodies."""
        async with self._threads:
            return await in_thread(call, *args, **kwargs)


def tenant_of_caller() -> str:
    """Return the tenant of the request under way."""
    caller = current_caller()
    return caller.tenant if caller is not None else ""


async def check_connected(request: Request) -> None:
    """Raise ClientDisconnect where the client has left; its whole body was read.

    The first call makes the server read on, so that later calls know.
    """
    if await request.is_disconnected():
        raise ClientDisconnect


async def receive_body(request: Request, body: BodyFile, limit: int) -> bool:
    """Append what a request brings to a body; return whether it is within the limit."""
    async for chunk in request.stream():
        if body.size + len(chunk) > limit:
            return False
        if body.stays_in_memory(len(chunk)):
            body.write(chunk)
        else:
            await in_thread(body.write, chunk)
    return True
