"""HTTP on connections that end: no head, body or reader of a response keeps one open for ever."""

import asyncio
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from biaswatch.shared.runtime.connections import REFUSAL, OpenConnections


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
        self, *, limits: ConnectionLimits, open_connections: OpenConnections, **given: Any
    ) -> None:
        super().__init__(**given)
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
        """Wait for the rest of a body that nobody reads."""
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
