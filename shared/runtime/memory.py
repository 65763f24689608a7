"""Memory of a process: bounded garbage under load, and what a burst has left goes back at rest."""

import asyncio
import ctypes
import gc
import time
from collections.abc import Callable

LOOK_EVERY_S = 10.0
AT_REST = 0.2
"""The share of one core below which a process is at rest."""
WORTH = 10
"""Garbage is looked for at rest after so many times the work that looking for it took last."""
ARENAS = 2
_M_ARENA_MAX = -8
"""The option's number in glibc's malloc.h."""


def bound_garbage() -> None:
    """Set how often cyclic garbage is collected, and how many heaps the allocator may keep.

    To be called once everything is imported and no thread runs. What is there then is never looked
    at again. Records are many, short-lived and hold no cycles: collecting less often than by
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
            again_at = worked + WORTH * (worked - began)


def _of_glibc(name: str) -> Callable[..., int] | None:
    """Return a function of the C library; None where it is another that lacks it."""
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError):
        return None
    return found
