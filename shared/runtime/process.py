"""One service as a process: settings, logs, signals, exit code."""

import asyncio
import signal
import sys
from collections.abc import Callable

from shared.errors import BiaswatchError, ConfigurationError
from shared.runtime.service import Service
from shared.runtime.settings import S, load
from shared.telemetry import configure_logs


def serve(kind: type[S], build: Callable[[S], Service]) -> int:
    """Run one service until it is told to stop; give the exit code.

    0: stopped as asked. 1: ended by something that may pass; start it again. 2: a person must
    change something first, said in one sentence.
    """
    try:
        settings = load(kind)
        configure_logs(settings.log_level)
        asyncio.run(_until_signalled(build, settings))
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        return 2 if isinstance(error, ConfigurationError) else 1
    return 0


async def _until_signalled(build: Callable[[S], Service], settings: S) -> None:
    service = build(settings)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, service.stop)
    await service.run()
