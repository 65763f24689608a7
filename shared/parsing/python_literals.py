"""Values that Python wrote with `str` into a cell: lists, dicts and arrays of numpy."""

import ast
import re
from collections.abc import Callable
from math import nan
from typing import Any

from shared.parsing.json_objects import encodable
from shared.parsing.nesting import MOST_LEVELS

NAMED_VALUES = {"None": None, "True": True, "False": False, "nan": nan, "NaN": nan, "NaT": None}
WRAPPERS = {"array", "Timestamp", "UUID", "Decimal"}
"""Calls that stand for their first argument; so do those of numpy, like `np.float64(0.5)`."""
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>[bBuUrR]{0,2}(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"))
    |(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>[A-Za-z_][\w.]*)
    |(?P<sign>[\[\](){}:,=]))""",
    re.VERBOSE | re.DOTALL,
)
_ENDS = {"[": "]", "(": ")", "{": "}"}


def python_literal(text: str) -> Any:
    """Return the value that `str` of a Python object wrote; nothing in it is executed.

    Commas are optional, because numpy writes arrays without them: `['a' 'b']`.

    Raises
    ------
    ValueError
        It is no such text, or nested deeper than `MOST_LEVELS`.
    """
    reader = _Reader(text)
    value = reader.value(0)
    if text[reader.at :].strip():
        raise ValueError("text follows the value")
    return encodable(value, text)


class _Reader:
    """Reads one value after another from a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def value(self, level: int) -> Any:
        kind, written = self._next()
        if level > MOST_LEVELS:
            raise ValueError("nested too deeply")
        if kind == "text":
            return ast.literal_eval(written)
        if kind == "number":
            return float(written) if set(written) & set(".eE") else int(written)
        if kind == "name":
            return self._named(written, level)
        if written == "{":
            return self._dict(level)
        if written in _ENDS:
            return self._items(_ENDS[written], lambda: self.value(level + 1))
        raise ValueError(f"unexpected {written}")

    def _named(self, name: str, level: int) -> Any:
        if name in NAMED_VALUES:
            return NAMED_VALUES[name]
        if not (name in WRAPPERS or name.startswith(("np.", "numpy."))) or not self._take("("):
            raise ValueError("unknown name")
        arguments = self._items(")", lambda: self._argument(level + 1))
        if not arguments:
            raise ValueError("a call without an argument")
        return arguments[0]

    def _argument(self, level: int) -> Any:
        """Return an argument; of `dtype=object`, which says nothing here, None."""
        start = self.at
        kind, _ = self._next()
        if kind == "name" and self._take("="):
            self._next()
            return None
        self.at = start
        return self.value(level)

    def _dict(self, level: int) -> Any:
        """Return a dict, or the values of a set as a list."""
        pairs = self._items("}", lambda: self._pair(level + 1))
        if all(len(pair) == 2 for pair in pairs):
            return {str(pair[0]): pair[1] for pair in pairs}
        if any(len(pair) == 2 for pair in pairs):
            raise ValueError("neither a dict nor a set")
        return [pair[0] for pair in pairs]

    def _pair(self, level: int) -> tuple[Any, ...]:
        key = self.value(level)
        return (key, self.value(level)) if self._take(":") else (key,)

    def _items(self, end: str, read: Callable[[], Any]) -> list[Any]:
        items = []
        while not self._take(end):
            items.append(read())
            self._take(",")
        return items

    def _take(self, sign: str) -> bool:
        """Step over a sign where it comes next."""
        token = _TOKEN.match(self._text, self.at)
        if token is None or token["sign"] != sign:
            return False
        self.at = token.end()
        return True

    def _next(self) -> tuple[str, str]:
        token = _TOKEN.match(self._text, self.at)
        if token is None or token.lastgroup is None:
            raise ValueError("no value of Python")
        self.at = token.end()
        return token.lastgroup, token[token.lastgroup]
