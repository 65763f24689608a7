"""A pull consumer that asks for exactly as many messages as it has free capacity for."""

import asyncio
import json
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from biaswatch.shared.bus.jetstream.admin import Admin
from biaswatch.shared.bus.jetstream.connection import Connection
from biaswatch.shared.bus.jetstream.messages import received_records
from biaswatch.shared.bus.port import ConsumerLost, Delivery
from biaswatch.shared.bus.topology import DurableSpec
from biaswatch.shared.telemetry import log

MAX_TAKEN_BYTES = 8 * 1024 * 1024
"""A batch ends there: what a handler makes of it is 3 to 4 times as large."""


def first_records(waiting: deque[Delivery], most: int) -> list[Delivery]:
    """Remove and return the first records: at most a number of them, and at least one."""
    taken, left = list[Delivery](), MAX_TAKEN_BYTES
    while waiting and len(taken) < most and left > 0:
        taken.append(waiting.popleft())
        left -= len(taken[-1].data)
    return taken


PULL_EXPIRES_S = 10.0
"""The time after which an idle pull is repeated, and a lost one is noticed."""
EXPIRED = ("404", "408")
"""Statuses of a pull that ended normally: no message was there, or its time is over."""
MAX_PULLED = 64
"""Messages of one pull, if they may have several records."""
MEAN_WEIGHT = 0.1
"""Weight of a message in the moving average of records per message."""
MAX_REFUSED = 1000
"""Returned messages whose handled records are remembered."""


@dataclass(slots=True, eq=False)
class MessageInHand:
    """An unacknowledged message of several records, acknowledged once all are settled."""

    ack_subject: str
    identity: tuple[int, int]
    """Its sequence and time of storage, which are unique together."""
    unanswered: set[int]
    """Its records that are not settled."""
    handled: set[int] = field(default_factory=set)
    """Its records that were handled or given up."""
    again_s: float | None = None
    """Delay of its redelivery, if one of its records was refused."""


MISSING = MessageInHand("", (0, 0), set())
"""Placeholder for an unknown message."""


