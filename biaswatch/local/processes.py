"""Services as processes of their own on this machine; one that dies is started again."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from services import __name__ as services_package
from shared.errors import ConfigurationError
from shared.telemetry import log

STOPPED_AS_ASKED, A_PERSON_IS_NEEDED = 0, 2
AGAIN_AFTER_S = 1.0
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
    environment = {**os.environ, **given}  # noqa: TID251 - handed on to the services
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


async def _keep_running(service: str, environment: Mapping[str, str]) -> None:
    while True:
        code = await _run(service, environment)
        if code == A_PERSON_IS_NEEDED:
            raise ConfigurationError(f"The {service} cannot work; it has said above why.")
        if code == STOPPED_AS_ASKED:
            return
        log("platform").warning(
            "a service has died and is started again", service=service, code=code
        )
        await asyncio.sleep(AGAIN_AFTER_S)


async def _run(service: str, environment: Mapping[str, str]) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", f"{services_package}.{service}.app", env=environment
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
