"""Numbers as people write them: `.618`, `4.1x`, `61.8 %`, `6.4e-04`, `1,234`, `12 points`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """What stands behind a number and changes how it is read."""

    PLAIN = "plain"
    PERCENT = "percent"
    POINTS = "points"
    """Percentage points: a difference of two shares."""
    TIMES = "times"
    """A factor: `4.1x`, `2.4 times`, `threefold`."""


_MINUS = str.maketrans({"\u2212": "-", "\u2009": " ", "\u202f": " ", "\u00a0": " "})
# Not inside a word (χ2, p53 and the like), and not a part of another number.
_NUMBER = re.compile(
    r"(?<![\w.])(?<![A-Za-z]-)"
    r"(?P<digits>[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)"
    r"(?:e[-+]?\d+|\s*[x\u00d7]\s*10\s*(?:\^|\*\*)\s*[({]?[-+]?\d+[)}]?)?)(?![\d,]*\.?\d)"
    r"(?P<unit>\s*(?:%|per\s?cent\b)(?:\s*(?:age)?\s*points?)?|\s*percentage[\s-]+points?"
    r"|\s*(?:pp|points?)\b|\s*[x\u00d7](?!\w)|[\s-]*(?:times|fold)\b)?(?![A-Za-z_])",
    re.IGNORECASE,
)
_POWER = re.compile(r"\s*[x\u00d7]\s*10\s*(?:\^|\*\*)\s*[({]?([-+]?\d+)[)}]?", re.IGNORECASE)
_SHAPES = re.compile(r"\b2\s*(?:x|\u00d7|by|-by-)\s*2\b", re.IGNORECASE)
_FACTORS = {"twice": 2, "double": 2, "doubled": 2, "triple": 3, "thrice": 3, "half": 0.5}
_FACTOR = re.compile(
    r"\b(?:(?P<word>twice|doubled?|triple|thrice)\b|(?P<half>half)\s+as\b|"
    r"(?P<count>two|three|four|five|six|seven|eight|nine|ten)(?:\s+times|-?fold)\b)",
    re.IGNORECASE,
)
_COUNTED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
IN_WORDS = 0.25
"""How far, as a share, a factor in words may be from the number that it stands for."""


@dataclass(frozen=True)
class WrittenNumber:
    """A number as it stands in a text."""

    text: str
    value: float
    step: float
    """The last digit that was written: the number is right within half of it."""
    unit: Unit
    start: int
    end: int
    signed: bool = False

    @property
    def whole(self) -> bool:
        """Whether it is written without decimals and without a unit, as counts are."""
        return self.unit is Unit.PLAIN and self.step == 1

    def rounds(self, value: float) -> bool:
        """Whether this is the value, rounded to the digits that were written."""
        return abs(value - self.value) <= 0.5 * self.step * (1 + 1e-9)


def masked(text: str) -> str:
    """Return a text of the same length, with plain blanks and minus signs, without `2x2`."""
    return _SHAPES.sub(lambda found: " " * len(found[0]), text.translate(_MINUS))


def numbers_in(text: str) -> Iterator[WrittenNumber]:
    """Return the numbers of a text in their order; `2x2` names a shape and is left out."""
    text = masked(text)
    found = [_number(each) for each in _NUMBER.finditer(text)]
    taken = {place for each in found for place in range(each.start, each.end)}
    words = (_factor(each) for each in _FACTOR.finditer(text) if each.start() not in taken)
    yield from sorted([*found, *words], key=lambda each: each.start)


def _number(found: re.Match[str]) -> WrittenNumber:
    digits = found["digits"]
    power = _POWER.search(digits)
    plain = (digits[: power.start()] if power else digits).replace(",", "").lower()
    mantissa, _, exponent = plain.partition("e")
    scale = 10.0 ** int(power[1] if power else exponent or 0)
    step = 10.0 ** -len(mantissa.partition(".")[2]) * scale
    start = found.start() + len(digits) - len(digits.lstrip())
    return WrittenNumber(
        found[0].strip(),
        float(mantissa) * scale,
        step,
        _unit(found["unit"] or ""),
        start,
        found.end(),
        digits.lstrip()[:1] in "+-",
    )


def _unit(text: str) -> Unit:
    text = text.lower().strip(" -")
    if "point" in text or text == "pp":
        return Unit.POINTS
    if text.startswith(("%", "per")):
        return Unit.PERCENT
    return Unit.TIMES if text else Unit.PLAIN


def _factor(found: re.Match[str]) -> WrittenNumber:
    word = (found["word"] or found["half"] or "").lower()
    value = _FACTORS[word] if word else _COUNTED.index(found["count"].lower()) + 2
    step = 2 * IN_WORDS * value
    return WrittenNumber(found[0], float(value), step, Unit.TIMES, found.start(), found.end())
