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
    """True if it is said to be no more than near: about, nearly, just over."""

    @property
    def whole(self) -> bool:
        """Tell whether it is written without decimals and without a unit, as counts are."""
        return self.unit is Unit.PLAIN and self.step == 1

    def rounds(self, value: float) -> bool:
        """Tell whether this is the value, rounded to the digits that were written."""
        return abs(value - self.value) <= 0.5 * self.step * (1 + 1e-9)

    def nears(self, value: float) -> bool:
        """Tell whether this is said to be about the value, and is."""
        exact = self.step <= ABOUT * abs(value) or self.whole
        return self.about and exact and abs(value - self.value) <= ABOUT * abs(value)


@lru_cache(maxsize=256)
def starts_of(pattern: re.Pattern[str], text: str) -> Sequence[int]:
    """Return where a pattern begins in a sentence, looked up once for all its numbers."""
    return tuple(match.start() for match in pattern.finditer(text))


def occurs(pattern: re.Pattern[str], text: str, start: int, end: int) -> bool:
    """Return whether a pattern begins in this part of a sentence."""
    starts = starts_of(pattern, text)
    first = bisect_left(starts, start)
    return first < len(starts) and starts[first] < end


def masked(text: str) -> str:
    """Return a text of the same length, with plain blanks and minus signs, without `2x2`."""
    text = text.replace("**", "  ")
    text = _HUNDRED.sub(lambda match: f"{match['every']}{match['gap']}100    ", text)
    return _SHAPES.sub(lambda match: " " * len(match[0]), text.translate(_MINUS))


def numbers_in(text: str) -> Iterator[WrittenNumber]:
    """Return the numbers of a text in their order; `2x2` names a shape and is left out."""
    text = masked(text)
    numbers = [_number(number) for number in _NUMBER.finditer(text)]
    taken = {place for number in numbers for place in range(number.start, number.end)}
    halves = [_half_factor(number) for number in _HALVES.finditer(text)]
    taken |= {place for number in halves for place in range(number.start, number.end)}
    words = (_factor(number) for number in _FACTOR.finditer(text) if number.start() not in taken)
    shares = list(_shares_in(text))
    inside = {place for number in shares for place in range(number.start, number.end)}
    numbers = [number for number in _per_hundred(numbers, text) if number.start not in inside]
    numbers += [*halves, *(number for number in words if number.start not in inside), *shares]
    for number in sorted(numbers, key=lambda number: number.start):
        before = text[max(0, number.start - BEFORE) : number.start]
        about = _ABOUT.search(before) is not None
        yield replace(number, about=about, unit=_unit_said_before(number, before))


def _unit_said_before(number: WrittenNumber, before: str) -> Unit:
    """Return the unit of a number whose noun says it: `the percentage of women is 30.4`."""
    match = _UNIT_BEFORE.search(before) if number.unit is Unit.PLAIN else None
    if match is None or (number.value <= 1 and not match["points"]):
        return number.unit
    return Unit.POINTS if match["points"] else Unit.PERCENT


def _number(match: re.Match[str]) -> WrittenNumber:
    digits = match["digits"]
    power = _POWER.search(digits)
    plain = (digits[: power.start()] if power else digits).replace(",", "").lower()
    mantissa, _, exponent = plain.partition("e")
    scale = 10.0 ** int(power[1] if power else exponent or 0)
    step = 10.0 ** -len(mantissa.partition(".")[2]) * scale
    start = match.start() + len(digits) - len(digits.lstrip())
    return WrittenNumber(
        match[0].strip(),
        float(mantissa) * scale,
        step,
        _unit(match["unit"] or ""),
        start,
        match.end(),
        digits.lstrip()[:1] in "+-",
    )


def _unit(text: str) -> Unit:
    text = text.lower().strip(" -")
    if "point" in text or text == "pp":
        return Unit.POINTS
    if text.startswith(("%", "per")):
        return Unit.PERCENT
    return Unit.TIMES if text else Unit.PLAIN


