"""Streaming JSON: an object with one large list, and a reader of single values."""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any

from biaswatch.shared.errors import UsageError

BLANK = " \t\n\r"
ENDS = f"{BLANK},:]}}"
"""Characters that may follow a value."""
MAX_VALUE_CHARACTERS = 2 * 1024 * 1024
"""Bound of one item or one field."""
TOO_LARGE = f"A value in the body has more than {MAX_VALUE_CHARACTERS >> 20} MiB, or is not JSON."


class TooLargeValueError(UsageError):
    """A value is above `MAX_VALUE_CHARACTERS`."""


_BLANKS = re.compile(f"[{BLANK}]*+")


def after_blanks(text: str, at: int) -> int:
    """Return the position of the next character that is not blank."""
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


class _Expects(Enum):
    """The next token in the text."""

    OBJECT = auto()
    NAME_OR_END = auto()
    NAME = auto()
    COLON = auto()
    VALUE = auto()
    ITEM_OR_END = auto()
    ITEM = auto()
    AFTER_ITEM = auto()
    AFTER_VALUE = auto()
    NOTHING = auto()


class _JsonText:
    """The part of a text that was received and is not yet read."""

    def __init__(self, decoder: json.JSONDecoder) -> None:
        self._decode = decoder.raw_decode
        self._utf8 = getincrementaldecoder("utf-8")()
        self._text, self._at = "", 0

    def _append(self, data: bytes, *, last: bool) -> None:
        self._text = self._text[self._at :] + self._utf8.decode(data, final=last)
        self._at = 0

    def _skip_blanks(self) -> bool:
        """Move to the next character that is not blank; return False if it was not received."""
        self._at = after_blanks(self._text, self._at)
        return self._at < len(self._text)

    def _decoded(self, *, last: bool) -> tuple[Any, int] | None:
        """Return the next value and its end; None if it may be incomplete."""
        try:
            value, end = self._decode(self._text, self._at)
        except json.JSONDecodeError as error:
            if last:
                raise json.JSONDecodeError(error.msg, self._text, error.pos) from None
        else:
            # Only the character after a number shows that it is complete.
            if last or (end < len(self._text) and self._text[end] in ENDS):
                return value, end
        if len(self._text) - self._at >= MAX_VALUE_CHARACTERS:
            raise TooLargeValueError(TOO_LARGE)
        return None

    def _error(self, reason: str) -> json.JSONDecodeError:
        return json.JSONDecodeError(reason, self._text, min(self._at, len(self._text)))


class ListInObject(_JsonText):
    """Reads an object in pieces; keeps its fields, but not the items of its list."""

    def __init__(self, name: str, decoder: json.JSONDecoder) -> None:
        """Read an object whose list has this name, with a decoder of values."""
        super().__init__(decoder)
        self.fields: dict[str, Any] = {}
        """The fields of the object, without the list."""
        self.has_list = False
        """True if the list was reached."""
        self._name = name
        self._expects = _Expects.OBJECT
        self._field = ""

    @property
    def is_object(self) -> bool:
        """True if the text starts an object."""
        return self._expects is not _Expects.OBJECT

    @property
    def finished(self) -> bool:
        """True if the object has ended."""
        return self._expects is _Expects.NOTHING

    def read(self, data: bytes, *, last: bool) -> Iterator[Any]:
        """Yield the items that end in the next bytes.

        Raises
        ------
        JSONDecodeError, UnicodeDecodeError
            The text is not JSON.
        UsageError
            The list occurs twice, or a value is too large.
        """
        self._append(data, last=last)
        while self._skip_blanks():
            items: list[Any] = []
            if not self._step(items, last=last):
                break
            yield from items
        if last and not self.finished:
            raise self._error("the text ends too early")

    def _step(self, items: list[Any], *, last: bool) -> bool:
        """Read one token or value; return False if more text is needed."""
        sign, expects = self._text[self._at], self._expects
        if expects in {_Expects.VALUE, _Expects.ITEM, _Expects.NAME}:
            return self._value(items, last=last)
        if expects is _Expects.ITEM_OR_END and sign != "]":
            self._expects = _Expects.ITEM
        elif expects is _Expects.NAME_OR_END and sign != "}":
            self._expects = _Expects.NAME
        else:
            self._expects = self._after(sign)
            self._at += 1
        return True

    def _after(self, sign: str) -> _Expects:
        """Return the token expected after a character; raise if it is not expected here."""
        match self._expects, sign:
            case _Expects.OBJECT, "{":
                return _Expects.NAME_OR_END
            case _Expects.COLON, ":":
                return _Expects.VALUE
            case ((_Expects.ITEM_OR_END | _Expects.AFTER_ITEM), "]"):
                return _Expects.AFTER_VALUE
            case _Expects.AFTER_ITEM, ",":
                return _Expects.ITEM
            case _Expects.AFTER_VALUE, ",":
                return _Expects.NAME
            case ((_Expects.NAME_OR_END | _Expects.AFTER_VALUE), "}"):
                return _Expects.NOTHING
        raise self._error("another character is expected")

    def _value(self, items: list[Any], *, last: bool) -> bool:
        """Read a name, the value of a field or an item; enter the list."""
        if self._expects is _Expects.VALUE and self._field == self._name and self._begin_list():
            return True
        if (decoded := self._decoded(last=last)) is None:
            return False
        value, end = decoded
        if self._expects is _Expects.NAME:
            if not isinstance(value, str):
                raise self._error("a name in quotes is expected")
            self._field, self._expects = value, _Expects.COLON
        elif self._expects is _Expects.ITEM:
            items.append(value)
            self._expects = _Expects.AFTER_ITEM
        else:
            self.fields[self._field] = value
            self._expects = _Expects.AFTER_VALUE
        self._at = end
        return True

    def _begin_list(self) -> bool:
        if self._text[self._at] != "[":
            return False
        if self.has_list:
            raise UsageError(f"The body has two lists {self._name}; send one.")
        self.has_list = True
        self._at += 1
        self._expects = _Expects.ITEM_OR_END
        return True


