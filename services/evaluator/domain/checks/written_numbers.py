"""Numbers as people write them: `.618`, `4.1x`, `61.8 %`, `6.4e-04`, `1,234`, `12 points`."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache


class Unit(StrEnum):
    """What stands behind a number and changes how it is read."""

    PLAIN = "plain"
    PERCENT = "percent"
    POINTS = "points"
    """Percentage points: a difference of two shares."""
    TIMES = "times"
    """A factor: `4.1x`, `2.4 times`, `threefold`."""


_MINUS = str.maketrans({"\u2212": "-", "\u2009": " ", "\u202f": " ", "\u00a0": " "})
# Not inside a word (χ2, p53 and the like), and not a part of another number. What is looked at
# behind a number is short, however long a list without blanks it stands in.
_NUMBER = re.compile(
    r"(?<![\w.])(?<![A-Za-z]-)"
    r"(?P<digits>[-+]?(?:(?:\d{1,3}(?:,\d{3}){1,6}|\d+)(?:\.\d+)?|\.\d+)"
    r"(?:e[-+]?\d+|\s*[x\u00d7]\s*10\s*(?:\^|\*\*)\s*[({]?[-+]?\d+[)}]?)?)(?!,*\.?\d)"
    r"(?P<unit>\s*(?:%|per\s?cent\b)(?:\s*(?:age)?\s*points?)?|\s*percentage[\s-]+points?"
    r"|[\s-]*(?:pp|points?)\b|\s*[x\u00d7](?!\w)|[\s-]*(?:times|fold)\b)?(?:(?<=%)|(?![A-Za-z_]))",
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
_HALVES = re.compile(
    r"\b(?P<whole>one|two|three|four|five)\s+and\s+a\s+half\s+times\b", re.IGNORECASE
)
_SHARE_WORDS = {"half": 1 / 2, "third": 1 / 3, "thirds": 1 / 3, "quarter": 1 / 4, "quarters": 1 / 4}
_SHARE_WORDS |= {"fifth": 1 / 5, "fifths": 1 / 5, "tenth": 1 / 10, "tenths": 1 / 10}
_FRACTION = re.compile(
    r"\b(?:(?P<many>a|one|two|three|four|nine)[\s-]+)?(?P<part>half|thirds?|quarters?|fifths?|tenths?)"
    r"(?:,\s*\w+,)?\s+(?:of|as\s+many\s+of)\b",
    re.IGNORECASE,
)
_UNITS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
)  # fmt: skip
_COUNT = "|".join(sorted(_UNITS, key=len, reverse=True))
_IN_TEN = re.compile(
    rf"\b(?P<some>{_COUNT}|\d\d?)\s+(?:in|out\s+of)\s+(?:every\s+|each\s+)?(?P<all>{_COUNT}|\d\d?)\b(?![.%\d])"
    r"(?!\s*(?:times?|samples|per\s?cent|cases|people|records)\b)",
    re.IGNORECASE,
)
_TEN_WORDS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}  # fmt: skip
_OF_EVERY = re.compile(
    rf"\b(?:for|of|out\s+of|in|among|to)\s+(?:every|each)\s+(?P<all>{_COUNT}|100)\b[^,;.:\d]{{1,50}}?,?\s+(?:(?:some|about|around|roughly|nearly|almost|only|just)\s+)*(?P<some>(?:{'|'.join(_TEN_WORDS)})(?:-(?:{'|'.join(_UNITS[:9])}))?|{_COUNT})\b",
    re.IGNORECASE,
)
IN_SHARES, OF_SHARE = 0.05, 0.15
"""How far, in shares of all and of itself, a share in words may be from the one it stands for."""
_EVERY = re.compile(r"\b(?:every|each|per)\s*$", re.IGNORECASE)
_A_HUNDRED = re.compile(r"\s+(?:out\s+of|in|of|per)\s+(?:every\s+|each\s+|a\s+)", re.IGNORECASE)
_HUNDRED = re.compile(r"\b(?P<every>every|each|per|a)(?P<gap>\s+)hundred\b", re.IGNORECASE)
_PERCENT_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TEN_WORDS)})(?:[\s-]+(?P<ones>{'|'.join(_UNITS[:9])}))?|(?P<few>{_COUNT}))\s*(?:%|per\s?cent\b)(?P<points>(?:age)?\s+points?)?",
    re.IGNORECASE,
)
_PERCENTAGE_IN_WORDS = re.compile(
    rf"\bpercentages?\b[^;.:\d]{{0,60}}?\b(?:is|was|are|were|at|to|being)\s+(?:about\s+|around\s+|roughly\s+|some\s+)?(?:(?P<tens>{'|'.join(_TEN_WORDS)})(?:[\s-]+(?P<ones>{'|'.join(_UNITS[:9])}))?|(?P<few>{_COUNT}))\b(?!\s*(?:%|per\s?cent|in\b|out\b|of\b|times\b|hundred\b))",
    re.IGNORECASE,
)
ABOUT = 0.05
"""How far, as a share, a number that is called near may be from the one it stands for."""
_ABOUT = re.compile(
    r"\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|(?:close|near)\s+to"
    r"|(?:just|slightly|a\s+(?:little|bit)|well|somewhat)\s+(?:over|under|above|below|more\s+than|less\s+than|short\s+of)"
    r"|(?:more|less|fewer)\s+than|over|under|above|below|upwards?\s+of|or\s+so)\s*$|[~\u2248]\s*$",
    re.IGNORECASE,
)
_UNIT_BEFORE = re.compile(
    r"(?<!\d )(?<!\d)\b(?:percentages?|per\s?cent)(?P<points>(?:age)?\s+points?)?\b[^;.:\d]*\b(?:is|was|are|were|equals?|equal\s+to|at|to|being|stands\s+at|amounts\s+to)\s+(?:about\s+|around\s+)?$",
    re.IGNORECASE,
)
BEFORE = 90
"""How many characters before a number are looked at where only the words beside it count."""
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
    about: bool = False
    """Whether it is said to be no more than near: about, nearly, just over."""

    @property
    def whole(self) -> bool:
        """Whether it is written without decimals and without a unit, as counts are."""
        return self.unit is Unit.PLAIN and self.step == 1

    def rounds(self, value: float) -> bool:
        """Whether this is the value, rounded to the digits that were written."""
        return abs(value - self.value) <= 0.5 * self.step * (1 + 1e-9)

    def nears(self, value: float) -> bool:
        """Whether this is said to be about the value, and is."""
        exact = self.step <= ABOUT * abs(value) or self.whole
        return self.about and exact and abs(value - self.value) <= ABOUT * abs(value)


@lru_cache(maxsize=256)
def starts_of(pattern: re.Pattern[str], text: str) -> Sequence[int]:
    """Return where a pattern begins in a sentence, looked up once for all its numbers."""
    return tuple(each.start() for each in pattern.finditer(text))


def occurs(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Return whether a pattern begins in this part of a sentence."""
    starts = starts_of(pattern, text)
    first = bisect_left(starts, start)
    return first < len(starts) and starts[first] < end


