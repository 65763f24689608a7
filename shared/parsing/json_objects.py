"""JSON objects that stand in a text: fenced, after words, or cut off before their end."""

import json
import re
from collections.abc import Iterator
from typing import Any

MOST_OBJECTS = 50
"""How many positions in a text are tried as the beginning of an object."""

_DECODER = json.JSONDecoder(strict=False)
"""A line break inside quotes is no JSON. Models write it all the same, so it is let pass."""


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


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Return the JSON objects that stand in a text, fenced or not; none from inside another."""
    at = text.find("{")
    for _ in range(MOST_OBJECTS):
        if at < 0:
            return
        try:
            found, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


def _quoted(text: str, names: tuple[str, ...]) -> Iterator[str]:
    pattern = rf'"(?:{"|".join(map(re.escape, names))})"\s*:\s*"((?:[^"\\]|\\.)*+)'
    for found in re.finditer(pattern, text, re.IGNORECASE):
        said = found[1]
        try:
            yield str(json.loads(f'"{said}"', strict=False))
        except ValueError:
            yield said


class Unreadable(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """The text says none or several; the message is the reason, a few fixed words."""
