"""The interface of the bus that a worker uses: publisher and consumer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import BiaswatchError

MAX_RECORD_BYTES = 512 * 1024
"""The largest record the bus carries; anything bigger travels by reference."""


@dataclass(slots=True, eq=False)
class Delivery:
    """One delivered record that is not acknowledged yet; immutable."""

    subject: str
    data: bytes
    message_id: str
    """`<record id>/<publication>`, or empty without one. For a message of several records, the name
    of the message and the number of the record replace the id."""
    publication: int
    """The number of its message's publication; the handler's outputs carry the same one.

    Otherwise a record that is repeated on purpose would be dropped as a duplicate one hop later."""
    attempt: int
    """1 for the first delivery of its message to this durable."""
    sequence: int
    """The sequence of its message in the stream."""
    published_at_ns: int
    """When the stream took it."""
    ack_subject: str
    """The subject of its message's acknowledgement."""
    trace_context: str = ""
    """The trace context of its record, if tracing is on."""
    line: int = 0
    """Number of the record in its message, from 0."""


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """Where a queue is: an acknowledged message is removed from it."""

    first: int
    """The sequence of the first message that is not acknowledged; behind the last where it is
    empty."""
    last: int
    """The sequence of the last message it has taken."""
    firsts: Mapping[str, int] = field(default_factory=dict)
    """By tenant with messages that are not acknowledged: none of them is before this sequence."""

    def first_of(self, tenant: str) -> int:
        """Return a sequence before which all messages of a tenant are acknowledged."""
        return self.firsts.get(tenant, self.last + 1)


class Queue(Protocol):
    """A stream whose acknowledged messages are removed."""

    async def position(self) -> QueuePosition:
        """Return where the queue is now.

        Raises
        ------
        TransientError
            The bus did not answer.
        """


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

    async def publish_all(
        self, records: Sequence[Record], *, publication: int | Sequence[int] = 0
    ) -> Sequence[BiaswatchError | None]:
        """Return, for each record, None once the stream has taken it, or what `publish` raises.

        The publication is one of all, or each has its own.
        """

    async def publish_copy(self, subject: str, data: bytes, headers: Mapping[str, str]) -> None:
        """Publish bytes unchanged: dead letters and their replay."""


class Consumer(Protocol):
    """The messages of one durable, pulled in batches."""

    async def take(self, most: int, linger_s: float = 0) -> Sequence[Delivery]:
        """Wait for at least one message, then `linger_s` for half of `most`; return at most `most`.

        A closed consumer returns nothing.

        Raises
        ------
        ConsumerLost
            The durable or its stream is gone; `restore` may bring it back.
        """

    async def restore(self) -> None:
        """Recreate the durable if it is gone; raise TransientError if that fails."""

    async def ack(self, *deliveries: Delivery) -> None:
        """Acknowledge: done, never deliver again."""

    async def nak(self, delivery: Delivery, delay_s: float) -> None:
        """Refuse: deliver again to any worker once the delay has passed."""

    async def term(self, delivery: Delivery, reason: str) -> None:
        """Terminate: never deliver again, for this reason."""

    async def in_progress(self) -> None:
        """Extend the ack wait of every unacknowledged message."""

    async def lag(self) -> int:
        """Count the records that wait for this durable and are not delivered."""

    async def close(self) -> Sequence[Delivery]:
        """Pull no more, end `take` with nothing, return what was not taken yet."""


class ConsumerLost(Exception):  # noqa: N818 - it is an event the worker answers, not a failure
    """The durable cannot be read: deleted, or its stream was."""
