"""Positions of the fields and signals of OTLP protobuf messages, found in bounded memory."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError

SMALL_BYTES = 64 * 1024
"""Size up to which a message is parsed at once, which takes at most 5 MiB."""
MAX_MESSAGES = 100_000
"""Fields of a request outside its spans and log records."""
MAX_SIGNAL_BYTES = 2 * 1024 * 1024
"""Larger spans and log records are refused; their answers would be too large anyway."""
MAX_SIGNAL_FIELDS = 10_000
"""Attributes, events, links and values of one large span, at all levels."""
MAX_LEVELS = 100
"""Nesting of messages, as in upb."""
RESOURCE, NESTED = 1, 2
"""Numbers of the fields `resource` and `scope_spans` or `spans`; logs use the same."""
VARINT, FIXED64, MESSAGE, FIXED32 = 0, 1, 2, 5
HEAD_BYTES = 20
"""The longest tag and length."""
MORE = 0x80
"""Bit of a byte that says that the number continues."""
FIRST_TAG = 8
"""The tag of field number 1, the lowest."""

ReadAt = Callable[[int, int], bytes]
"""Returns bytes, given their position and number."""


class TooManyMessagesError(Exception):
    """A request or a span has too many messages."""


class ByteRange(NamedTuple):
    """Position of a message in a request."""

    start: int
    end: int

    @property
    def size(self) -> int:
        """Bytes of the message."""
        return self.end - self.start


class SignalFields(NamedTuple):
    """Neighbouring fields of a message, which are parsed together as such a message."""

    level: int
    """0: fields of the request; 1: of `ResourceSpans`; `SCOPE`: of `ScopeSpans`."""
    place: ByteRange
    resource: tuple[ByteRange, ...] = ()
    """The parts of the resource of a deeper level; protobuf merges them."""


SCOPE = 2
"""Level whose fields are single spans or log records."""


def fields_of(read_at: ReadAt, place: ByteRange) -> Iterator[tuple[int, int, int, ByteRange]]:
    """Yield number, wire type, start and content of each field.

    Raises
    ------
    DecodeError
        The bytes are malformed.
    """
    position = place.start
    while position < place.end:
        head = read_at(position, HEAD_BYTES)
        tag, used = _varint(head, 0)
        wire = tag & 7
        start = position + used
        if wire == MESSAGE:
            length, used = _varint(head, used)
            start, end = position + used, position + used + length
        elif wire == VARINT:
            end = position + _varint(head, used)[1]
        elif wire in {FIXED64, FIXED32}:
            end = start + (8 if wire == FIXED64 else 4)
        else:
            raise DecodeError("groups are not part of OTLP")
        if end > place.end or tag < FIRST_TAG:
            raise DecodeError("a field ends behind its message")
        yield tag >> 3, wire, position, ByteRange(start, end)
        position = end


def _varint(head: bytes, at: int) -> tuple[int, int]:
    """Return a number and its end."""
    if at < len(head) and head[at] < MORE:
        return head[at], at + 1
    value = shift = 0
    for end, byte in enumerate(head[at : at + 10], at + 1):
        value |= (byte & 0x7F) << shift
        if byte < MORE:
            return value, end
        shift += 7
    raise DecodeError("a number does not end")


def signal_fields(read_at: ReadAt, size: int) -> Iterator[SignalFields]:
    """Yield the positions of the signals of a request.

    Raises
    ------
    DecodeError
        The bytes are not a message.
    TooManyMessagesError
        The request has more than `MAX_MESSAGES` resources, scopes, signals and other fields.
    """
    return _Walk(read_at).runs(SignalFields(0, ByteRange(0, size)))


class _Walk:
    """Iterates over the messages of one request, and counts them."""

    def __init__(self, read_at: ReadAt) -> None:
        self._read_at = read_at
        self._left = MAX_MESSAGES

    def _messages(self, place: ByteRange) -> Iterator[tuple[int, int, ByteRange]]:
        for number, wire, start, content in fields_of(self._read_at, place):
            self._left -= 1
            if self._left < 0:
                raise TooManyMessagesError
            if wire == MESSAGE:
                yield number, start, content

    def runs(self, outer: SignalFields) -> Iterator[SignalFields]:
        """Yield neighbouring small fields of a message together, and descend into large ones."""
        level, place, resource = outer
        wanted = NESTED if level else RESOURCE  # `resource_spans` has the same number
        begin = end = place.start
        for number, start, content in self._messages(place):
            if number != wanted:
                continue
            small = content.size <= SMALL_BYTES
            if end > begin and (start != end or not small or content.end - begin > SMALL_BYTES):
                yield SignalFields(level, ByteRange(begin, end), resource)
                begin = end = start
            if small or level == SCOPE:
                begin, end = begin if end > begin else start, content.end
            else:
                inner = resource if level else self._resource_of(content)
                yield from self.runs(SignalFields(level + 1, content, inner))
                begin = end = content.end
        if end > begin:
            yield SignalFields(level, ByteRange(begin, end), resource)

    def _resource_of(self, place: ByteRange) -> tuple[ByteRange, ...]:
        parts = tuple(part for number, _, part in self._messages(place) if number == RESOURCE)
        if sum(part.size for part in parts) > SMALL_BYTES:
            raise TooManyMessagesError
        return parts


def check_fields(data: bytes, descriptor: Descriptor) -> None:
    """Check the number of fields of a large message at all levels.

    Raises
    ------
    DecodeError
        The bytes are not a message.
    TooManyMessagesError
        It has more than `MAX_SIGNAL_FIELDS`.
    """
    if len(data) <= SMALL_BYTES:
        return

    def read_at(start: int, size: int) -> bytes:
        return data[start : start + size]

    left, waiting = MAX_SIGNAL_FIELDS, [(ByteRange(0, len(data)), descriptor, 0)]
    while waiting:
        place, kind, level = waiting.pop()
        if level > MAX_LEVELS:
            raise DecodeError("messages are nested too deeply")
        for number, wire, _, content in fields_of(read_at, place):
            left -= 1
            if left < 0:
                raise TooManyMessagesError
            field = kind.fields_by_number.get(number)
            if wire == MESSAGE and field is not None and field.type == FieldDescriptor.TYPE_MESSAGE:
                waiting.append((content, field.message_type, level + 1))
