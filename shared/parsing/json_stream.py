"""A JSON object read as it comes: the items of one list one by one, and all other fields."""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any

from biaswatch.shared.errors import UsageError

BLANK = " \t\n\r"
ENDS = f"{BLANK},:]}}"
"""What follows a name or a value."""
LARGEST_VALUE = 2 * 1024 * 1024
"""Characters of one item, or of one of the other fields."""


_BLANKS = re.compile(f"[{BLANK}]*+")


def after_blanks(text: str, at: int) -> int:
    """Return the place of the next sign that is not blank."""
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at


class _Expects(Enum):
    """What comes next in the text."""

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


class ListInObject:
    """Takes the text of an object in pieces; holds the fields, and never the items of the list."""

    def __init__(self, name: str, decoder: json.JSONDecoder) -> None:
        """Take apart an object with a list of this name, decoding values as given."""
        self.fields: dict[str, Any] = {}
        """The fields of the object beside the list."""
        self.has_list = False
        """Whether the list has begun."""
        self._name = name
        self._decode = decoder.raw_decode
        self._utf8 = getincrementaldecoder("utf-8")()
        self._text, self._at = "", 0
        self._expects = _Expects.OBJECT
        self._field = ""

    @property
    def is_object(self) -> bool:
        """Whether the text begins like an object."""
        return self._expects is not _Expects.OBJECT

    @property
    def finished(self) -> bool:
        """Whether the object has ended."""
        return self._expects is _Expects.NOTHING

    def read(self, data: bytes, *, last: bool) -> Iterator[Any]:
        """Yield the items that end in these bytes, which follow those before.

        Raises
        ------
        JSONDecodeError, UnicodeDecodeError
            The text is not JSON.
        UsageError
            The list is there twice, or one value is too large.
        """
        self._text = self._text[self._at :] + self._utf8.decode(data, final=last)
        self._at = 0
        while self._skip_blanks():
            found: list[Any] = []
            if not self._step(found, last=last):
                break
            yield from found
        if last and not self.finished:
            raise self._error("the text ends too early")

    def _skip_blanks(self) -> bool:
        self._at = after_blanks(self._text, self._at)
        return self._at < len(self._text)

    def _step(self, found: list[Any], *, last: bool) -> bool:
        """Go on by one sign or value; return False where more of the text is needed."""
        sign, expects = self._text[self._at], self._expects
        if expects in {_Expects.VALUE, _Expects.ITEM, _Expects.NAME}:
            return self._value(found, last=last)
        if expects is _Expects.ITEM_OR_END and sign != "]":
            self._expects = _Expects.ITEM
        elif expects is _Expects.NAME_OR_END and sign != "}":
            self._expects = _Expects.NAME
        else:
            self._expects = self._after(sign)
            self._at += 1
        return True

    def _after(self, sign: str) -> _Expects:
        """Return what follows a sign where it is expected."""
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
        raise self._error("another sign is expected")

    def _value(self, found: list[Any], *, last: bool) -> bool:
        """Read a name, a field's value or an item; a list of items is only begun."""
        if self._expects is _Expects.VALUE and self._field == self._name and self._begin_list():
            return True
        value, end = self._decoded(last=last)
        if end is None:
            return False
        if self._expects is _Expects.NAME:
            if not isinstance(value, str):
                raise self._error("a name in quotes is expected")
            self._field, self._expects = value, _Expects.COLON
        elif self._expects is _Expects.ITEM:
            found.append(value)
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

    def _decoded(self, *, last: bool) -> tuple[Any, int | None]:
        """Return the value that begins here and its end; no end where it may go on."""
        left = len(self._text) - self._at
        try:
            value, end = self._decode(self._text, self._at)
        except json.JSONDecodeError as error:
            if last:
                raise json.JSONDecodeError(error.msg, self._text, error.pos) from None
            if left > LARGEST_VALUE:
                raise UsageError(
                    f"A value in the body has more than {LARGEST_VALUE >> 20} MiB, or is no JSON."
                ) from None
            return None, None
        # A number may go on: only a sign that ends it tells.
        ended = end < len(self._text) and self._text[end] in ENDS
        return (value, end) if last or ended else (None, None)

    def _error(self, said: str) -> json.JSONDecodeError:
        return json.JSONDecodeError(said, self._text, min(self._at, len(self._text)))


READ_BYTES = 64 * 1024
"""Bytes that are read at once."""
MAX_STEPS, STEPS_OF_ITEM = 2_500_000, 15
"""Fields that are entered, items as several, and opening braces of decoded values, in one text."""


class JsonReader:
    """Reads a text from its beginning to its end; holds one value of it at a time."""

    def __init__(self, read: Callable[[int], bytes], decoder: json.JSONDecoder) -> None:
        """Read from a function that takes a number of bytes and returns at most as many."""
        self._read = read
        self._decode = decoder.raw_decode
        self._utf8 = getincrementaldecoder("utf-8")()
        self._text, self._at = "", 0
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
        """Yield once for each item of a list; the caller reads the item before the next."""
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
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more:
                    raise self._error(error.msg) from None
            else:
                # Only the sign after a number tells that it has ended.
                if not self._more or (end < len(self._text) and self._text[end] in ENDS):
                    self._count(self._text.count("{", self._at, end))
                    self._at = end
                    return value
            size = len(self._text) - self._at
            if size >= LARGEST_VALUE:
                raise UsageError(
                    f"A value in the body has more than {LARGEST_VALUE >> 20} MiB, or is no JSON."
                )
            self._fill(min(max(READ_BYTES, size), LARGEST_VALUE - size))

    def peek(self) -> str:
        """Return the next sign that is not blank, and an empty text at the end."""
        while True:
            self._at = after_blanks(self._text, self._at)
            if self._at < len(self._text) or not self._more:
                return self._text[self._at : self._at + 1]
            self._fill(READ_BYTES)

    def end(self) -> None:
        """Raise JSONDecodeError where more follows."""
        if self.peek():
            raise self._error("the text goes on behind its value")

    def _fill(self, size: int) -> None:
        data = self._read(size)
        self._more = bool(data)
        self._before += self._at
        self._text = self._text[self._at :] + self._utf8.decode(data, final=not data)
        self._at = 0

    def _count(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
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

    def _error(self, reason: str) -> json.JSONDecodeError:
        return json.JSONDecodeError(reason, "", 0)
