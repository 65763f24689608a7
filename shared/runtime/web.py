"""A web application as part of the house: started on a port, awaited, stopped."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from shared.errors import BiaswatchError, ConfigurationError
from shared.runtime.settings import S, load
from shared.telemetry import configure_logs

GRACE_S = 2
"""How long an answer under way may take to end; whoever follows a run would never let us go."""


@asynccontextmanager
async def web_server(app: Any, host: str, port: int) -> AsyncIterator[int]:
    """Serve an application while the context lasts; give the port it is served on.

    Raises
    ------
    ConfigurationError
        The port cannot be opened.
    """
    import uvicorn

    listening = _listen(host, port)
    listening.listen()  # who connects before the server has started waits, and is not refused
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=GRACE_S
    )
    server = uvicorn.Server(config)
    # Signals belong to the process, which stops everything in its order.
    server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield int(listening.getsockname()[1])
    finally:
        server.should_exit = True
        await serving
        listening.close()


def free_port(host: str) -> int:
    """Return a port nobody listens on now; for a process that is to open it in a moment."""
    with _listen(host, 0) as listening:
        return int(listening.getsockname()[1])


def _listen(host: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"The port {port} cannot be opened on {host} ({error.strerror}). Choose another."
        ) from None
    return listening


def serve_web(
    kind: type[S], build: Callable[[S], Any], where: Callable[[S], tuple[str, int]]
) -> int:
    """Run a web application as a process until it is told to stop; give the exit code."""
    import uvicorn

    try:
        settings = load(kind)
        configure_logs(settings.log_level)
        listening = _listen(*where(settings))
        uvicorn.Server(uvicorn.Config(build(settings), log_config=None)).run(sockets=[listening])
    except BiaswatchError as error:
        sys.stderr.write(f"biaswatch: {error}\n")
        return error.exit_code
    return 0
