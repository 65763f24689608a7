"""One service as a process: settings, logs, signals, exit code."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

from biaswatch.shared.errors import BiaswatchError, StoreNotPreparedError, TransientError
from biaswatch.shared.runtime.own_telemetry import own_telemetry
from biaswatch.shared.runtime.process_limits import bound_garbage, raise_open_files, return_memory
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.settings import S, load_settings
from biaswatch.shared.telemetry import configure_logs, log

LOOK_FOR_PARENT_S = 1.0
LOOK_FOR_STORE_S = 1.0


def serve(kind: type[S], build: Callable[[S], Service]) -> int:
    """Run one service until it is stopped; return the exit code.

    0: stopped by a signal. 1: failed, and may work when started again. 2: a person must change
    something first; standard error says what.
    """
    try:
        settings = load_settings(kind)
        configure_logs(settings.log_level)
        raise_open_files()
        bound_garbage()
        run(_until_signalled(build, settings))
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        return 2 if error.exit_code == 2 else 1
    return 0


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a service's work on an event loop in C, where there is one: a tenth less CPU."""
    if sys.platform == "win32":
        asyncio.run(work)
        return
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


async def _until_signalled(build: Callable[[S], Service], settings: S) -> None:
    service = await _built(build, settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, service.stop)
    tasks = [asyncio.create_task(return_memory())]
    if settings.stop_with_parent:
        tasks.append(asyncio.create_task(_watch_parent(service)))
    with own_telemetry(service.name, settings):
        await service.run()
    for task in tasks:
        task.cancel()


async def _built(build: Callable[[S], Service], settings: S) -> Service:
    """Build the service once the store is available; log once that it waits."""
    deadline, logged = time.monotonic() + settings.wait_for_store_s, False
    while True:
        try:
            return build(settings)
        except (StoreNotPreparedError, TransientError) as absent:
            if time.monotonic() >= deadline:
                raise
            if not logged:
                log("service").info("waiting for the store", why=str(absent))
            logged = True
        await asyncio.sleep(LOOK_FOR_STORE_S)


async def _watch_parent(service: Service) -> None:
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the system gives no event for this
        await asyncio.sleep(LOOK_FOR_PARENT_S)
    service.stop()
