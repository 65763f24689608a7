"""A web application inside the platform's process: started on a port, awaited, stopped."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.runtime.connections import (
    MAX_CONNECTIONS,
    LogNowAndThen,
    OpenConnections,
    note_accept_errors,
)
from biaswatch.shared.runtime.open_files import most_connections, open_files_limit

if TYPE_CHECKING:
    from biaswatch.shared.runtime.limited_protocol import ConnectionLimits

GRACE_S = 2
"""How long open responses may take to end; clients that follow a run would never close theirs."""


@asynccontextmanager
async def web_server(
    app: Any, host: str, port: int, limits: "ConnectionLimits | None" = None
) -> AsyncIterator[int]:
    """Serve an application while the context lasts; yield its port.

    Raises
    ------
    ConfigurationError
        The port cannot be opened.
    """
    import uvicorn

    from biaswatch.shared.runtime.limited_protocol import ConnectionLimits, LimitedProtocol

    note = LogNowAndThen()
    note_accept_errors(asyncio.get_running_loop(), note)
    limit = min(MAX_CONNECTIONS, most_connections(open_files_limit()))
    listening = _listen(host, port)
    listening.listen()  # a client that connects before the server has started waits
    config = uvicorn.Config(
        app,
        http=partial(  # type: ignore[arg-type]
            LimitedProtocol,
            limits=limits or ConnectionLimits(),
            open_connections=OpenConnections(limit, note),
        ),
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
        proxy_headers=False,  # a caller's address is who connects, not what a header says
    )
    server = uvicorn.Server(config)
    # The process handles signals: it stops everything in order.
    server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield int(listening.getsockname()[1])
    finally:
        server.should_exit = True
        await serving
        listening.close()


def free_port(host: str) -> int:
    """Return a free port, for a process that opens it in a moment."""
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
