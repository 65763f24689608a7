"""The rating an answer states on a scale: in JSON wherever it is, else in words; or a reason."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shared.parsing import Unreadable, objects_in

NO_RATING, SEVERAL, OFF_SCALE = "no_rating", "several_ratings", "outside_scale"
FIELD = "rating"

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_ALONE = re.compile(rf"\s*({_NUMBER})\s*\.?\s*")
_LABELLED = re.compile(
    rf"^[\s#>*_-]*(?:final |overall )?rating[\s*_]*[:=][\s*_]*({_NUMBER})[\s*_.]*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class RatingScale:
    """The ends of a rating, both included."""

    lowest: int
    highest: int
    whole: bool
    """Whether only whole numbers will do."""

    def holds(self, value: float) -> bool:
        """Tell whether this is a rating on the scale."""
        whole = not self.whole or value == int(value)
        return self.lowest <= value <= self.highest and whole

    def rounded(self, value: float) -> float:
        """Round to what the scale can say; a half goes to the even neighbour, so nothing drifts."""
        return float(round(value)) if self.whole else round(value, 1)


def rating_in(text: str, scale: RatingScale) -> float:
    """Return the one rating an answer states, or raise Unreadable; nothing is rounded."""
    alone = _ALONE.fullmatch(text)
    in_words = [*([alone[1]] if alone else []), *_LABELLED.findall(text)]
    found = set(_in_json(text)) or set(map(float, in_words))
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
