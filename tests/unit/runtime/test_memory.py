"""Memory goes back at rest, and garbage does not wait for ever."""

import asyncio
import ctypes
import gc
import weakref
from collections.abc import Iterator

import pytest

from biaswatch.shared.runtime import process_limits
from biaswatch.shared.runtime.process_limits import bound_garbage, return_memory


class Cycle:
    """Garbage that only the collector finds."""

    def __init__(self) -> None:
        self.myself = self


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)


async def looked(cpu_s: list[float], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let it look once for each reading of the clock but the first; return what was trimmed."""
    trimmed: list[int] = []
    read = iter(cpu_s)
    done = asyncio.Event()

    def clock() -> float:
        value = next(read, None)
        if value is None:
            done.set()
            return cpu_s[-1] + 1e9  # busy from now on
        return value

    monkeypatch.setattr(process_limits, "_of_glibc", lambda _: trimmed.append)
    returning = asyncio.create_task(return_memory(every_s=0.01, cpu_s=clock))
    await done.wait()
    returning.cancel()
    await asyncio.gather(returning, return_exceptions=True)
    return trimmed


async def test_a_process_at_rest_collects_its_garbage_and_gives_memory_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gc.disable()
    try:
        left = weakref.ref(Cycle())
        assert left() is not None
        assert await looked([0.0, 0.001, 0.002], monkeypatch) == [0]
        assert left() is None
    finally:
        gc.enable()


async def test_a_process_at_work_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await looked([0.0, 1.0, 2.0], monkeypatch) == []


async def test_where_looking_costs_much_it_waits_for_as_much_work_as_is_worth_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = [0.0, 0.001, 0.401]  # it took .4 s
    idle = [0.402, 0.403, 0.404]
    assert await looked([*looks, *idle], monkeypatch) == [0]
    busy = [3.0, 5.0]
    assert await looked([*looks, *busy, 5.001, 5.401], monkeypatch) == [0, 0]


def test_the_oldest_garbage_is_collected_within_a_few_million_objects() -> None:
    bound_garbage()
    young, middle, old = gc.get_threshold()
    assert young * middle * old < 5_000_000
    assert gc.get_freeze_count() > 0


def test_a_c_library_without_these_functions_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    bound_garbage()
    assert process_limits._of_glibc("malloc_trim") is None
