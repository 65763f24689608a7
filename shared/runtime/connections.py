"""The open connections of one server: bounded; those without a whole request go first."""

import asyncio
import errno
import time
from collections.abc import Callable
from typing import Any

from biaswatch.shared.lookup import first
from biaswatch.shared.telemetry import log

MAX_CONNECTIONS = 4000
"""Connections of one process, whatever its limit of open files; one takes about 40 KiB."""
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