READ_BYTES = 64 * 1024
"""Size of one read."""
MAX_STEPS, STEPS_OF_ITEM = 2_500_000, 15
"""Bound on the work for one text: fields, objects, and items, which count as several."""


class JsonReader(_JsonText):
    """Reads a text from start to end, with one value in memory at a time."""

    def __init__(
        self,
        read: Callable[[int], bytes],
        decoder: json.JSONDecoder,
        max_steps: float | None = None,
    ) -> None:
        """Read from a function that returns at most the requested number of bytes.

        The bound on the work is `MAX_STEPS` by default.
        """
        super().__init__(decoder)
        self._read = read
        self._max_steps = MAX_STEPS if max_steps is None else max_steps
        self._more = True
        self._steps = 0
        self._before = 0

    @property
    def position(self) -> int:
        """The number of characters before the next one."""
        return self._before + self._at

    def fields(self) -> Iterator[str]:
        """Yield the names of an object; the caller reads the value of each before the next."""
        self._expect("{")
        if self._skip_if("}"):
            return
        while True:
            if not isinstance(name := self.value(), str):
                raise self._error("a name in quotes is expected")
            self._expect(":")
            yield name
            if self._skip_if("}"):
                return
            self._expect(",")

    def items(self) -> Iterator[None]:
        """Yield once per item of a list; the caller reads each item before the next."""
        self._expect("[")
        if self._skip_if("]"):
            return
        while True:
            self._count(STEPS_OF_ITEM)
            yield
            if self._skip_if("]"):
                return
            self._expect(",")

    def value(self) -> Any:
        """Return the next value.

        Raises
        ------
        JSONDecodeError, UnicodeDecodeError
            The text is not JSON.
        UsageError
            The value is too large, or the text has too many of them.
        """
        self._count()
        self.peek()
        while (decoded := self._decoded(last=not self._more)) is None:
            size = len(self._text) - self._at
            self._fill(min(max(READ_BYTES, size), MAX_VALUE_CHARACTERS - size))
        value, end = decoded
        self._count(self._text.count("{", self._at, end))
        self._at = end
        return value

    def peek(self) -> str:
        """Return the next character that is not blank; empty at the end."""
        while not self._skip_blanks() and self._more:
            self._fill(READ_BYTES)
        return self._text[self._at : self._at + 1]

    def end(self) -> None:
        """Raise JSONDecodeError if more follows."""
        if self.peek():
            raise self._error("the text continues after its value")

    def _fill(self, size: int) -> None:
        data = self._read(size)
        self._more = bool(data)
        self._before += self._at
        self._append(data, last=not data)

    def _count(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > self._max_steps:
            raise UsageError(f"The body has more than {MAX_STEPS:,} fields, items and objects.")

    def _expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self._error(f"{sign} is expected")
        self._at += 1

    def _skip_if(self, sign: str) -> bool:
        if self.peek() != sign:
            return False
        self._at += 1
        return True
