"""A pull consumer that asks for exactly as many messages as it has free capacity for."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from biaswatch.shared.bus.jetstream.admin import Admin
from biaswatch.shared.bus.jetstream.connection import Connection
from biaswatch.shared.bus.jetstream.inbox import EXPIRED, DurableInbox, MessageInHand, durable_in
from biaswatch.shared.bus.port import ConsumerLost, Delivery
from biaswatch.shared.bus.topology import DurableSpec
from biaswatch.shared.telemetry import log

MAX_TAKEN_BYTES = 8 * 1024 * 1024
"""A batch ends there: what a handler makes of it is 3 to 4 times as large."""

LINGER_STEP_S = 0.1
"""Time between pulls while a batch is filled."""


def take_in_turn(inboxes: list[DurableInbox], most: int) -> list[Delivery]:
    """Remove and return waiting records, one of each durable in turn: at least one.

    A durable goes to the end of the list with each of its records, so that its backlog delays the
    record of another one by at most one record of each.
    """
    taken, left = list[Delivery](), MAX_TAKEN_BYTES
    turns = deque(inbox for inbox in inboxes if inbox.waiting)
    served: dict[DurableInbox, None] = {}
    while turns and len(taken) < most and left > 0:
        inbox = turns.popleft()
        delivery = inbox.waiting.popleft()
        taken.append(delivery)
        left -= len(delivery.data)
        served.pop(inbox, None)
        served[inbox] = None
        if inbox.waiting:
            turns.append(inbox)
    inboxes[:] = [*(inbox for inbox in inboxes if inbox not in served), *served]
    return taken


class JetStreamConsumer:
    """The messages of one durable and of its partitions, which take turns.

    Unlike `fetch` of the client, which waits for a single pull, it counts outstanding messages.
    """

    def __init__(self, connection: Connection, durable: DurableSpec, capacity: int) -> None:
        self._client = connection.client
        self._admin = Admin(connection)
        self._durable = durable
        self._capacity = capacity
        self._replies = connection.client.new_inbox()
        self._inboxes = [
            DurableInbox(part, f"{self._replies}.{number}")
            for number, part in enumerate(durable.all)
        ]
        """In the order of their turns."""
        self._by_reply = {inbox.reply_to: inbox for inbox in self._inboxes}
        self._by_name = {inbox.durable.name: inbox for inbox in self._inboxes}
        self._share = max(1, capacity // len(self._inboxes))
        """Records that each durable may have in this process, whatever the others have."""
        self._in_hand: dict[str, MessageInHand] = {}
        """By the subject of the acknowledgement."""
        self._records_in_hand = 0
        """The sum over all durables; kept up to date, because every acknowledgement reads it."""
        self._lost: str | None = None
        self._closed = False
        self._wake = asyncio.Event()
        self.expired_pulls = 0
        self._subscription: Subscription | None = None
        connection.on_reconnect(self._forget_pulls)

    async def take(self, most: int, linger_s: float = 0) -> Sequence[Delivery]:
        """See `Consumer.take`."""
        await self._pull_again()
        while not self._waiting():
            if self._closed:
                return ()
            if self._lost:
                raise ConsumerLost(self._lost)
            await self._pull_again()
            await self._sleep()
        await self._linger(most, linger_s)
        return take_in_turn(self._inboxes, most)

    async def _linger(self, most: int, linger_s: float) -> None:
        """Pull more records until half of a batch is here or the time is over."""
        until = self._now() + linger_s
        while (
            self._waiting() * 2 < most and not self._closed and (left_s := until - self._now()) > 0
        ):
            await asyncio.sleep(min(left_s, LINGER_STEP_S))
            await self._pull_again()

    def _waiting(self) -> int:
        return sum(len(inbox.waiting) for inbox in self._inboxes)

    async def _sleep(self) -> None:
        self._wake.clear()
        if self._waiting() or self._lost or self._closed:
            return
        now = self._now()
        void_at = min((inbox.void_at for inbox in self._inboxes if inbox.owed), default=now)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.05, void_at - now)):
                await self._wake.wait()

    async def _pull_again(self) -> None:
        """Pull for every durable that is short, and forget pulls that must have ended."""
        now = self._now()
        for inbox in self._inboxes:
            if inbox.void_at <= now:
                inbox.owed = 0
            await self._pull(inbox)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def _pull(self, inbox: DurableInbox) -> None:
        """Pull as many messages as there is capacity for, once half of it is free."""
        if (free := self._free(inbox)) <= 0:
            return
        request = inbox.pull(free, self._now())
        try:
            if self._subscription is None:
                self._subscription = await self._client.subscribe(
                    f"{self._replies}.*", cb=self._received, pending_bytes_limit=0
                )
            await self._client.publish(inbox.next, request, inbox.reply_to)
        except NatsError as error:
            self._mark_lost(inbox, str(error))

    def _free(self, inbox: DurableInbox) -> float:
        """Return the records to pull now: 0 while less than half of the allowance is free."""
        allowance = self._allowance(inbox)
        free = allowance - inbox.load
        return 0 if self._closed or (inbox.owed and free * 2 < allowance) else free

    def _allowance(self, inbox: DurableInbox) -> float:
        """Return the records a durable may have here: its share, or more while it has a backlog.

        Open pulls of durables without a backlog so take nothing from those with one.
        """
        most = self._capacity - (self._records_in_hand - inbox.records_in_hand)
        return max(self._share, min(2 * inbox.recent, most))

    async def _received(self, message: Msg) -> None:
        if message.reply.startswith("$JS.ACK."):
            inbox = self._by_name[durable_in(message.reply)]
            held = self._in_hand[message.reply] = inbox.hold(message)
            self._records_in_hand += len(held.unanswered)
            self._wake.set()
            return
        inbox, headers = self._by_reply[message.subject], message.headers or {}
        status = headers.get("Status", "")
        if status in EXPIRED:
            self.expired_pulls += 1
            inbox.expire(int(headers.get("Nats-Pending-Messages", inbox.owed)))
            await self._pull(inbox)
        elif status != "100":
            self._mark_lost(inbox, f"{status} {headers.get('Description', 'no such durable')}")
        self._wake.set()

    def _mark_lost(self, inbox: DurableInbox, why: str) -> None:
        self._lost = f"{inbox.durable.stream}/{inbox.durable.name}: {why}"
        self._wake.set()

    def _forget_pulls(self) -> None:
        """Forget outstanding pulls, as the server may have restarted."""
        for inbox in self._inboxes:
            inbox.owed = 0
        self._wake.set()

    async def restore(self) -> None:
        """See `Consumer.restore`."""
        await asyncio.gather(*map(self._admin.ensure_durable, self._durable.all))
        self._lost = None
        self._forget_pulls()

    async def ack(self, *deliveries: Delivery) -> None:
        """See `Consumer.ack`."""
        lines: defaultdict[str, set[int]] = defaultdict(set)
        for delivery in deliveries:
            lines[delivery.ack_subject].add(delivery.line)
        for ack_subject, settled in lines.items():
            await self._answer(ack_subject, settled, b"+ACK")

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
        message = self._in_hand.get(ack_subject)
        if message is None or not (answered := lines & message.unanswered):
            return
        message.inbox.records_in_hand -= len(answered)
        self._records_in_hand -= len(answered)
        message.unanswered -= answered
        if again_s is None:
            message.handled |= answered
        else:
            message.again_s = max(again_s, message.again_s or 0.0)
        if not message.unanswered:
            del self._in_hand[ack_subject]
            if message.again_s is not None:
                message.inbox.remember(message)
                answer = b"-NAK"
            elif len(message.handled) > 1:
                answer = b"+ACK"
            await self._acknowledge(message, answer)

    async def _acknowledge(self, message: MessageInHand, answer: bytes) -> None:
        if message.again_s:
            delay = json.dumps({"delay": int(message.again_s * 1e9)})
            answer = f"{answer.decode()} {delay}".encode()
        try:
            await self._client.publish(message.ack_subject, answer)
        except NatsError as error:
            name = message.inbox.durable.name
            log("bus").warning("an acknowledgement was lost", durable=name, error=str(error))
        await self._pull(message.inbox)

    async def in_progress(self) -> None:
        """See `Consumer.in_progress`."""
        for ack_subject in list(self._in_hand):
            await self._client.publish(ack_subject, b"+WPI")

    async def lag(self) -> int:
        """See `Consumer.lag`."""
        stream, inboxes = self._durable.stream, list(self._inboxes)
        lags = await asyncio.gather(*(self._admin.lag(stream, i.durable.name) for i in inboxes))
        records = (
            lag.waiting * inbox.records_a_message for lag, inbox in zip(lags, inboxes, strict=True)
        )
        return round(sum(records))

    async def close(self) -> Sequence[Delivery]:
        """See `Consumer.close`."""
        self._closed = True
        self._wake.set()
        if self._subscription is not None and not self._client.is_closed:
            # What the server still sends for an open pull goes to others after its ack wait.
            await self._subscription.unsubscribe()
            self._subscription = None
        left = [delivery for inbox in self._inboxes for delivery in inbox.waiting]
        for inbox in self._inboxes:
            inbox.waiting.clear()
        return left
