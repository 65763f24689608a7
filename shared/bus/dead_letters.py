"""Dead letters: the original bytes and the reason; and purging the bus of messages with texts."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from biaswatch.shared.bus.bundles import MESSAGE_NAME, Bundle, publication_of, records_in
from biaswatch.shared.bus.port import Delivery, Publisher
from biaswatch.shared.bus.topology import (
    DEAD_EXCHANGE_ROOT,
    DEAD_EXCHANGES,
    DEAD_ROOT,
    DEAD_STREAMS,
)
from biaswatch.shared.contracts import ROUTES, AuditAnchor, Record, Route, record_of, route_of
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
"""What `error` says of a message that no service of the platform gave up."""


@dataclass(frozen=True)
class DeadLetter:
    """A record that was given up, with the reason."""

    stream: str
    """The stream it lies in: that of what services gave up, or of wrong records from outside."""
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
        """What commands call it: its number, with an `e` before it where it came from outside."""
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
    """Return headers that say what was given up, by which durable, when and why."""
    return {
        # The time tells this message from one with the same sequence in a recreated stream.
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
    shelf: MessageStore, *, durable: str | None = None
) -> AsyncIterator[DeadLetter]:
    """Return the dead letters, oldest first: all, or those of one durable.

    What services gave up comes before what was wrong with records from outside.
    """
    subjects = (f"{DEAD_ROOT}.*.{durable or '>'}", f"{DEAD_EXCHANGE_ROOT}.*.{durable or '*'}.*")
    for stream, subject in zip(DEAD_STREAMS, subjects, strict=True):
        number = 1
        while message := await shelf.next_message(stream, subject, number):
            yield _read(stream, message)
            number = message.sequence + 1


async def replay(letter: DeadLetter, shelf: MessageStore, publisher: Publisher) -> None:
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
            f"The message {letter.name} is no record that a service gave up: {letter.reason}"
            f" `biaswatch dead-letters discard {letter.name}` removes it."
        )
    record_id, _, publication = letter.message_id.rpartition("/")
    number = int(publication) + 1 if publication.isdecimal() else letter.number
    name = record_id or f"replay-{letter.durable}"
    await publisher.publish_copy(letter.subject, letter.data, {"Nats-Msg-Id": f"{name}/{number}"})
    await discard(letter, shelf)


async def discard(letter: DeadLetter, shelf: MessageStore) -> None:
    """Remove a dead letter for good."""
    await shelf.delete_message(letter.stream, letter.number)


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
        return _foreign(stream, message, "Its headers hold what no service writes.")
    if not _reads(message.subject, letter):
        reason = "Its headers name a record that its service does not read."
        return _foreign(stream, message, reason)
    return letter


def _reads(subject: str, letter: DeadLetter) -> bool:
    """Tell whether the service of a dead letter's subject reads the record it speaks of.

    A service may write dead letters in its own name alone; what the headers say is its word.
    """
    service = subject.split(".")[2]
    kind = (letter.subject.split(".")[2:3] or [""])[0]
    return letter.subject.startswith(f"{ROOT}.") and any(
        route.record.kind == kind and service in route.consumers for route in ROUTES
    )


def _foreign(stream: str, message: StoredMessage, reason: str) -> DeadLetter:
    """Return a message that is no dead letter, so that people see it and can remove it."""
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


@dataclass
class PurgedMessages:
    """What was removed from the bus, and what could not be read."""

    messages: Counter[str] = field(default_factory=Counter)
    """Removed records, by stream."""
    unreadable: int = 0
    """Dead letters that hold no record, and what else lay among them: they were left, because
    their owner is unknown."""


def carries_texts(record: type[Record]) -> bool:
    """Tell whether this kind of record holds texts, itself or in an embedded record."""
    return bool(record.text_fields()) or any(map(carries_texts, record.embedded_kinds().values()))


def text_routes() -> tuple[Route, ...]:
    """Return the routes whose messages carry texts."""
    return tuple(route for route in ROUTES if carries_texts(route.record))


async def purge_messages(
    shelf: MessageStore, publisher: Publisher, covers: Callable[[Record], bool]
) -> PurgedMessages:
    """Remove every record that is covered, dead letters included.

    What goes in one message with such a record is published again first, without it: readers see
    that twice, which changes nothing.
    """
    removed = PurgedMessages()
    for route in text_routes():
        await _purge_stream(shelf, publisher, route, covers, removed)
    await _purge_dead_letters(shelf, covers, removed)
    return removed


async def _purge_stream(
    shelf: MessageStore,
    publisher: Publisher,
    route: Route,
    covers: Callable[[Record], bool],
    removed: PurgedMessages,
) -> None:
    number = 1
    while message := await shelf.next_message(route.stream, route.subjects, number):
        number = message.sequence + 1
        lines = records_in(message.data, message.headers)
        kept = [line for line in lines if not _is_covered(route, line, covers)]
        if len(kept) == len(lines):
            continue
        if kept:
            await _publish_kept(publisher, message, kept)
        await shelf.delete_message(route.stream, message.sequence)
        removed.messages[route.stream] += len(lines) - len(kept)


def _is_covered(route: Route, line: bytes, covers: Callable[[Record], bool]) -> bool:
    """Tell whether a record is covered; its reader makes what is none a dead letter."""
    try:
        return covers(route.record.decode(line))
    except PoisonError:
        return False


async def _publish_kept(
    publisher: Publisher, message: StoredMessage, kept: Sequence[bytes]
) -> None:
    bundle, message_id = Bundle(), message.headers.get(MESSAGE_NAME, "")
    for line, data in enumerate(kept):
        name = f"{message_id.rpartition('/')[0]}-kept-{line}"
        bundle.add(name, data, publication_of(message_id) + 1)
    await publisher.publish_copy(message.subject, bundle.data(), bundle.headers())


async def _purge_dead_letters(
    shelf: MessageStore, covers: Callable[[Record], bool], removed: PurgedMessages
) -> None:
    kinds = {route.record.kind for route in text_routes()}
    async for letter in dead_letters(shelf):
        if letter.foreign:
            removed.unreadable += 1
            continue
        kind = letter.subject.split(".")[2]
        if kind not in kinds:
            continue
        try:
            record = record_of(kind).decode(letter.data)
        except PoisonError:
            removed.unreadable += 1
            continue
        if covers(record):
            await discard(letter, shelf)
            removed.messages[letter.stream] += 1


async def audit_anchors(messages: MessageStore) -> AsyncIterator[AuditAnchor]:
    """Return every anchor, the oldest first; what is none is passed over."""
    route, sequence = route_of(AuditAnchor), 1
    while message := await messages.next_message(route.stream, route.subjects, sequence):
        sequence = message.sequence + 1
        try:
            yield AuditAnchor.decode(message.data)
        except PoisonError:
            continue
