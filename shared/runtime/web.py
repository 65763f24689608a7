"""A web application inside the platform's process: started on a port, awaited, stopped."""

import asyncio
import errno
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import h11
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.lookup import first
from biaswatch.shared.runtime.process_limits import most_connections, open_files_limit
from biaswatch.shared.telemetry import log

MAX_CONNECTIONS = 4000
"""Connections of one process, whatever its limit of open files; one takes about 40 KiB."""
ACCEPTED_AT_ONCE = 50
"""New connections of one turn of the event loop; between them, requests of open ones are read."""
QUEUED = 2048
"""Connections that the kernel holds until they are accepted."""
LOG_EVERY_S = 60.0
"""How often a shortage is logged at most."""
OUT_OF_FILES = "no file is free for another connection: raise the limit of open files (ulimit -n)"
SHORTAGES = {errno.ENFILE, errno.EMFILE}
TOO_MANY = "as many connections as this process holds are open; others are refused or closed"
REFUSAL_BODY = b'{"detail":"Too many connections are open. Come again in a few seconds."}'
REFUSAL = b"\r\n".join(
    [
        b"HTTP/1.1 503 Service Unavailable",
        b"Content-Type: application/json",
        b"Retry-After: 5",
        b"Connection: close",
        b"Content-Length: %d" % len(REFUSAL_BODY),
        b"",
        REFUSAL_BODY,
    ]
)


class LogNowAndThen:
    """Logs a sentence once a minute at most, with how often it was due since."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due: dict[str, float] = {}
        self._times: dict[str, int] = {}

    def __call__(self, sentence: str) -> None:
        """Log the sentence, or count it."""
        now = self._clock()
        self._times[sentence] = self._times.get(sentence, 0) + 1
        if now < self._due.get(sentence, now):
            return
        self._due[sentence] = now + LOG_EVERY_S
        log("http").warning(sentence, times=self._times.pop(sentence))


class OpenConnections:
    """The connections of one server, the oldest first."""

    def __init__(self, limit: int, note: Callable[[str], None]) -> None:
        self._limit = limit
        self._note = note
        self._amount = 0
        self._without_head: dict[Any, asyncio.Transport] = {}
        self._without_body: dict[Any, asyncio.Transport] = {}

    def admit(self, owner: object, transport: asyncio.Transport) -> bool:
        """Take a new connection in; return False where there are too many.

        The oldest one that has not sent a whole request makes room: first one without a head, then
        one whose body still comes.
        """
        if self._amount >= self._limit:
            self._note(TOO_MANY)
            waiting = self._without_head or self._without_body
            if not waiting:
                return False
            waiting.pop(first(waiting, "No connection waits.")).abort()
        self._amount += 1
        self._without_head[owner] = transport
        return True

    def has_head(self, owner: object) -> None:
        """Note that a connection has sent the head of its first request."""
        if (transport := self._without_head.pop(owner, None)) is not None:
            self._without_body[owner] = transport

    def has_request(self, owner: object) -> None:
        """Note that a connection has sent the whole of its first request."""
        self._without_head.pop(owner, None)
        self._without_body.pop(owner, None)

    def remove(self, owner: object) -> None:
        """Forget a connection that was admitted."""
        self._amount -= 1
        self.has_request(owner)


def note_accept_errors(loop: asyncio.AbstractEventLoop, note: Callable[[str], None]) -> None:
    """Log errors of accepting connections as one sentence, and others as before.

    asyncio would log a traceback for each connection that waits, once a second.
    """
    before = loop.get_exception_handler()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if is_shortage(context):
            note(OUT_OF_FILES)
        elif before is not None:
            before(loop, context)
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)


def is_shortage(context: dict[str, Any]) -> bool:
    """Tell whether the loop reports that no file is free for a new connection."""
    error = context.get("exception")
    return isinstance(error, OSError) and error.errno in SHORTAGES


@dataclass(frozen=True)
class ConnectionLimits:
    """How long a client may hold a connection without a whole request."""

    header_s: float = 20.0
    """For the head of a request."""
    linger_s: float = 20.0
    """For the rest of a body after its response: an honest client, which sends all of it before it
    reads, learns what was wrong with it."""
    stall_s: float = 60.0
    """For reading a full buffer of a response."""


class LimitedProtocol(H11Protocol):
    """Closes connections whose client goes beyond their limits."""

    def __init__(
        self, *, limits: ConnectionLimits, open_connections: OpenConnections, **options: Any
    ) -> None:
        super().__init__(**options)
        self._limits = limits
        self._open = open_connections
        self._admitted = False
        self._closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first head; refuse the connection where there are too many."""
        super().connection_made(transport)
        self._admitted = self._open.admit(self, transport)
        if self._admitted:
            self._close_in(self._limits.header_s)
        else:
            transport.write(REFUSAL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Wait for the next head as soon as it has begun, and no longer for one that is there."""
        if not self._admitted:
            return
        super().data_received(data)
        if self.conn.their_state is h11.SEND_BODY:
            self._open.has_head(self)
        elif self.scope is not None:
            self._open.has_request(self)
        if self.conn.their_state is h11.IDLE:
            if self._closing is None:
                self._close_in(self._limits.header_s)
        elif not self._is_left_over():
            self._stay_open()

    def on_response_complete(self) -> None:
        """Wait for the rest of an unread body."""
        super().on_response_complete()
        if self._is_left_over():
            self._close_in(self._limits.linger_s)

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._close_in(self._limits.stall_s)

    def resume_writing(self) -> None:
        """Wait no longer: it reads."""
        super().resume_writing()
        self._stay_open()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing."""
        self._stay_open()
        if self._admitted:
            self._open.remove(self)
            self._admitted = False
        super().connection_lost(exc)

    def _is_left_over(self) -> bool:
        """Tell whether a body still comes although its response is complete."""
        if self.conn.their_state is not h11.SEND_BODY:
            return False
        return self.cycle.response_complete

    def _close_in(self, seconds: float) -> None:
        self._stay_open()
        self._closing = self.loop.call_later(seconds, self.transport.abort)

    def _stay_open(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None


class QueueingServer(Server):
    """A server that accepts few connections at once, while many more wait in the kernel."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; asyncio has set the queue to the number of connections accepted at once."""
        await super().startup(sockets=sockets)
        for listening in sockets or ():
            listening.listen(QUEUED)


GRACE_S = 2
"""How long open responses may take to end; clients that follow a run would never close theirs."""


@asynccontextmanager
async def web_server(
    app: Any, host: str, port: int, limits: ConnectionLimits | None = None
) -> AsyncIterator[int]:
    """Serve an application while the context lasts; yield its port.

    Raises
    ------
    ConfigurationError
        The port cannot be opened.
    """
    note = LogNowAndThen()
    note_accept_errors(asyncio.get_running_loop(), note)
    limit = min(MAX_CONNECTIONS, most_connections(open_files_limit()))
    listening = _listen(host, port)
    listening.listen()  # a client that connects before the server has started waits
    config = Config(
        app,
        http=partial(  # type: ignore[arg-type]
            LimitedProtocol,
            limits=limits or ConnectionLimits(),
            open_connections=OpenConnections(limit, note),
        ),
        backlog=ACCEPTED_AT_ONCE,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=GRACE_S,
        proxy_headers=False,  # a caller's address is who connects, not what a header says
    )
    server = QueueingServer(config)
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
