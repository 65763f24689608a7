"""Request bodies on disk, and limits on requests that are read, handled or kept open."""

import asyncio
import os
import threading
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from io import FileIO
from tempfile import TemporaryFile
from typing import ParamSpec, Self, TypeVar

from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect

from biaswatch.services.gateway.callers import current_caller
from biaswatch.shared.errors import BackPressureError, TransientError
from biaswatch.shared.runtime.threads import in_thread

MEMORY_BYTES = 1024 * 1024
"""Size up to which a body stays in memory."""
MAX_DISK_BYTES = 512 * 1024 * 1024
"""All bodies of the process on disk at one time; further requests are refused."""
DISK_FULL = (
    "The gateway holds as many requests on its disk as it may. Send this one again in a moment;"
    " nothing of it was taken in."
)
NO_DISK = "The disk of the gateway's temporary files takes no more; send this again later"
READ_PER_TENANT = 8
"""Bodies of one tenant that are read at one time; further ones wait unread."""
HANDLED_PER_TENANT = 2
"""Requests of one tenant that are handled at one time."""
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


class DiskBudget:
    """Counts the bytes that the bodies of this process occupy on disk."""

    def __init__(self, limit_bytes: int = MAX_DISK_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self.used_bytes = 0
        """Reserved bytes."""
        self._lock = threading.Lock()

    def reserve(self, size: int) -> None:
        """Reserve bytes; raise TransientError if too few are left."""
        with self._lock:
            if self.used_bytes + size > self._limit_bytes:
                raise TransientError(DISK_FULL)
            self.used_bytes += size

    def release(self, size: int) -> None:
        """Release reserved bytes."""
        with self._lock:
            self.used_bytes -= size


DISK = DiskBudget()
"""The budget of this process."""


class BodyFile:
    """Bytes that are appended first and then read at any position."""

    def __init__(self, disk: DiskBudget = DISK) -> None:
        self._disk = disk
        self._memory = bytearray()
        self._file: FileIO | None = None
        self.size = 0

    def __enter__(self) -> Self:
        """Return the body; the end of the context closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def stays_in_memory(self, more: int) -> bool:
        """Return whether the next bytes can be written without touching the disk."""
        return self._file is None and self.size + more <= MEMORY_BYTES

    def write(self, data: bytes) -> None:
        """Append bytes; raise TransientError if the disk budget is used up."""
        if self.stays_in_memory(len(data)):
            self._memory += data
        else:
            file = self._file or self._move_to_disk()
            self._disk.reserve(len(data))
            try:
                _append(file, data)
            except TransientError:
                self._disk.release(len(data))
                raise
        self.size += len(data)

    def _move_to_disk(self) -> FileIO:
        self._disk.reserve(self.size)
        try:
            self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - close() closes it
        except OSError as error:
            self._disk.release(self.size)
            raise _disk_failure(error) from None
        _append(self._file, self._memory)
        self._memory = bytearray()
        return self._file

    def read_at(self, start: int, size: int) -> bytes:
        """Return bytes from a position on, fewer at the end of the body."""
        if self._file is None:
            return bytes(memoryview(self._memory)[start : start + size])
        return os.pread(self._file.fileno(), size, start)

    def close(self) -> None:
        """Discard the content."""
        if self._file is not None:
            self._file.close()
            self._file = None
            self._disk.release(self.size)
        self._memory = bytearray()
        self.size = 0


def _append(file: FileIO, data: bytes | bytearray) -> None:
    """Write all of the data; raise TransientError if the disk is full."""
    remaining = memoryview(data)
    try:
        while remaining:
            remaining = remaining[file.write(remaining) :]
    except OSError as error:
        raise _disk_failure(error) from None
    finally:
        remaining.release()


def _disk_failure(error: OSError) -> TransientError:
    return TransientError(f"{NO_DISK} ({error.strerror}).")


class IntakeSlots:
    """Limits what the senders of each tenant occupy, so that no tenant can block another."""

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
        slot = self._reading[_tenant_of_caller()]
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
        async with self._handling[_tenant_of_caller()]:
            yield

    def is_busy(self) -> bool:
        """Return whether a batch of the caller's tenant would have to wait."""
        return self._handling[_tenant_of_caller()].locked()

    async def in_thread(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking call in one of the threads for bodies."""
        async with self._threads:
            return await in_thread(call, *args, **kwargs)


def _tenant_of_caller() -> str:
    caller = current_caller()
    return caller.tenant if caller is not None else ""


async def check_connected(request: Request) -> None:
    """Raise ClientDisconnect if the client has left; its whole body must have been read.

    The first call makes the server read on, so that later calls know.
    """
    if await request.is_disconnected():
        raise ClientDisconnect


async def receive_body(request: Request, body: BodyFile, limit: int) -> bool:
    """Append the content of a request to a body; return whether it is within the limit."""
    async for chunk in request.stream():
        if body.size + len(chunk) > limit:
            return False
        if body.stays_in_memory(len(chunk)):
            body.write(chunk)
        else:
            await in_thread(body.write, chunk)
    return True


MAX_STREAMS, MAX_STREAMS_PER_CALLER = 200, 24
"""Streams of pages of one gateway, and of one person or token."""
MAX_STREAM_S = 300.0
"""Then the browser reconnects, and its right to read is checked again."""
TOO_MANY_STREAMS = (
    "Too many pages are kept up to date already. This one updates when you reload it."
)


class OpenStreams:
    """Counts the open streams of this process, and slows down polling when there are many."""

    def __init__(self, poll_s: float, full_rate_streams: int) -> None:
        """Poll every `poll_s`, less often when there are more than `full_rate_streams`."""
        self._poll_s = poll_s
        self._full_rate_streams = full_rate_streams
        self._by_caller: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """The number of open streams."""
        return self._by_caller.total()

    @property
    def poll_s(self) -> float:
        """The time between two polls of one stream; all streams together cost the same."""
        return self._poll_s * max(1.0, self.total / self._full_rate_streams)

    def check_limits(self, caller: str) -> None:
        """Refuse a stream beyond the limits; a browser then leaves the page as it is."""
        if self.total >= MAX_STREAMS or self._by_caller[caller] >= MAX_STREAMS_PER_CALLER:
            raise HTTPException(503, TOO_MANY_STREAMS)

    @contextmanager
    def counted(self, caller: str = "") -> Iterator[None]:
        """Count a stream while the context lasts."""
        self._by_caller[caller] += 1
        try:
            yield
        finally:
            self._by_caller[caller] -= 1
            self._by_caller += Counter()  # removes callers without streams


def run_streams() -> OpenStreams:
    """Return the counter for clients that follow runs over the API."""
    return OpenStreams(poll_s=0.3, full_rate_streams=50)


def page_streams() -> OpenStreams:
    """Return the counter for pages that update themselves."""
    return OpenStreams(poll_s=2.0, full_rate_streams=20)
