"""Publishing: a record is published once its stream has acknowledged it."""

import asyncio
import json
import time
from collections.abc import Mapping
from itertools import count

from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from shared.bus.jetstream.connection import Connection
from shared.bus.port import MAX_RECORD_BYTES
from shared.contracts import Record, subject_of
from shared.errors import BackPressureError, BiaswatchError, OversizeError, TransientError
from shared.telemetry import NOT_TAKEN, PUBLISHED
from shared.tracing import outgoing_headers

REFUSALS: dict[int, type[BiaswatchError]] = {
    10077: BackPressureError,
    10122: BackPressureError,
    10054: OversizeError,
}
"""Errors by JetStream's codes: most messages or most bytes exceeded, message too large."""
RECENT_S = 120.0
"""How long a failed publication counts: what failed is tried again within a minute."""
HEADER_ALLOWANCE_BYTES = 4 * 1024
"""The client does not count headers, and a server that gets too much closes the connection."""


class JetStreamPublisher:
    """Publishes with one reply subscription for all acknowledgements.

    The client's own request costs a timer and a token for each message; one counter and one
    dictionary for all of them cost a third of that.
    """

    def __init__(self, connection: Connection, *, timeout_s: float = 5.0, tries: int = 3) -> None:
        self._connection = connection
        self._timeout_s = timeout_s
        self._tries = tries
        self._replies = connection.client.new_inbox()
        self._numbers = count()
        self._waiting: dict[str, asyncio.Future[bytes | None]] = {}
        self._started = asyncio.Lock()
        self._subscribed = False
        self._not_taken: tuple[float, str] | None = None
        connection.on_reconnect(self._send_again)

    @property
    def trouble(self) -> str | None:
        """Why the bus takes nothing now; None while it does."""
        if self._not_taken is None or time.monotonic() - self._not_taken[0] > RECENT_S:
            return None
        return self._not_taken[1]

    async def publish(self, record: Record, *, publication: int = 0) -> None:
        """See `Publisher.publish`."""
        data = record.encode()
        if len(data) > MAX_RECORD_BYTES:
            raise OversizeError(
                f"The {record.kind} record {record.id} is {len(data) // 1024} KiB; the bus carries"
                f" {MAX_RECORD_BYTES // 1024} KiB. Shorten it, or send it by reference."
            )
        headers = {"Nats-Msg-Id": f"{record.id}/{publication}"}
        headers |= outgoing_headers(record.kind, record.id)
        await self.publish_copy(subject_of(record), data, headers)
        PUBLISHED.labels(record.kind).inc()

    async def publish_copy(self, subject: str, data: bytes, headers: Mapping[str, str]) -> None:
        """See `Publisher.publish_copy`."""
        self._check_size(data, headers)
        for _ in range(self._tries):
            reply = await self._ask(subject, data, headers)
            if reply is not None:
                self._not_taken = None
                _raise_refusal(reply, subject)
                return
            NOT_TAKEN.inc()
        said = (
            f"The bus did not acknowledge a message on {subject} in {self._tries} tries of"
            f" {self._timeout_s:g} s. If it runs, its disk may have no space left."
        )
        self._not_taken = time.monotonic(), said
        raise TransientError(said)

    def _check_size(self, data: bytes, headers: Mapping[str, str]) -> None:
        size = len(data) + sum(len(key) + len(value.encode()) + 4 for key, value in headers.items())
        most = self._connection.client.max_payload - HEADER_ALLOWANCE_BYTES
        if size > most:
            raise OversizeError(
                f"The message is {size} bytes with its headers; this server takes {most}."
            )

    async def _ask(self, subject: str, data: bytes, headers: Mapping[str, str]) -> bytes | None:
        """Send once; return the stream's reply, or None if none came in time."""
        loop = asyncio.get_running_loop()
        reply_to = f"{self._replies}.{next(self._numbers)}"
        future: asyncio.Future[bytes | None] = loop.create_future()
        self._waiting[reply_to] = future
        timer = loop.call_later(self._timeout_s, _give_up, future)
        try:
            if not self._subscribed:
                await self._subscribe()
            await self._connection.client.publish(subject, data, reply_to, dict(headers))
            return await future
        except NatsError as error:
            raise TransientError(f"The bus cannot take a message now: {error}.") from error
        finally:
            timer.cancel()
            del self._waiting[reply_to]

    async def _subscribe(self) -> None:
        async with self._started:
            if not self._subscribed:
                await self._connection.client.subscribe(f"{self._replies}.*", cb=self._received)
                self._subscribed = True

    def _send_again(self) -> None:
        """End every wait, to send again: what was sent before the connection broke may be lost."""
        for future in list(self._waiting.values()):
            _give_up(future)

    async def _received(self, message: Msg) -> None:
        future = self._waiting.get(message.subject)
        if future is not None and not future.done():
            future.set_result(message.data)


def _give_up(future: "asyncio.Future[bytes | None]") -> None:
    if not future.done():
        future.set_result(None)


def _raise_refusal(reply: bytes, subject: str) -> None:
    """Raise if the reply is a refusal, or empty because no stream has this subject."""
    if not reply:
        raise TransientError(
            f"No stream takes messages on {subject}. Run `biaswatch provision` on this server."
        )
    if b'"error"' in reply:
        error = json.loads(reply)["error"]
        refusal = REFUSALS.get(error.get("err_code"), TransientError)
        raise refusal(f"The bus refuses a message on {subject}: {error.get('description')}.")
