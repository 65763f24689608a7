"""Dead letters, with the original bytes and the reason, and the anchors of the audit trail."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from biaswatch.shared.bus.port import Delivery, Publisher
from biaswatch.shared.bus.topology import (
    DEAD_EXCHANGE_ROOT,
    DEAD_EXCHANGES,
    DEAD_ROOT,
    DEAD_STREAMS,
)
from biaswatch.shared.contracts import ROUTES, AuditAnchor, route_of
from biaswatch.shared.contracts.routes import ROOT
from biaswatch.shared.errors import PoisonError, UsageError

SUBJECT = "Biaswatch-Subject"
STREAM = "Biaswatch-Stream"
SEQUENCE = "Biaswatch-Sequence"
DURABLE = "Biaswatch-Durable"
ATTEMPTS = "Biaswatch-Attempts"
ERROR = "Biaswatch-Error"
REASON = "Biaswatch-Reason"
AT = "Biaswatch-At"
MESSAGE_ID = "Biaswatch-Message-Id"
FOREIGN = "ForeignMessage"
"""Value of `error` for messages that no service of the platform gave up."""


@dataclass(frozen=True)
class DeadLetter:
    """A record that was given up, and the reason."""

    stream: str
    """Its stream: one for records of services, one for invalid records from outside."""
    number: int
    """Its sequence in that stream."""
    at: datetime
    durable: str
    subject: str
    attempts: int
    error: str
    reason: str
    data: bytes
    message_id: str

    @property
    def name(self) -> str:
        """The name in commands: its number, after an `e` for records from outside."""
        return f"{'e' if self.stream == DEAD_EXCHANGES else ''}{self.number}"

    @property
    def foreign(self) -> bool:
        """True if something other than a service of the platform put it there."""
        return self.error == FOREIGN


@dataclass(frozen=True)
class StoredMessage:
    """A message as its stream keeps it."""

    subject: str
    sequence: int
    data: bytes
    headers: dict[str, str]
    stored_at: datetime


class MessageStore(Protocol):
    """Reads and removes single messages of a stream."""

    async def next_message(self, stream: str, subject: str, sequence: int) -> StoredMessage | None:
        """Return the first message at or after `sequence`, or None behind the last."""

    async def delete_message(self, stream: str, sequence: int) -> None:
        """Remove one message."""


def dead_letter_headers(
    delivery: Delivery, *, stream: str, durable: str, error: str, reason: str, at: float
) -> dict[str, str]:
    """Return the headers of a dead letter: its record, durable, time and reason."""
    return {
        # With the time, as a recreated stream reuses sequence numbers.
        "Nats-Msg-Id": (
            f"dead/{durable}/{delivery.sequence}/{delivery.published_at_ns}/{delivery.line}"
        ),
        SUBJECT: delivery.subject,
        STREAM: stream,
        SEQUENCE: str(delivery.sequence),
        DURABLE: durable,
        ATTEMPTS: str(delivery.attempt),
        ERROR: error,
        REASON: reason,
        AT: datetime.fromtimestamp(at, UTC).isoformat(),
        MESSAGE_ID: delivery.message_id,
    }


async def dead_letters(
    store: MessageStore, *, durable: str | None = None
) -> AsyncIterator[DeadLetter]:
    """Yield the dead letters of all durables or of one, oldest first.

    Those of services come before those of records from outside.
    """
    subjects = (f"{DEAD_ROOT}.*.{durable or '>'}", f"{DEAD_EXCHANGE_ROOT}.*.{durable or '*'}.*")
    for stream, subject in zip(DEAD_STREAMS, subjects, strict=True):
        number = 1
        while message := await store.next_message(stream, subject, number):
            yield _read(stream, message)
            number = message.sequence + 1


async def replay(letter: DeadLetter, store: MessageStore, publisher: Publisher) -> None:
    """Publish the record again on its subject, then remove the dead letter.

    It gets the next publication number: JetStream would drop the old one as a duplicate. Every
    reader of the stream sees the record again; keyed writes absorb that.

    Raises
    ------
    UsageError
        No service of the platform gave it up, so it has no subject to return to.
    """
    if letter.foreign:
        raise UsageError(
            f"No service gave up the message {letter.name}: {letter.reason}"
            f" `biaswatch admin dead-letters discard {letter.name}` removes it."
        )
    record_id, _, publication = letter.message_id.rpartition("/")
    number = int(publication) + 1 if publication.isdecimal() else letter.number
    name = record_id or f"replay-{letter.durable}"
    await publisher.publish_copy(letter.subject, letter.data, {"Nats-Msg-Id": f"{name}/{number}"})
    await discard(letter, store)


async def discard(letter: DeadLetter, store: MessageStore) -> None:
    """Remove a dead letter for good."""
    await store.delete_message(letter.stream, letter.number)


def _read(stream: str, message: StoredMessage) -> DeadLetter:
    headers = message.headers
    try:
        letter = DeadLetter(
            stream=stream,
            number=message.sequence,
            at=datetime.fromisoformat(headers[AT]),
            durable=headers[DURABLE],
            subject=headers[SUBJECT],
            attempts=int(headers[ATTEMPTS]),
            error=headers[ERROR],
            reason=headers[REASON],
            data=message.data,
            message_id=headers.get(MESSAGE_ID, ""),
        )
    except KeyError as missing:
        return _foreign(stream, message, f"It has no header {missing.args[0]}.")
    except ValueError:
        return _foreign(stream, message, "Its headers are invalid.")
    if not _reads(message.subject, letter):
        reason = "Its headers name a record that its service does not read."
        return _foreign(stream, message, reason)
    return letter


def _reads(subject: str, letter: DeadLetter) -> bool:
    """Tell whether the service in the subject of a dead letter reads its kind of record.

    A service may only write dead letters under its own name, while headers are not checked.
    """
    service = subject.split(".")[2]
    kind = (letter.subject.split(".")[2:3] or [""])[0]
    return letter.subject.startswith(f"{ROOT}.") and any(
        route.record.kind == kind and service in route.consumers for route in ROUTES
    )


def _foreign(stream: str, message: StoredMessage, reason: str) -> DeadLetter:
    """Return a foreign message as a dead letter, so that it can be listed and removed."""
    return DeadLetter(
        stream=stream,
        number=message.sequence,
        at=message.stored_at,
        durable="",
        subject=message.subject,
        attempts=0,
        error=FOREIGN,
        reason=reason,
        data=message.data,
        message_id="",
    )


async def audit_anchors(messages: MessageStore) -> AsyncIterator[AuditAnchor]:
    """Yield the anchors, oldest first, without undecodable messages."""
    route, sequence = route_of(AuditAnchor), 1
    while message := await messages.next_message(route.stream, route.every_subject, sequence):
        sequence = message.sequence + 1
        try:
            yield AuditAnchor.decode(message.data)
        except PoisonError:
            continue
