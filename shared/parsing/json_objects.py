"""JSON objects that stand in a text: fenced, after words, or cut off before their end."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

MOST_OBJECTS = 50
"""How many positions in a text are tried as the beginning of an object."""
MOST_READINGS = 4
"""How often over, at most, a text is read that begins objects and never ends them."""

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
LONGEST_NUMBER = 300
"""Digits; a longer number is none that anybody means, and fits no statistic."""


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(
    strict=False,
    parse_float=_finite,
    parse_int=lambda digits: int(digits) if len(digits) <= LONGEST_NUMBER else None,
    parse_constant=lambda _: None,
)
"""Numbers without end and NaN are null. A line break inside quotes is no JSON; models write it all
the same, so it is let pass."""


def json_in(text: str) -> Any:
    """Read a text that is JSON from end to end: numbers are finite, texts can be encoded.

    Raises
    ------
    ValueError
        It is no JSON, or nested deeper than anything is read.
    """
    try:
        return encodable(_DECODER.decode(text), text)
    except RecursionError:
        raise ValueError("The JSON is nested too deeply.") from None


def encodable(value: Any, text: str) -> Any:
    """Replace halves of pairs of characters, which no encoding has; rarely is there any."""
    return without_half_pairs(value) if _ESCAPED_HALF.search(text) else value


def without_half_pairs(value: Any) -> Any:
    """Return a value of JSON with U+FFFD for each half of a pair of characters in it."""
    if isinstance(value, str):
        return value if value.isascii() else _HALF_A_PAIR.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_half_pairs(item) for item in value]
    if isinstance(value, dict):
        return {without_half_pairs(name): without_half_pairs(item) for name, item in value.items()}
    return value


def values_of(text: str, names: tuple[str, ...]) -> Iterator[object]:
    """Return the values that stand under these names in the objects of a text, in order.

    Where an object is broken or cut off, what stands in quotes behind the name is given.
    """
    found = [
        value
        for each in objects_in(text)
        for name, value in each.items()
        if name.casefold() in names
    ]
    yield from found or _quoted(text, names)


def texts_in(value: object) -> Iterator[str]:
    """Return the texts of a JSON value in their order, however they are nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Return the JSON objects that stand in a text, fenced or not; none from inside another."""
    at, left = text.find("{"), MOST_READINGS * len(text)
    for _ in range(MOST_OBJECTS):
        if at < 0 or left < 0:
            return
        try:
            found, end = _DECODER.raw_decode(text, at)
            found = encodable(found, text)
        except json.JSONDecodeError as error:
            left -= error.pos - at
            end = at + 1
        except (ValueError, RecursionError):
            left -= len(text)
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


def _quoted(text: str, names: tuple[str, ...]) -> Iterator[str]:
    pattern = rf'"(?:{"|".join(map(re.escape, names))})"\s*:\s*"((?:[^"\\]|\\.)*+)'
    for found in re.finditer(pattern, text, re.IGNORECASE):
        said = found[1]
        try:
            yield str(json_in(f'"{said}"'))
        except ValueError:
            yield said


class Unreadable(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """The text says none or several; the message is the reason, a few fixed words."""


MOST_LEVELS = 100
"""More than anybody writes, and far from where reading would end in a fault."""


def is_too_deep(value: Any, levels: int = MOST_LEVELS) -> bool:
    """Return whether lists and mappings lie deeper in one another than so many levels."""
    inner = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inner = [
            each
            for outer in inner
            for each in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(each, dict | list)
        ]
        if not inner:
            return False
    return True
