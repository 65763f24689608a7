"""Numbers as people write them: `.618`, `61.8 %`, `1,234`, `6.4e-04`, `twenty-one`, `twice`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """The unit beside a number."""

    PLAIN = "plain"
    PERCENT = "percent"
    POINTS = "points"
    TIMES = "times"


@dataclass(frozen=True)
class WrittenNumber:
    """A number in a text, with its place."""

    text: str
    value: float
    step: float
    """Unit of the last digit; infinite precision is 0."""
    unit: Unit
    start: int
    end: int
    signed: bool = False
    words: bool = False
    """True if it is written in words."""
    rough: bool = False
    """True if the text calls it approximate."""

    def equals(self, value: float) -> bool:
        """Tell whether a value rounds to this number; a rough one may be a twentieth off."""
        if self.signed or value >= 0:
            off = abs(self.value - value)
        else:
            off = min(abs(self.value - value), abs(self.value + value))
        slack = 0.05 * abs(value) if self.rough else 0.0
        return off <= max(0.5000001 * self.step, slack) + 1e-12


_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_WORD_VALUES = {word: n for n, word in enumerate(_ONES)} | _TENS
_ORDINALS = {"third": 3, "quarter": 4, "fifth": 5, "tenth": 10, "half": 2}
_WORD = "|".join(sorted(_WORD_VALUES, key=len, reverse=True))
_UNIT = (
    r"(?P<points>\s*-?(?:%|per\s?cent(?:age)?)[\s-]*points?\b|\s*pp\b)|(?P<percent>\s*%|[\s-]per\s?cent\b)"
    r"|(?P<times>\s*(?:[x\u00d7](?!\w)|-?fold\b|\s+times\b))"
)
_DIGITS = re.compile(
    r"(?<![\w.])(?P<sign>[-+\u2212](?=[\d.]))?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?P<power>e[-+]?\d+)?"
    rf"(?:{_UNIT})?(?![\w]|\.\d)",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rf"\b(?!one\b(?!\s*(?:%|per\s?cent)))(?P<first>{_WORD})(?:-(?P<second>{'|'.join(_ONES[1:10])}))?\b(?:{_UNIT})?",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    r"\b(?:(?P<many>a|one|two|three)[\s-]+)?(?P<part>thirds?|quarters?|fifths?|tenths?|half)"
    r"(?=\s+(?:of|as|the|that|what)\b)",
    re.IGNORECASE,
)
_FACTOR = re.compile(
    r"\b(?:(?P<two>twice|doubled?)|(?P<three>triple[ds]?|thrice))\b", re.IGNORECASE
)
_IN_ALL = re.compile(
    rf"\b(?P<some>\d+|{_WORD})\s+(?:in|out\s+of)\s+(?:every\s+)?(?P<all>\d+|{_WORD})\b",
    re.IGNORECASE,
)
_ROUGH = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|nearly|almost|some|circa|close\s+to"
    r"|(?:just|slightly|a\s+little|well)\s+(?:over|under|above|below))|~)\s*$",
    re.IGNORECASE,
)
_SKIPPED = re.compile(
    r"\b2\s*(?:x|\u00d7|by)\s*2\b|[\u03c7X](?:2|\u00b2|\^2)(?!\.\d)(?:\s*\([^)]*\))?|\bone-sided\b|\btwo-sided\b"
    r"|\bfour-fifths\b|\b(?:in|since)\s(?:19|20)\d\d\b|\(\d+\s*,\s*N\s*=[^)]*\)",
    re.IGNORECASE,
)
MAX_ROUGH_CHARS = 24


def numbers_in(text: str) -> list[WrittenNumber]:
    """Return the numbers of a text in their order; overlapping ones once."""
    taken = [match.span() for match in _SKIPPED.finditer(text)]
    numbers: list[WrittenNumber] = []
    for number in _found(text):
        if all(number.end <= start or number.start >= end for start, end in taken):
            taken.append((number.start, number.end))
            numbers.append(number)
    return sorted(numbers, key=lambda number: number.start)


def _found(text: str) -> Iterator[WrittenNumber]:
    for match in _IN_ALL.finditer(text):
        some, every = (_value(match[name]) for name in ("some", "all"))
        if every in {10.0, 100.0} and some < every:
            yield _number(text, match, some / every, 1 / every, Unit.PLAIN, words=True)
    for match in _FRACTION.finditer(text):
        many = {None: 1, "a": 1, "one": 1, "two": 2, "three": 3}[
            match["many"].lower() if match["many"] else None
        ]
        part = _ORDINALS[match["part"].lower().removesuffix("s")]
        yield _number(text, match, many / part, 0.0, Unit.TIMES, words=True)
    for match in _FACTOR.finditer(text):
        yield _number(text, match, 2.0 if match["two"] else 3.0, 0.0, Unit.TIMES, words=True)
    for match in _DIGITS.finditer(text):
        yield _from_digits(text, match)
    for match in _WORDS.finditer(text):
        value = _WORD_VALUES[match["first"].lower()] + _value(match["second"] or "zero")
        yield _number(text, match, float(value), 1.0, _unit(match), words=True)


def _from_digits(text: str, match: re.Match[str]) -> WrittenNumber:
    digits, power = match["digits"].replace(",", ""), match["power"] or ""
    exponent = int(power[1:] or 0) if power else 0
    step = 10.0 ** (exponent - len(digits.partition(".")[2]))
    sign = -1.0 if match["sign"] in {"-", "\u2212"} else 1.0
    return _number(
        text, match, sign * float(digits + power), step, _unit(match), signed=bool(match["sign"])
    )


def _number(
    text: str,
    match: re.Match[str],
    value: float,
    step: float,
    unit: Unit,
    *,
    signed: bool = False,
    words: bool = False,
) -> WrittenNumber:
    before = text[max(0, match.start() - MAX_ROUGH_CHARS) : match.start()]
    rough = _ROUGH.search(before) is not None
    return WrittenNumber(
        match[0], value, step, unit, match.start(), match.end(), signed, words, rough
    )


def _unit(match: re.Match[str]) -> Unit:
    for unit in (Unit.POINTS, Unit.PERCENT, Unit.TIMES):
        if match[unit.value]:
            return unit
    return Unit.PLAIN


def _value(word: str) -> float:
    return float(word) if word.isdigit() else float(_WORD_VALUES[word.lower()])
