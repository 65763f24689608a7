"""A pull consumer that asks for exactly as many messages as it has free capacity for."""

import asyncio
import json
from collections import deque
from collections.abc import Sequence

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from shared.bus.jetstream.admin import Admin
from shared.bus.jetstream.connection import Connection
from shared.bus.port import ConsumerLost, Delivery
from shared.bus.topology import DurableSpec
from shared.telemetry import log
from shared.tracing import HEADER

PULL_EXPIRES_S = 10.0
"""The time after which an idle pull is repeated, and a lost one is noticed."""
EXPIRED = ("404", "408")
"""Statuses of a pull that ended normally: no message was there, or its time is over."""


class JetStreamConsumer:
    """One durable's messages.

    The client's own `fetch` waits on one pull at a time and loses track of those that end early;
    this class counts what is still owed.
    """

    def __init__(self, connection: Connection, durable: DurableSpec, capacity: int) -> None:
        self._client = connection.client
        self._admin = Admin(connection)
        self._durable = durable
        self._capacity = capacity
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{durable.stream}.{durable.name}"
        self._replies = connection.client.new_inbox()
        self._waiting: deque[Delivery] = deque()
        self._in_hand: dict[str, Delivery] = {}
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
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

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
        """Pull as many as there is capacity for, once half of it is free."""
        free = self._capacity - len(self._in_hand) - self._owed
        if self._closed or free <= 0 or (self._owed and free * 2 < self._capacity):
            return
        self._owed += free
        self._void_at = asyncio.get_running_loop().time() + PULL_EXPIRES_S + 1
        request = {"batch": free, "expires": int(PULL_EXPIRES_S * 1e9)}
        try:
            if self._subscription is None:
                self._subscription = await self._client.subscribe(
                    self._replies, cb=self._received, pending_bytes_limit=0
                )
            await self._client.publish(self._next, json.dumps(request).encode(), self._replies)
        except NatsError as error:
            self._mark_lost(str(error))

    async def _received(self, message: Msg) -> None:
        if message.reply.startswith("$JS.ACK."):
            self._owed = max(0, self._owed - 1)
            delivery = _delivery(message)
            self._in_hand[delivery.ack_subject] = delivery
            self._waiting.append(delivery)
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

    def _mark_lost(self, why: str) -> None:
        self._lost = f"{self._durable.stream}/{self._durable.name}: {why}"
        self._wake.set()

    def _forget_pulls(self) -> None:
        """Forget what was asked before: the server may have restarted since."""
        self._owed = 0
        self._wake.set()

    async def restore(self) -> None:
        """See `Consumer.restore`."""
        await self._admin.ensure_durable(self._durable)
        self._lost = None
        self._forget_pulls()

    async def ack(self, delivery: Delivery) -> None:
        """See `Consumer.ack`."""
        await self._acknowledge(delivery, b"+ACK")

    async def nak(self, delivery: Delivery, delay_s: float) -> None:
        """See `Consumer.nak`."""
        delay = json.dumps({"delay": int(delay_s * 1e9)})
        await self._acknowledge(delivery, f"-NAK {delay}".encode() if delay_s > 0 else b"-NAK")

    async def term(self, delivery: Delivery, reason: str) -> None:
        """See `Consumer.term`."""
        await self._acknowledge(delivery, f"+TERM {reason}".encode())

    async def _acknowledge(self, delivery: Delivery, answer: bytes) -> None:
        """Acknowledge and forget; if this is lost, keyed writes absorb the redelivery."""
        self._in_hand.pop(delivery.ack_subject, None)
        try:
            await self._client.publish(delivery.ack_subject, answer)
        except NatsError as error:
            log("bus").warning(
                "an acknowledgement was lost", durable=self._durable.name, error=str(error)
            )
        await self._pull()

    async def in_progress(self) -> None:
        """See `Consumer.in_progress`."""
        for ack_subject in list(self._in_hand):
            await self._client.publish(ack_subject, b"+WPI")

    async def lag(self) -> int:
        """See `Consumer.lag`."""
        return (await self._admin.lag(self._durable.stream, self._durable.name)).waiting

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


def _delivery(message: Msg) -> Delivery:
    """Read `$JS.ACK.<stream>.<durable>.<delivered>.<sequence>.<n>.<time>.<pending>`."""
    words, headers = message.reply.split("."), message.headers or {}
    delivered, sequence, _, published_at_ns, pending = (
        words[-5:] if len(words) == 9 else words[6:11]
    )
    return Delivery(
        subject=message.subject,
        data=message.data,
        message_id=headers.get("Nats-Msg-Id", ""),
        attempt=int(delivered),
        sequence=int(sequence),
        published_at_ns=int(published_at_ns),
        pending=int(pending),
        ack_subject=message.reply,
        trace_context=headers.get(HEADER, ""),
    )