def masked(text: str) -> str:
    """Return a text of the same length, with plain blanks and minus signs, without `2x2`."""
    text = text.replace("**", "  ")
    text = _HUNDRED.sub(lambda found: f"{found['every']}{found['gap']}100    ", text)
    return _SHAPES.sub(lambda found: " " * len(found[0]), text.translate(_MINUS))


def numbers_in(text: str) -> Iterator[WrittenNumber]:
    """Return the numbers of a text in their order; `2x2` names a shape and is left out."""
    text = masked(text)
    found = [_number(each) for each in _NUMBER.finditer(text)]
    taken = {place for each in found for place in range(each.start, each.end)}
    halves = [_half_factor(each) for each in _HALVES.finditer(text)]
    taken |= {place for each in halves for place in range(each.start, each.end)}
    words = (_factor(each) for each in _FACTOR.finditer(text) if each.start() not in taken)
    shares = list(_shares_in(text))
    inside = {place for each in shares for place in range(each.start, each.end)}
    found = [each for each in _per_hundred(found, text) if each.start not in inside]
    found += [*halves, *(each for each in words if each.start not in inside), *shares]
    for each in sorted(found, key=lambda each: each.start):
        before = text[max(0, each.start - BEFORE) : each.start]
        about = _ABOUT.search(before) is not None
        yield replace(each, about=about, unit=_unit_said_before(each, before))


