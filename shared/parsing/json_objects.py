"""JSON values in texts: whole, fenced, among words, or cut off."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

MAX_OBJECTS = 50
"""Positions in a text that are tried as the start of an object."""
MAX_READINGS = 4
"""Bound on the work for objects that never end, as a multiple of the length of the text."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
MAX_DIGITS = 300
"""Longer integers are read as null."""


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(
    strict=False,
    parse_float=_finite,
    parse_int=lambda digits: int(digits) if len(digits) <= MAX_DIGITS else None,
    parse_constant=lambda _: None,
)
"""Infinite numbers and NaN are null; line breaks inside quotes are accepted."""


def json_in(text: str) -> Any:
    """Decode a text that is JSON; all numbers are finite and all texts can be encoded.

    Raises
    ------
    ValueError
        It is not JSON, or nested too deeply.
    """
    try:
        return encodable(_DECODER.decode(text), text)
    except RecursionError:
        raise ValueError("The JSON is nested too deeply.") from None


def encodable(value: Any, text: str) -> Any:
    """Replace unpaired surrogates in a value decoded from a text, if the text has any."""
    return without_surrogates(value) if _ESCAPED_SURROGATE.search(text) else value


def without_surrogates(value: Any) -> Any:
    """Return a JSON value with U+FFFD for each surrogate, which cannot be encoded."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(name): without_surrogates(item) for name, item in value.items()}
    return value


def values_of(text: str, names: tuple[str, ...]) -> Iterator[object]:
    """Return the values of these fields in the objects of a text, in order.

    If there are none, return quoted texts after the names, as of an object that is cut off.
    """
    values = [
        value
        for fields in objects_in(text)
        for name, value in fields.items()
        if name.casefold() in names
    ]
    yield from values or _quoted(text, names)


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts nested in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, without those inside another."""
    at, left = text.find("{"), MAX_READINGS * len(text)
    for _ in range(MAX_OBJECTS):
        if at < 0 or left < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
            value = encodable(value, text)
        except json.JSONDecodeError as error:
            left -= error.pos - at
            end = at + 1
        except (ValueError, RecursionError):
            left -= len(text)
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _quoted(text: str, names: tuple[str, ...]) -> Iterator[str]:
    pattern = rf'"(?:{"|".join(map(re.escape, names))})"\s*:\s*"((?:[^"\\]|\\.)*+)'
    for match in re.finditer(pattern, text, re.IGNORECASE):
        try:
            yield str(json_in(f'"{match[1]}"'))
        except ValueError:
            yield match[1]


class Unreadable(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """The text has none or several; the message is the reason, a short fixed phrase."""


MAX_LEVELS = 100
"""Levels of nesting, far below the recursion limit of decoders."""


def is_too_deep(value: Any, levels: int = MAX_LEVELS) -> bool:
    """Return whether lists and mappings are nested more than a number of levels."""
    inner = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inner = [
            item
            for outer in inner
            for item in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(item, dict | list)
        ]
        if not inner:
            return False
    return True
