"""Limits of a process: garbage collection, free memory and open files."""

import asyncio
import ctypes
import gc
import sys
import time
from collections.abc import Callable

from biaswatch.shared.errors import ConfigurationError

LOOK_EVERY_S = 10.0
AT_REST = 0.2
"""The share of one core below which a process is at rest."""
WORK_PER_COLLECTION = 10
"""Work between collections at rest, as a multiple of the time of the last collection."""
ARENAS = 2
_M_ARENA_MAX = -8
"""The option's number in glibc's malloc.h."""


def bound_garbage() -> None:
    """Set the frequency of garbage collection and the number of heaps of the allocator.

    Call it once everything is imported and no thread runs; existing objects are then never scanned
    again. Records are many, short-lived and hold no cycles: collecting less often than by
    default saves a tenth of the CPU per response (`make bench`). But the oldest generation has to
    be collected within a million objects: what waits for it in a burst (tracebacks, for example)
    spreads over the heap, which then never shrinks. For threads that mostly wait, glibc would keep
    eight heaps for each core, each as large as it ever was.
    """
    gc.freeze()
    gc.set_threshold(50_000, 5, 5)
    if (set_option := _of_glibc("mallopt")) is not None:
        set_option(_M_ARENA_MAX, ARENAS)


async def return_memory(
    *, every_s: float = LOOK_EVERY_S, cpu_s: Callable[[], float] = time.process_time
) -> None:
    """Collect garbage and return free memory to the system while the process rests, for ever.

    Where much is kept in memory, a look for garbage takes half a second: it is not repeated before
    work was done that may have left some.
    """
    trim = _of_glibc("malloc_trim")
    worked, again_at = cpu_s(), 0.0
    while True:
        await asyncio.sleep(every_s)
        before, worked = worked, cpu_s()
        if worked - before < AT_REST * every_s and worked >= again_at:
            began = worked
            gc.collect()
            if trim is not None:
                await asyncio.to_thread(trim, 0)
            worked = cpu_s()
            again_at = worked + WORK_PER_COLLECTION * (worked - began)


def _of_glibc(name: str) -> Callable[..., int] | None:
    """Return a function of the C library; None where it is another that lacks it."""
    try:
        function: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError):
        return None
    return function


LEAST_FILES = 256
"""Open files that a process of the platform needs."""
MAX_FILES = 65_536
"""The limit that is set where the system allows any number."""
RESERVED_FILES = 128
"""Files kept for the store, the bus and temporary files; connections of clients get the rest."""


def raised_limit(soft: int, hard: int, unlimited: int = -1) -> int:
    """Return the soft limit to set, given both limits; `unlimited` is the system's own number."""
    if soft == unlimited:
        return soft
    most = MAX_FILES if hard == unlimited else min(hard, MAX_FILES)
    return max(soft, most)


def raise_open_files() -> int:
    """Raise this process's limit of open files as far as it may be raised, and return it.

    Raises
    ------
    ConfigurationError
        The limit is too low for the platform, and cannot be raised.
    """
    if sys.platform == "win32":
        return MAX_FILES
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = raised_limit(soft, hard, resource.RLIM_INFINITY)
    if limit != soft:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        except (OSError, ValueError):  # some systems allow less than they say
            limit = soft
    if limit == resource.RLIM_INFINITY:
        return MAX_FILES
    if limit < LEAST_FILES:
        raise ConfigurationError(
            f"A process may open {limit} files here, and needs {LEAST_FILES}. Raise the limit:"
            " `ulimit -n 1024` in a shell, LimitNOFILE in systemd, --ulimit for containers."
        )
    return limit


def open_files_limit() -> int:
    """Return how many files this process may open."""
    if sys.platform == "win32":
        return MAX_FILES
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_FILES if soft == resource.RLIM_INFINITY else soft


def most_connections(limit: int) -> int:
    """Return how many connections of clients a process with this limit of open files may hold."""
    return max(limit - RESERVED_FILES, limit // 2)