def _unit_said_before(number: WrittenNumber, before: str) -> Unit:
    """Return the unit of a number whose noun says it: `the percentage of women is 30.4`."""
    told = _UNIT_BEFORE.search(before) if number.unit is Unit.PLAIN else None
    if told is None or (number.value <= 1 and not told["points"]):
        return number.unit
    return Unit.POINTS if told["points"] else Unit.PERCENT


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


def _per_hundred(found: Sequence[WrittenNumber], text: str) -> Iterator[WrittenNumber]:
    """Read "out of every 100, about 40" as 40 %."""
    every: WrittenNumber | None = None
    for place, each in enumerate(found):
        behind = found[place + 1] if place + 1 < len(found) else None
        gap = text[each.end : behind.start] if behind else ""
        if behind and behind.value == 100 and _A_HUNDRED.fullmatch(gap):
            yield replace(each, unit=Unit.PERCENT, end=behind.end)
        elif (
            place
            and each.value == 100
            and _A_HUNDRED.fullmatch(text[found[place - 1].end : each.start])
        ):
            continue
        elif each.whole and _EVERY.search(text[max(0, each.start - BEFORE) : each.start]):
            every = each
        elif (
            every
            and each.unit is Unit.PLAIN
            and not re.search(r"[;.]", text[every.end : each.start])
        ):
            scale = 100 / every.value
            yield replace(each, value=each.value * scale, step=each.step * scale, unit=Unit.PERCENT)
            every = None
        else:
            yield each


def _half_factor(found: re.Match[str]) -> WrittenNumber:
    value = _UNITS.index(found["whole"].lower()) + 1.5
    return WrittenNumber(found[0], value, 0.24 * value, Unit.TIMES, found.start(), found.end())


def _shares_in(text: str) -> Iterator[WrittenNumber]:
    """Return shares in words: `four in ten`, `two thirds of`, in percent."""
    for each in _IN_TEN.finditer(text):
        some, every = (_number_word(each[name]) for name in ("some", "all"))
        spelled = not each["some"].isdigit() or (" in " in each[0] and some == 1)
        if some < every and spelled:
            yield _share(each, some / every)
    for each in _OF_EVERY.finditer(text):
        some, every = (_number_word(each[name]) for name in ("some", "all"))
        if some <= every:
            yield _share(each, some / every)
    for each in _PERCENT_WORDS.finditer(text):
        yield _percent(each)
    for each in _PERCENTAGE_IN_WORDS.finditer(text):
        yield _percent(each)
    for each in _FRACTION.finditer(text):
        many = (each["many"] or "a").lower()
        yield _share(
            each, (1 if many == "a" else _number_word(many)) * _SHARE_WORDS[each["part"].lower()]
        )


def _number_word(word: str) -> int:
    if word.isdigit():
        return int(word)
    tens, _, ones = word.lower().partition("-")
    if (tens in _TEN_WORDS and tens != "twenty") or ones:
        return _TEN_WORDS[tens] + (_number_word(ones) if ones else 0)
    return _UNITS.index(tens) + 1


def _percent(found: re.Match[str]) -> WrittenNumber:
    few, tens, ones, points = (
        found.groupdict().get(name) for name in ("few", "tens", "ones", "points")
    )
    value = (_number_word(few) if few else 0) + _TEN_WORDS.get((tens or "").lower(), 0)
    value += _number_word(ones) if ones else 0
    unit = Unit.POINTS if points else Unit.PERCENT
    start = found.start("few") if few else found.start("tens")
    return WrittenNumber(
        found.string[start : found.end()], float(value), 1.0, unit, start, found.end()
    )


def _share(found: re.Match[str], value: float) -> WrittenNumber:
    start = found.start("some") if found.re is _OF_EVERY else found.start()
    end = found.end("part") if found.re is _FRACTION else found.end()
    near = ABOUT / 2 if found.re is _OF_EVERY and found["all"] == "100" else IN_SHARES
    step = 200 * min(near, OF_SHARE * value)
    said = found.string[start:end]
    return WrittenNumber(said, 100 * value, step, Unit.PERCENT, start, end)


def _factor(found: re.Match[str]) -> WrittenNumber:
    word = (found["word"] or found["half"] or "").lower()
    value = _FACTORS[word] if word else _COUNTED.index(found["count"].lower()) + 2
    step = 2 * IN_WORDS * value
    return WrittenNumber(found[0], float(value), step, Unit.TIMES, found.start(), found.end())
