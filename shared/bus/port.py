"""What the worker needs of a bus, whoever carries the messages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from shared.contracts import Record

MAX_RECORD_BYTES = 512 * 1024
"""The largest record the bus carries; bigger things travel by reference."""


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """One message in hand, not settled yet."""

    subject: str
    data: bytes
    message_id: str
    """`<record id>/<publication>`, or empty where the publisher gave none."""
    attempt: int
    """1 for the first delivery of this message to this durable."""
    sequence: int
    """The message's place in its stream."""
    published_at_ns: int
    """When the stream took it."""
    pending: int
    """How many more wait for this durable behind it."""
    ack_subject: str
    """Where its settlement is sent."""

    @property
    def publication(self) -> int:
        """Which publication of the record this is; what is made from it carries the same number.

        Otherwise a record made again on purpose would be swallowed as a duplicate one hop later.
        """
        number = self.message_id.rpartition("/")[2]
        return int(number) if number.isdecimal() else 0


class Publisher(Protocol):
    """Puts records on the bus."""

    async def publish(self, record: Record, *, publication: int = 0) -> None:
        """Return when the stream has taken the record.

        Raises
        ------
        OversizeError
            It is larger than `MAX_RECORD_BYTES`.
        BackPressureError
            The stream is full until its consumers catch up.
        TransientError
            The bus did not answer; the record may or may not be there. Publishing again is safe.
        """

    async def publish_copy(self, subject: str, data: bytes, headers: Mapping[str, str]) -> None:
        """Put bytes on a subject as they are: dead letters and their replay."""


class Consumer(Protocol):
    """One durable's messages, as many at a time as were asked for."""

    async def take(self, most: int, linger_s: float = 0) -> Sequence[Delivery]:
        """Wait for at least one message, then `linger_s` for others; give at most `most`.

        Once the consumer is closed there is nothing to give.

        Raises
        ------
        InboxLost
            The durable or its stream is gone; `restore` may bring it back.
        """

    async def restore(self) -> None:
        """Make the durable anew where it is gone, and go on; raises TransientError if it cannot."""

    async def ack(self, delivery: Delivery) -> None:
        """Settle: done, never deliver again."""

    async def nak(self, delivery: Delivery, delay_s: float) -> None:
        """Settle: deliver again to anyone, not before the delay has passed."""

    async def term(self, delivery: Delivery, reason: str) -> None:
        """Settle: never deliver again, for this reason."""

    async def in_progress(self) -> None:
        """Say of every message in hand that work on it goes on."""

    async def lag(self) -> int:
        """Count the records that wait for this durable and are in nobody's hands."""

    async def close(self) -> Sequence[Delivery]:
        """Ask for no more, let `take` end with nothing, give what was waiting to be taken."""


class ConsumerLost(Exception):  # noqa: N818 - it is an event the worker answers, not a failure
    """The durable cannot be read: deleted, or its stream was."""
