"""Values in the notation of `str` in Python: lists, dicts and arrays of numpy."""

import ast
import re
from collections.abc import Callable
from datetime import date, datetime
from math import inf, nan
from typing import Any

from biaswatch.shared.parsing.json_objects import MAX_LEVELS, encodable

NAMED_VALUES = {
    "None": None, "True": True, "False": False, "nan": nan, "NaN": nan, "NaT": None, "inf": inf,
    "datetime.timezone.utc": None, "np.True_": True, "np.False_": False,
}  # fmt: skip
WRAPPERS = {"array", "frozenset", "deque", "defaultdict", "mappingproxy"}
"""Calls with the value of their first argument, like `np.float64(0.5)`."""
DATES: dict[str, Callable[..., date]] = {"datetime.datetime": datetime, "datetime.date": date}
_CLASS = re.compile(r"(?:\w+\.)*_*[A-Z]\w*|datetime\.\w+|namespace")
_ENUM = re.compile(r"<[\w.]+: (.+)>", re.DOTALL)
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>[bBuUrR]{0,2}(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"))
    |(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]inf\b)
    |(?P<name>[A-Za-z_][\w.]*)
    |(?P<object><(?:[^<>'"]|'[^']*'|"[^"]*"){1,999}>)
    |(?P<sign>[\[\](){}:,=]))""",
    re.VERBOSE | re.DOTALL,
)
_ENDS = {"[": "]", "(": ")", "{": "}"}


def python_literal(text: str) -> Any:
    """Return the value of a text written by `str`; nothing in it is executed.

    Commas are optional, because numpy writes arrays without them: `['a' 'b']`.

    Raises
    ------
    ValueError
        The text is invalid, or nested deeper than `MAX_LEVELS`.
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
        kind, literal = self._next()
        if level > MAX_LEVELS:
            raise ValueError("nested too deeply")
        if kind == "text":
            return ast.literal_eval(literal)
        if kind == "number":
            return float(literal) if set(literal) & set(".eEf") else int(literal)
        if kind == "name":
            return self._named(literal, level)
        if kind == "object":
            return _value_of_object(literal, level)
        if literal == "{":
            return self._dict(level)
        if literal in _ENDS:
            return self._items(_ENDS[literal], lambda: self.value(level + 1))
        raise ValueError(f"unexpected {literal}")

    def _named(self, name: str, level: int) -> Any:
        if name in NAMED_VALUES:
            return NAMED_VALUES[name]
        is_call = name in WRAPPERS | {"set"} or name.startswith(("np.", "numpy."))
        if not (is_call or _CLASS.fullmatch(name)) or not self._take("("):
            raise ValueError("unknown name")
        arguments = self._items(")", lambda: self._argument(level + 1))
        positional = [value for keyword, value in arguments if not keyword]
        return _value_of_call(name, positional, {key: value for key, value in arguments if key})

    def _argument(self, level: int) -> tuple[str, Any]:
        """Return the keyword of an argument, empty without one, and its value."""
        start = self.at
        kind, name = self._next()
        if kind == "name" and self._take("="):
            return name, None if self._take_type() else self.value(level)
        self.at = start
        return "", self.value(level)

    def _take_type(self) -> bool:
        """Skip the name of a type, as in `dtype=object`, if it is next."""
        start = self.at
        kind, name = self._next()
        if kind == "name" and name not in NAMED_VALUES and not self._take("("):
            return True
        self.at = start
        return False

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
        """Skip a punctuation character, if it is next."""
        token = _TOKEN.match(self._text, self.at)
        if token is None or token["sign"] != sign:
            return False
        self.at = token.end()
        return True

    def _next(self) -> tuple[str, str]:
        token = _TOKEN.match(self._text, self.at)
        if token is None or token.lastgroup is None:
            raise ValueError("not a value of Python")
        self.at = token.end()
        return token.lastgroup, token[token.lastgroup]


def _value_of_object(literal: str, level: int) -> Any:
    """Return the value of a member of an enumeration; None for other objects."""
    member = _ENUM.fullmatch(literal)
    return _Reader(member[1]).value(level + 1) if member else None


def _value_of_call(name: str, positional: list[Any], named: dict[str, Any]) -> Any:
    """Return the value of a call: a date, its first argument, or its fields."""
    if name in DATES:
        return _iso_date(name, positional)
    if name == "OrderedDict" and positional:
        return _from_pairs(positional[0])
    if name == "defaultdict":
        positional = positional[1:]
    if positional:
        return positional[0]
    if name in {"set", "frozenset"}:
        return []
    if name in WRAPPERS or name.startswith(("np.", "numpy.")):
        raise ValueError("a call without an argument")
    return named


def _from_pairs(pairs: Any) -> Any:
    if isinstance(pairs, dict):
        return pairs
    if not isinstance(pairs, list) or any(
        not isinstance(pair, list) or len(pair) != 2 for pair in pairs
    ):
        raise ValueError("neither a dict nor pairs")
    return {str(key): value for key, value in pairs}


def _iso_date(name: str, numbers: list[Any]) -> str:
    try:
        return DATES[name](*numbers).isoformat()
    except (TypeError, OverflowError):
        raise ValueError("invalid date") from None
