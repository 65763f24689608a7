"""Services as processes of their own on this machine; one that dies is started again."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.telemetry import log

STOPPED_AS_ASKED, A_PERSON_IS_NEEDED = 0, 2
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
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
        return FIRST_PAUSE_S
    return min(LONGEST_PAUSE_S, 2 * before_s)


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