class JetStreamConsumer:
    """The messages of one durable.

    Unlike `fetch` of the client, which waits for a single pull, it counts outstanding messages.
    """

    def __init__(self, connection: Connection, durable: DurableSpec, capacity: int) -> None:
        self._client = connection.client
        self._admin = Admin(connection)
        self._durable = durable
        self._capacity = capacity
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{durable.stream}.{durable.name}"
        self._replies = connection.client.new_inbox()
        self._waiting: deque[Delivery] = deque()
        self._in_hand: dict[str, MessageInHand | None] = {}
        """By the subject of the acknowledgement; None for a message of one record."""
        self._records_in_hand = 0
        self._records_a_message = 1.0
        self._refused: OrderedDict[tuple[int, int], set[int]] = OrderedDict()
        self._owed = 0
        self._void_at = 0.0
        self._lost: str | None = None
        self._closed = False
        self._wake = asyncio.Event()
        self.expired_pulls = 0
        self._subscription: Subscription | None = None
        connection.on_reconnect(self._forget_pulls)

    async def take(self, most: int, linger_s: float = 0) -> Sequence[Delivery]:
        """See `Consumer.take`."""
        while not self._waiting:
            if self._closed:
                return ()
            if self._lost:
                raise ConsumerLost(self._lost)
            await self._pull()
            await self._sleep()
        if linger_s and len(self._waiting) < most:
            await asyncio.sleep(linger_s)
        return first_records(self._waiting, most)

    async def _sleep(self) -> None:
        self._wake.clear()
        if self._waiting or self._lost or self._closed:
            return
        patience_s = max(0.05, self._void_at - asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(patience_s):
                await self._wake.wait()
        except TimeoutError:
            self._forget_pulls()

    async def _pull(self) -> None:
        """Pull as many messages as there is capacity for, once half of it is free."""
        if not self._is_short():
            return
        messages = self._messages_of(self._free())
        self._owed += messages
        self._void_at = asyncio.get_running_loop().time() + PULL_EXPIRES_S + 1
        request = {"batch": messages, "expires": int(PULL_EXPIRES_S * 1e9)}
        try:
            if self._subscription is None:
                self._subscription = await self._client.subscribe(
                    self._replies, cb=self._received, pending_bytes_limit=0
                )
            await self._client.publish(self._next, json.dumps(request).encode(), self._replies)
        except NatsError as error:
            self._mark_lost(str(error))

    def _free(self) -> float:
        """Return the free capacity in records."""
        return self._capacity - self._records_in_hand - self._owed * self._records_a_message

    def _is_short(self) -> bool:
        """Tell whether to pull now."""
        free = self._free()
        return free > 0 and not self._closed and not (self._owed and free * 2 < self._capacity)

    def _messages_of(self, records: float) -> int:
        """Return the expected number of messages with a number of records."""
        if self._records_a_message == 1.0:
            return int(records)
        return max(1, min(MAX_PULLED, int(records / self._records_a_message)))

    async def _received(self, message: Msg) -> None:
        if message.reply.startswith("$JS.ACK."):
            self._owed = max(0, self._owed - 1)
            self._hold(message)
            self._wake.set()
            return
        headers = message.headers or {}
        status = headers.get("Status", "")
        if status in EXPIRED:
            self.expired_pulls += 1
            self._owed = max(0, self._owed - int(headers.get("Nats-Pending-Messages", self._owed)))
        elif status != "100":
            self._mark_lost(f"{status} {headers.get('Description', 'no such durable')}")
        self._wake.set()

    def _hold(self, message: Msg) -> None:
        """Queue the records of a message that were not handled before."""
        records = received_records(message)
        first, many = records[0], len(records)
        if many == 1:
            self._in_hand[first.ack_subject] = None
            self._records_in_hand += 1
            self._waiting.append(first)
            if self._records_a_message == 1.0:
                return
        mean = self._records_a_message + MEAN_WEIGHT * (many - self._records_a_message)
        self._records_a_message = max(many, mean if mean > 1 + MEAN_WEIGHT else 1.0)
        if many == 1:
            return
        identity = (first.sequence, first.published_at_ns)
        handled = self._refused.pop(identity, set()) if self._refused else set()
        left = [record for record in records if record.line not in handled]
        self._in_hand[first.ack_subject] = MessageInHand(
            first.ack_subject, identity, {record.line for record in left}, handled
        )
        self._records_in_hand += len(left)
        self._waiting.extend(left)

    def _mark_lost(self, why: str) -> None:
        self._lost = f"{self._durable.stream}/{self._durable.name}: {why}"
        self._wake.set()

    def _forget_pulls(self) -> None:
        """Forget outstanding pulls, as the server may have restarted."""
        self._owed = 0
        self._wake.set()

    async def restore(self) -> None:
        """See `Consumer.restore`."""
        await self._admin.ensure_durable(self._durable)
        self._lost = None
        self._forget_pulls()

    async def ack(self, *deliveries: Delivery) -> None:
        """See `Consumer.ack`."""
        for ack_subject, group in groupby(deliveries, attrgetter("ack_subject")):
            lines = {delivery.line for delivery in group}
            await self._answer(ack_subject, lines, b"+ACK")

    async def nak(self, delivery: Delivery, delay_s: float) -> None:
        """See `Consumer.nak`."""
        await self._answer(delivery.ack_subject, {delivery.line}, b"-NAK", again_s=delay_s)

    async def term(self, delivery: Delivery, reason: str) -> None:
        """See `Consumer.term`."""
        await self._answer(delivery.ack_subject, {delivery.line}, f"+TERM {reason}".encode())

    async def _answer(
        self, ack_subject: str, lines: set[int], answer: bytes, *, again_s: float | None = None
    ) -> None:
        """Settle records of a message, and the message once all of its records are settled.

        A message with a refused record is redelivered; this process then leaves out its handled
        records. If an answer is lost, keyed writes absorb the redelivery.
        """
        message = self._in_hand.get(ack_subject, MISSING)
        if message is None:
            del self._in_hand[ack_subject]
            self._records_in_hand -= 1
            await self._acknowledge(ack_subject, answer, again_s)
            return
        if not (answered := lines & message.unanswered):
            return
        self._records_in_hand -= len(answered)
        message.unanswered -= answered
        if again_s is None:
            message.handled |= answered
        else:
            message.again_s = max(again_s, message.again_s or 0.0)
        if not message.unanswered:
            del self._in_hand[message.ack_subject]
            if message.again_s is not None:
                self._remember(message)
                answer = b"-NAK"
            elif len(message.handled) > 1:
                answer = b"+ACK"
            await self._acknowledge(message.ack_subject, answer, message.again_s)

    async def _acknowledge(self, ack_subject: str, answer: bytes, again_s: float | None) -> None:
        if again_s:
            answer = f"{answer.decode()} {json.dumps({'delay': int(again_s * 1e9)})}".encode()
        try:
            await self._client.publish(ack_subject, answer)
        except NatsError as error:
            log("bus").warning(
                "an acknowledgement was lost", durable=self._durable.name, error=str(error)
            )
        if self._is_short():
            await self._pull()

    def _remember(self, message: MessageInHand) -> None:
        if message.handled:
            self._refused[message.identity] = message.handled
        if len(self._refused) > MAX_REFUSED:
            self._refused.popitem(last=False)

    async def in_progress(self) -> None:
        """See `Consumer.in_progress`."""
        for ack_subject in list(self._in_hand):
            await self._client.publish(ack_subject, b"+WPI")

    async def lag(self) -> int:
        """See `Consumer.lag`."""
        messages = (await self._admin.lag(self._durable.stream, self._durable.name)).waiting
        return round(messages * self._records_a_message)

    async def close(self) -> Sequence[Delivery]:
        """See `Consumer.close`."""
        self._closed = True
        self._wake.set()
        if self._subscription is not None and not self._client.is_closed:
            # What the server still sends for an open pull goes to others after its ack wait.
            await self._subscription.unsubscribe()
            self._subscription = None
        left = list(self._waiting)
        self._waiting.clear()
        return left
