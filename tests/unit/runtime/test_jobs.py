"""A background job outlives outages and faults, and says what it suffers from."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from itertools import count

import pytest
from structlog.testing import capture_logs

from biaswatch.shared.errors import (
    BackPressureError,
    ConfigurationError,
    NotFoundError,
    TransientError,
)
from biaswatch.shared.runtime.jobs import Job, WakeEvent
from biaswatch.shared.telemetry import TROUBLES
from tests.support.jobs import quick
from tests.support.waiting import PATIENCE_S

AWAY = TransientError("The store is not available.")


class Work:
    """Fails as told, one failure a pass, and then works."""

    def __init__(self, *failures: Exception) -> None:
        self._left = list(failures)
        self.passes = 0
        self.works = asyncio.Event()

    async def __call__(self, given: str) -> None:
        self.passes += 1
        if self._left:
            raise self._left.pop(0)
        self.works.set()


async def outlived(work: Work) -> list[dict[str, object]]:
    """Repeat a job until it works again; return what was logged."""
    guarded = quick(Job(work, "look around", every_s=60))
    with capture_logs() as lines:
        running = asyncio.create_task(guarded.run("given"))
        await work.works.wait()
        await asyncio.sleep(0)
        assert (guarded.trouble, guarded.faulty) == (None, False)
        running.cancel()
    return [dict(line) for line in lines]


async def test_a_full_disk_is_an_outage() -> None:
    lines = await outlived(Work(OSError(errno.ENOSPC, "No space left on device", "/scratch/x")))
    why = "/scratch/x cannot be written (No space left on device). Make room on its disk."
    assert (lines[0]["event"], lines[0]["why"]) == ("a job waits", why)


async def test_an_outage_is_logged_at_its_beginning_and_its_end_and_counted_each_time() -> None:
    before = TROUBLES.labels("look around", "TransientError")._value.get()
    lines = await outlived(Work(AWAY, AWAY, AWAY))
    assert [(line["event"], line["job"]) for line in lines] == [
        ("a job waits", "look around"),
        ("a job goes on", "look around"),
    ]
    assert lines[0]["why"] == "The store is not available."
    assert lines[1]["after_failures"] == 3
    assert TROUBLES.labels("look around", "TransientError")._value.get() - before == 3


@pytest.mark.parametrize(
    "error",
    [
        *(ValueError("no run"), KeyError("x"), StopAsyncIteration(), OSError(9, "closed")),
        *(NotFoundError("There is no run x."), TimeoutError()),
    ],
)
async def test_an_unexpected_error_is_logged_every_time_with_its_traceback(
    error: Exception,
) -> None:
    lines = await outlived(Work(error, error))
    failed = [line for line in lines if line["event"] == "a job has failed"]
    assert [line["times"] for line in failed] == [1, 2]
    assert all(line["exc_info"] is error and line["log_level"] == "error" for line in failed)


async def test_while_it_fails_it_names_its_trouble_and_tells_an_outage_from_a_fault() -> None:
    seen: list[tuple[str | None, bool]] = []
    failures = [AWAY, BackPressureError("The queue is full."), ValueError("a secret"), None]

    async def work(_: None) -> None:
        if len(seen) < len(failures):
            seen.append((guarded.trouble, guarded.faulty))
        if len(seen) <= len(failures) and (error := failures[len(seen) - 1]):
            raise error
        ended.set()

    ended = asyncio.Event()
    guarded = quick(Job(work))
    running = asyncio.create_task(guarded.run(None))
    await ended.wait()
    running.cancel()
    assert seen == [
        (None, False),
        ("The store is not available.", False),
        ("The queue is full.", False),
        ("ValueError", True),
    ]


async def test_an_endless_pass_has_no_trouble_once_it_has_lasted_a_while() -> None:
    failures = [OSError(24, "Too many open files")]

    async def serve(_: None) -> None:
        if failures:
            raise failures.pop()
        await asyncio.Event().wait()

    guarded = quick(Job(serve, steady_after_s=0.01))
    running = asyncio.create_task(guarded.run(None))
    async with asyncio.timeout(PATIENCE_S / 30):
        while failures or guarded.trouble:
            await asyncio.sleep(0.005)
    assert not guarded.faulty
    running.cancel()


async def test_what_a_person_must_change_ends_it() -> None:
    with pytest.raises(ConfigurationError, match="Set the key"):
        await quick(Job(Work(AWAY, ConfigurationError("Set the key.")))).run("given")


async def test_its_pause_ends_early_when_it_is_woken() -> None:
    wake, passes, again = asyncio.Event(), count(1), asyncio.Event()

    async def work(_: None) -> None:
        if next(passes) == 2:
            again.set()

    running = asyncio.create_task(quick(Job(work, every_s=3600, wake=wake)).run(None))
    await asyncio.sleep(0)
    wake.set()
    await again.wait()
    running.cancel()


async def test_what_it_has_begun_is_ended_with_it() -> None:
    closed = asyncio.Event()

    async def close() -> None:
        closed.set()

    work = Work()
    running = asyncio.create_task(quick(Job(work, close=close)).run("given"))
    await work.works.wait()
    running.cancel()
    await closed.wait()


async def forget_old_calls(_: None) -> None:
    """Do nothing."""


@pytest.mark.parametrize(("work", "name"), [(forget_old_calls, "forget_old_calls")])
def test_without_a_name_it_has_that_of_its_function(
    work: Callable[[None], Awaitable[None]], name: str
) -> None:
    assert Job(work).label == name


async def test_a_thread_wakes_a_job() -> None:
    asyncio.get_running_loop().set_debug(True)  # asyncio then refuses what is unsafe in threads
    wake = WakeEvent()
    waiting = asyncio.create_task(wake.wait())
    await asyncio.sleep(0)
    await asyncio.to_thread(wake.set)
    async with asyncio.timeout(PATIENCE_S):
        assert await waiting
