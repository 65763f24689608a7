"""Publishing: a record is published once its stream has acknowledged it."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import count, islice, repeat, takewhile

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from prometheus_client import Counter

from biaswatch.shared.bus.bundles import Bundle, BundleKey, Bundling
from biaswatch.shared.bus.jetstream.connection import Connection
from biaswatch.shared.bus.jetstream.messages import OutgoingMessage, encoded, message_of, refusal
from biaswatch.shared.contracts import ROUTES, Record, subject_of
from biaswatch.shared.errors import BiaswatchError, OversizeError, TransientError
from biaswatch.shared.telemetry import NOT_TAKEN, PUBLISHED
from biaswatch.shared.tracing import HEADER, outgoing_headers

RECENT_S = 120.0
"""How long a failed publication counts: what failed is tried again within a minute."""
SERVER_MARGIN_BYTES = 4 * 1024
"""Margin below the largest message of the server, which closes the connection beyond it."""
BUNDLED = frozenset(route.record.kind for route in ROUTES if route.bundled)
"""The kinds of records that go together where they are published at the same time."""
Reply = bytes | TransientError | None
"""The reply of a stream, the error of sending, or None after the time-out."""


class JetStreamPublisher:
    """Publishes with one reply subscription for all acknowledgements.

    The client's own request costs a timer and a token for each message; one counter and one
    dictionary for all of them cost a third of that. Records of some kinds are bundled where they
    are published at the same time.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        timeout_s: float = 5.0,
        tries: int = 3,
        bundled: bool = True,
    ) -> None:
        self._connection = connection
        self._timeout_s = timeout_s
        self._tries = tries
        self._replies = connection.client.new_inbox()
        self._numbers = count()
        self._waiting: dict[str, tuple[asyncio.Future[Reply], float]] = {}
        """Futures of replies and their deadlines, in the order of the deadlines."""
        self._timer: asyncio.TimerHandle | None = None
        """One timer for all; one for each would cost as much as sending."""
        self._started = asyncio.Lock()
        self._subscribed = False
        self._not_taken: tuple[float, str] | None = None
        self._bundling = Bundling(self._publish_bundle)
        self._bundled = BUNDLED if bundled else frozenset()
        connection.on_reconnect(self._send_again)

    @property
    def trouble(self) -> str | None:
        """Why the bus takes nothing now; None while it does."""
        if self._not_taken is None or time.monotonic() - self._not_taken[0] > RECENT_S:
            return None
        return self._not_taken[1]

    async def publish(self, record: Record, *, publication: int = 0) -> None:
        """See `Publisher.publish`."""
        data = encoded(record)
        if record.kind in self._bundled:
            await self._join(record, data, publication)
        else:
            message = message_of(record, data, publication)
            await self.publish_copy(message.subject, data, message.headers)
            _published_counter(record.kind).inc()

    async def publish_all(
        self, records: Sequence[Record], *, publication: int | Sequence[int] = 0
    ) -> Sequence[BiaswatchError | None]:
        """See `Publisher.publish_all`."""
        outcomes: dict[int, BiaswatchError | None] = {}
        ends: dict[int, asyncio.Future[None]] = {}
        alone: dict[int, OutgoingMessage] = {}
        numbers = repeat(publication) if isinstance(publication, int) else publication
        for place, (record, number) in enumerate(zip(records, numbers, strict=False)):
            try:
                data = encoded(record)
            except OversizeError as error:
                outcomes[place] = error
                continue
            if record.kind in self._bundled:
                ends[place] = self._join(record, data, number)
            else:
                alone[place] = message_of(record, data, number)
        outcomes |= zip(alone, await self._send_with_retries(list(alone.values())), strict=True)
        for place in alone:
            if outcomes[place] is None:
                _published_counter(records[place].kind).inc()
        outcomes |= {place: await _outcome(end) for place, end in ends.items()}
        return [outcomes[place] for place in range(len(records))]

    async def publish_copy(self, subject: str, data: bytes, headers: Mapping[str, str]) -> None:
        """See `Publisher.publish_copy`."""
        message = OutgoingMessage(subject, data, headers)
        if too_large := self._too_large(message):
            raise too_large
        for _ in range(self._tries):
            if (reply := await self._ask_one(message)) is not None:
                if error := self._outcome_of(reply, subject):
                    raise error
                return
            NOT_TAKEN.inc()
        raise self._unanswered(subject)

    def _join(self, record: Record, data: bytes, publication: int) -> "asyncio.Future[None]":
        context = outgoing_headers(record.kind, record.id).get(HEADER, "")
        common = BundleKey(record.kind, subject_of(record), context)
        return self._bundling.join(common, record.id, data, publication)

    async def _publish_bundle(self, common: BundleKey, bundle: Bundle) -> None:
        headers = bundle.headers()
        if common.trace_context:
            headers[HEADER] = common.trace_context
        await self.publish_copy(common.subject, bundle.data(), headers)
        _published_counter(common.kind).inc(len(bundle.names))

    async def _send_with_retries(
        self, messages: Sequence[OutgoingMessage]
    ) -> list[BiaswatchError | None]:
        """Send until each has a reply, some times; return what became of each."""
        outcomes: list[BiaswatchError | None] = [self._too_large(message) for message in messages]
        left = [place for place, outcome in enumerate(outcomes) if outcome is None]
        for _ in range(self._tries):
            replies = await self._ask([messages[place] for place in left])
            unanswered = []
            for place, reply in zip(left, replies, strict=True):
                if reply is None:
                    unanswered.append(place)
                else:
                    outcomes[place] = self._outcome_of(reply, messages[place].subject)
            left = unanswered
            if not left:
                break
            NOT_TAKEN.inc(len(left))
        for place in left:
            outcomes[place] = self._unanswered(messages[place].subject)
        return outcomes

    def _outcome_of(self, reply: bytes | TransientError, subject: str) -> BiaswatchError | None:
        if isinstance(reply, TransientError):
            return reply
        self._not_taken = None
        return refusal(reply, subject)

    def _unanswered(self, subject: str) -> TransientError:
        tries = (
            f"in {self._tries} tries of {self._timeout_s:g} s. If it runs, its disk may have no"
            " space left."
        )
        # Without the subject, which names a tenant: every tenant may read this.
        self._not_taken = time.monotonic(), f"The bus did not acknowledge a message {tries}"
        return TransientError(f"The bus did not acknowledge a message on {subject} {tries}")

    def _too_large(self, message: OutgoingMessage) -> OversizeError | None:
        size = len(message.data)
        for key, value in message.headers.items():
            size += len(key) + len(value.encode()) + 4
        most = self._connection.client.max_payload - SERVER_MARGIN_BYTES
        if size <= most:
            return None
        return OversizeError(
            f"The message is {size} bytes with its headers; this server takes {most}."
        )

    async def _ask_one(self, message: OutgoingMessage) -> "Reply":
        """Do what `_ask` does with one message: most are published alone."""
        reply_to, future = self._wait()
        try:
            if not self._subscribed and (trouble := await self._subscribe()):
                return trouble
            await self._send(message, reply_to, future)
            return await future
        finally:
            self._waiting.pop(reply_to, None)

    async def _ask(self, messages: Sequence[OutgoingMessage]) -> "list[Reply]":
        """Send each message once; return the replies, None after a time-out."""
        replies = [self._wait() for _ in messages]
        try:
            if trouble := await self._subscribe():
                return [trouble] * len(messages)
            for message, (reply_to, future) in zip(messages, replies, strict=True):
                await self._send(message, reply_to, future)
            return [await future for _, future in replies]
        finally:
            for reply_to, _ in replies:
                self._waiting.pop(reply_to, None)

    def _wait(self) -> "tuple[str, asyncio.Future[Reply]]":
        """Begin to wait for a reply; return where it is to come, and what it becomes."""
        loop, reply_to = asyncio.get_running_loop(), f"{self._replies}.{next(self._numbers)}"
        future: asyncio.Future[Reply] = loop.create_future()
        self._waiting[reply_to] = future, loop.time() + self._timeout_s
        if self._timer is None:
            self._timer = loop.call_later(self._timeout_s, self._end_waits)
        return reply_to, future

    def _end_waits(self) -> None:
        """End the waits whose time is over, and come again for the first of the others."""
        self._timer, loop = None, asyncio.get_running_loop()
        ended = list(takewhile(lambda wait: wait[1] <= loop.time(), self._waiting.values()))
        _give_up(future for future, _ in ended)
        if left := next(islice(self._waiting.values(), len(ended), None), None):
            self._timer = loop.call_at(left[1], self._end_waits)

    async def _send(
        self, message: OutgoingMessage, reply_to: str, future: "asyncio.Future[Reply]"
    ) -> None:
        try:
            await self._connection.client.publish(
                message.subject, message.data, reply_to, dict(message.headers)
            )
        except NatsError as error:
            if not future.done():
                future.set_result(_not_now(error))

    async def _subscribe(self) -> TransientError | None:
        """Listen to replies, once; return why that cannot be."""
        if self._subscribed:
            return None
        async with self._started:
            try:
                if not self._subscribed:
                    await self._connection.client.subscribe(f"{self._replies}.*", cb=self._received)
            except NatsError as error:
                return _not_now(error)
            self._subscribed = True
            return None

    def _send_again(self) -> None:
        """End every wait, to send again: what was sent before the connection broke may be lost."""
        _give_up([future for future, _ in self._waiting.values()])

    async def _received(self, message: Msg) -> None:
        waiting = self._waiting.pop(message.subject, None)
        if waiting is not None and not waiting[0].done():
            waiting[0].set_result(message.data)


def _not_now(error: NatsError) -> TransientError:
    return TransientError(f"The bus cannot take a message now: {error}.")


@cache
def _published_counter(kind: str) -> Counter:
    """Return the counter of a kind: looked up once, as every record is counted."""
    return PUBLISHED.labels(kind)


def _give_up(futures: "Iterable[asyncio.Future[Reply]]") -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


async def _outcome(end: "asyncio.Future[None]") -> BiaswatchError | None:
    """Wait for the bundle of a record; return its error, or raise an unexpected one."""
    try:
        await end
    except BiaswatchError as error:
        return error
    return None
