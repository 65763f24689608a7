"""JSON read step by step from a stream: lists and objects are entered, values are decoded."""

import json
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Any

from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.json_stream import ENDS, LARGEST_VALUE, after_blanks

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
