"""The records and open pulls of one durable in this process."""

import json
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from nats.aio.msg import Msg

from biaswatch.shared.bus.jetstream.messages import received_records
from biaswatch.shared.bus.port import Delivery
from biaswatch.shared.bus.topology import DurableSpec

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
    """An unacknowledged message, acknowledged once all of its records are settled."""

    inbox: "DurableInbox"
    ack_subject: str
    identity: tuple[int, int]
    """Its sequence and time of storage, which are unique together."""
    unanswered: set[int]
    """Its records that are not settled."""
    handled: set[int] = field(default_factory=set)
    """Its records that were handled or given up."""
    again_s: float | None = None
    """Delay of its redelivery, if one of its records was refused."""


def durable_in(ack_subject: str) -> str:
    """Return the durable in `$JS.ACK.<stream>.<durable>...`, or in its form with a domain."""
    words = ack_subject.split(".")
    return words[3] if len(words) == 9 else words[5]


class DurableInbox:
    """The records of one durable that wait in this process, and its open pulls."""

    def __init__(self, durable: DurableSpec, reply_to: str) -> None:
        self.durable = durable
        self.reply_to = reply_to
        self.next = f"$JS.API.CONSUMER.MSG.NEXT.{durable.stream}.{durable.name}"
        self.waiting: deque[Delivery] = deque()
        self.records_in_hand = 0
        self.records_a_message = 1.0
        self.owed = 0
        """Messages that open pulls may still bring."""
        self.void_at = 0.0
        """When the open pulls have ended."""
        self.recent = 0
        """Records since a pull last ended unfilled: a measure of the backlog."""
        self._refused: OrderedDict[tuple[int, int], set[int]] = OrderedDict()

    @property
    def load(self) -> float:
        """Unacknowledged records, and those that open pulls may bring."""
        return self.records_in_hand + self.owed * self.records_a_message

    def pull(self, records: float, now: float) -> bytes:
        """Return the request of a pull of about this many records."""
        messages = self._messages_of(records)
        self.owed += messages
        self.void_at = now + PULL_EXPIRES_S + 1
        return json.dumps({"batch": messages, "expires": int(PULL_EXPIRES_S * 1e9)}).encode()

    def _messages_of(self, records: float) -> int:
        """Return the expected number of messages with a number of records."""
        if self.records_a_message == 1.0:
            return max(1, int(records))
        return max(1, min(MAX_PULLED, int(records / self.records_a_message)))

    def expire(self, unfilled: int) -> None:
        """Note that a pull has ended without this many of its messages."""
        self.owed = max(0, self.owed - unfilled)
        self.recent = 0

    def hold(self, message: Msg) -> MessageInHand:
        """Queue the records of a message that were not handled before."""
        records = received_records(message)
        first, many = records[0], len(records)
        self.owed = max(0, self.owed - 1)
        self.recent += many
        if many > 1 or self.records_a_message != 1.0:
            mean = self.records_a_message + MEAN_WEIGHT * (many - self.records_a_message)
            self.records_a_message = max(many, mean if mean > 1 + MEAN_WEIGHT else 1.0)
        identity = (first.sequence, first.published_at_ns)
        handled = self._refused.pop(identity, set()) if self._refused else set()
        left = [r for r in records if r.line not in handled] if handled else records
        self.records_in_hand += len(left)
        self.waiting.extend(left)
        lines = {record.line for record in left}
        return MessageInHand(self, first.ack_subject, identity, lines, handled)

    def remember(self, message: MessageInHand) -> None:
        """Remember the handled records of a message that is delivered again."""
        if message.handled:
            self._refused[message.identity] = message.handled
        if len(self._refused) > MAX_REFUSED:
            self._refused.popitem(last=False)
