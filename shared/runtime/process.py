"""One service as a process: settings, logs, signals, exit code."""

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable

from shared.errors import BiaswatchError, ConfigurationError
from shared.runtime.service import Service
from shared.runtime.settings import S, load_settings
from shared.telemetry import configure_logs

LOOK_FOR_PARENT_S = 1.0


def serve(kind: type[S], build: Callable[[S], Service]) -> int:
    """Run one service until it is told to stop; give the exit code.

    0: stopped as asked. 1: ended by something that may pass; start it again. 2: a person must
    change something first, said in one sentence.
    """
    try:
        settings = load_settings(kind)
        configure_logs(settings.log_level)
        _collect_less()
        asyncio.run(_until_signalled(build, settings))
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        return 2 if isinstance(error, ConfigurationError) else 1
    return 0


def _collect_less() -> None:
    """Look for cyclic garbage more rarely: records are many, short-lived and hold no cycles.

    `make bench` shows a tenth less CPU a response for it.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


async def _until_signalled(build: Callable[[S], Service], settings: S) -> None:
    service = build(settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, service.stop)
    watching = asyncio.create_task(_watch_parent(service)) if settings.stop_with_parent else None
    await service.run()
    if watching:
        watching.cancel()


async def _watch_parent(service: Service) -> None:
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the system gives no event for this
        await asyncio.sleep(LOOK_FOR_PARENT_S)
    service.stop()
