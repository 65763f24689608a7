"""Remove purged records from the streams and from dead letters."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from biaswatch.shared.bus.bundles import MESSAGE_NAME, Bundle, publication_of, records_in
from biaswatch.shared.bus.dead_letters import MessageStore, StoredMessage, dead_letters, discard
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import ROUTES, Record, Route, record_of
from biaswatch.shared.errors import PoisonError


@dataclass
class PurgedMessages:
    """Counts of removed and of unreadable messages."""

    messages: Counter[str] = field(default_factory=Counter)
    """Removed records, by stream."""
    unreadable: int = 0
    """Dead letters without a readable record; they were kept, as their owner is unknown."""


def carries_texts(record: type[Record]) -> bool:
    """Return whether a kind of record has texts, itself or in embedded records."""
    return bool(record.text_fields()) or any(map(carries_texts, record.embedded_kinds().values()))


def text_routes() -> tuple[Route, ...]:
    """Return the routes whose messages carry texts."""
    return tuple(route for route in ROUTES if carries_texts(route.record))


async def purge_messages(
    store: MessageStore, publisher: Publisher, covers: Callable[[Record], bool]
) -> PurgedMessages:
    """Remove every covered record, dead letters included.

    Other records of the same message are published again first; readers see them twice, which is
    harmless.
    """
    removed = PurgedMessages()
    for route in text_routes():
        await _purge_stream(store, publisher, route, covers, removed)
    await _purge_dead_letters(store, covers, removed)
    return removed


async def _purge_stream(
    store: MessageStore,
    publisher: Publisher,
    route: Route,
    covers: Callable[[Record], bool],
    removed: PurgedMessages,
) -> None:
    number = 1
    while message := await store.next_message(route.stream, route.every_subject, number):
        number = message.sequence + 1
        lines = records_in(message.data, message.headers)
        kept = [line for line in lines if not _is_covered(route, line, covers)]
        if len(kept) == len(lines):
            continue
        if kept:
            await _publish_kept(publisher, message, kept)
        await store.delete_message(route.stream, message.sequence)
        removed.messages[route.stream] += len(lines) - len(kept)


def _is_covered(route: Route, line: bytes, covers: Callable[[Record], bool]) -> bool:
    """Return whether a record is covered; undecodable ones are not."""
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
    store: MessageStore, covers: Callable[[Record], bool], removed: PurgedMessages
) -> None:
    kinds = {route.record.kind for route in text_routes()}
    async for letter in dead_letters(store):
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
            await discard(letter, store)
            removed.messages[letter.stream] += 1
