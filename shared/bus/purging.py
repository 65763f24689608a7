"""Purging the bus: remove messages with purged texts from every stream."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from shared.bus.dead_letters import MessageStore, dead_letters, discard
from shared.bus.topology import DEAD_LETTERS
from shared.contracts import ROUTES, Record, Route, record_of
from shared.errors import PoisonError

Covers = Callable[[Record], bool]


@dataclass
class PurgedMessages:
    """What was removed from the bus, and what could not be read."""

    messages: Counter[str] = field(default_factory=Counter)
    """Removed messages, by stream."""
    unreadable: int = 0
    """Dead letters that hold no record: they were left, because their owner is unknown."""


def carries_texts(record: type[Record]) -> bool:
    """Tell whether this kind of record holds texts, itself or in an embedded record."""
    inside = [
        each.annotation
        for each in record.model_fields.values()
        if isinstance(each.annotation, type) and issubclass(each.annotation, Record)
    ]
    return bool(record.text_fields()) or any(carries_texts(each) for each in inside)


def text_routes() -> tuple[Route, ...]:
    """Return the routes whose messages carry texts."""
    return tuple(route for route in ROUTES if carries_texts(route.record))


async def purge_messages(shelf: MessageStore, covers: Covers) -> PurgedMessages:
    """Remove every message whose record is covered, dead letters included."""
    removed = PurgedMessages()
    for route in text_routes():
        await _purge_stream(shelf, route, covers, removed)
    await _purge_dead_letters(shelf, covers, removed)
    return removed


async def _purge_stream(
    shelf: MessageStore, route: Route, covers: Covers, removed: PurgedMessages
) -> None:
    number = 1
    while message := await shelf.next_message(route.stream, route.subjects, number):
        number = message.sequence + 1
        try:
            record = route.record.decode(message.data)
        except PoisonError:
            continue  # its reader makes it a dead letter, and there it is counted
        if covers(record):
            await shelf.delete_message(route.stream, message.sequence)
            removed.messages[route.stream] += 1


async def _purge_dead_letters(shelf: MessageStore, covers: Covers, removed: PurgedMessages) -> None:
    kinds = {route.record.kind for route in text_routes()}
    async for letter in dead_letters(shelf):
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
            removed.messages[DEAD_LETTERS] += 1
