"""Reads a rating from an answer: JSON wherever it stands, plain words otherwise, or a reason."""

import re
from collections.abc import Iterator

from services.generator.domain.variables import Scale
from shared.parsing import Unreadable, objects_in

NO_RATING, SEVERAL, OFF_SCALE = "no_rating", "several_ratings", "outside_scale"
FIELD = "rating"

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_ALONE = re.compile(rf"\s*({_NUMBER})\s*\.?\s*")
_LABELLED = re.compile(
    rf"^[\s#>*_-]*(?:final |overall )?rating[\s*_]*[:=][\s*_]*({_NUMBER})[\s*_.]*$",
    re.IGNORECASE | re.MULTILINE,
)


def rating_in(text: str, scale: Scale) -> float:
    """Return the one rating an answer states, or raise Unread; nothing is rounded or clamped."""
    found = set(_in_json(text)) or set(_in_words(text))
    if not found:
        raise Unreadable(NO_RATING)
    if len(found) > 1:
        raise Unreadable(SEVERAL)
    rating = found.pop()
    if not scale.holds(rating):
        raise Unreadable(OFF_SCALE)
    return rating


def _in_json(text: str) -> Iterator[float]:
    for fields in objects_in(text):
        for name, value in fields.items():
            if name.casefold() == FIELD and (number := _number(value)) is not None:
                yield number


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    alone = _ALONE.fullmatch(value) if isinstance(value, str) else None
    return float(alone[1]) if alone else None


def _in_words(text: str) -> Iterator[float]:
    if alone := _ALONE.fullmatch(text):
        yield float(alone[1])
    yield from map(float, _LABELLED.findall(text))