def _per_hundred(numbers: Sequence[WrittenNumber], text: str) -> Iterator[WrittenNumber]:
    """Read "out of every 100, about 40" as 40 %."""
    every: WrittenNumber | None = None
    for place, number in enumerate(numbers):
        behind = numbers[place + 1] if place + 1 < len(numbers) else None
        gap = text[number.end : behind.start] if behind else ""
        if behind and behind.value == 100 and _A_HUNDRED.fullmatch(gap):
            yield replace(number, unit=Unit.PERCENT, end=behind.end)
        elif (
            place
            and number.value == 100
            and _A_HUNDRED.fullmatch(text[numbers[place - 1].end : number.start])
        ):
            continue
        elif number.whole and _EVERY.search(text[max(0, number.start - BEFORE) : number.start]):
            every = number
        elif (
            every
            and number.unit is Unit.PLAIN
            and not re.search(r"[;.]", text[every.end : number.start])
        ):
            scale = 100 / every.value
            yield replace(
                number, value=number.value * scale, step=number.step * scale, unit=Unit.PERCENT
            )
            every = None
        else:
            yield number


def _half_factor(match: re.Match[str]) -> WrittenNumber:
    value = _UNITS.index(match["whole"].lower()) + 1.5
    return WrittenNumber(match[0], value, 0.24 * value, Unit.TIMES, match.start(), match.end())


def _shares_in(text: str) -> Iterator[WrittenNumber]:
    """Return shares in words: `four in ten`, `two thirds of`, in percent."""
    for match in _IN_TEN.finditer(text):
        part, every = (_number_word(match[name]) for name in ("some", "all"))
        spelled = not match["some"].isdigit() or (" in " in match[0] and part == 1)
        if part < every and spelled:
            yield _share(match, part / every)
    for match in _OF_EVERY.finditer(text):
        part, every = (_number_word(match[name]) for name in ("some", "all"))
        if part <= every:
            yield _share(match, part / every)
    for match in _PERCENT_WORDS.finditer(text):
        yield _percent(match)
    for match in _PERCENTAGE_IN_WORDS.finditer(text):
        yield _percent(match)
    for match in _FRACTION.finditer(text):
        many = (match["many"] or "a").lower()
        yield _share(
            match, (1 if many == "a" else _number_word(many)) * _SHARE_WORDS[match["part"].lower()]
        )


def _number_word(word: str) -> int:
    if word.isdigit():
        return int(word)
    tens, _, ones = word.lower().partition("-")
    if (tens in _TEN_WORDS and tens != "twenty") or ones:
        return _TEN_WORDS[tens] + (_number_word(ones) if ones else 0)
    return _UNITS.index(tens) + 1


def _percent(match: re.Match[str]) -> WrittenNumber:
    few, tens, ones, points = (
        match.groupdict().get(name) for name in ("few", "tens", "ones", "points")
    )
    value = (_number_word(few) if few else 0) + _TEN_WORDS.get((tens or "").lower(), 0)
    value += _number_word(ones) if ones else 0
    unit = Unit.POINTS if points else Unit.PERCENT
    start = match.start("few") if few else match.start("tens")
    return WrittenNumber(
        match.string[start : match.end()], float(value), 1.0, unit, start, match.end()
    )


def _share(match: re.Match[str], value: float) -> WrittenNumber:
    start = match.start("some") if match.re is _OF_EVERY else match.start()
    end = match.end("part") if match.re is _FRACTION else match.end()
    near = ABOUT / 2 if match.re is _OF_EVERY and match["all"] == "100" else IN_SHARES
    step = 200 * min(near, OF_SHARE * value)
    text = match.string[start:end]
    return WrittenNumber(text, 100 * value, step, Unit.PERCENT, start, end)


def _factor(match: re.Match[str]) -> WrittenNumber:
    word = (match["word"] or match["half"] or "").lower()
    value = _FACTORS[word] if word else _COUNTED.index(match["count"].lower()) + 2
    step = 2 * IN_WORDS * value
    return WrittenNumber(match[0], float(value), step, Unit.TIMES, match.start(), match.end())
