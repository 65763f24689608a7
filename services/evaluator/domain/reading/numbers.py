"""Numbers as people write them: `.618`, `61.8 %`, `1,234`, `twenty-one`, `1 in 7`, `half`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum


class Unit(StrEnum):
    """The unit beside a number; the values are the names of groups in its pattern."""

    PLAIN = "plain"
    PERCENT = "percent"
    POINTS = "points"
    TIMES = "times"


@dataclass(frozen=True)
class Number:
    """A number in a text: its place, its unit, and the values that it may round."""

    text: str
    start: int
    end: int
    low: float
    high: float
    unit: Unit = Unit.PLAIN
    whole: bool = False
    word: bool = False
    signed: bool = False
    side: int = 0
    """-1 for `less than`, 1 for `more than`."""

    @property
    def value(self) -> float:
        """The middle of the values that it may round."""
        return (self.low + self.high) / 2

    def equals(self, value: float) -> bool:
        """Tell whether a value may be written like this; without a sign, also its negative."""
        sizes = (value,) if self.signed or value >= 0 else (value, -value)
        slack = 1e-7 * abs(value)
        return any(self.low - slack <= size <= self.high + slack for size in sizes)


_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {word: n for n, word in enumerate(_ONES)} | {w: 10 * n for n, w in enumerate(_TENS, 2)}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
          "ninth": 9, "tenth": 10}  # fmt: skip
_FACTORS = {"twice": 2, "double": 2, "doubled": 2, "triple": 3, "tripled": 3, "thrice": 3,
            "twofold": 2, "threefold": 3}  # fmt: skip
_ONE = "|".join(sorted(_VALUES, key=len, reverse=True))
_CARDINAL = (
    rf"(?:(?:an?|{_ONE})[\s-]hundred(?:(?:\s+and)?[\s-](?:{_ONE}))?"
    rf"|(?:{'|'.join(_TENS)})[\s-](?:{'|'.join(_ONES[1:10])})|{_ONE})"
)
_NUMBER = re.compile(
    r"(?:(?<![\w.])(?<![A-Za-z]-)(?P<sign>(?<!%)(?:[-+\u2212\u2013]|\bminus\s)(?=[\d.]))?"
    rf"(?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+[.,]\d+|\d+|\.\d+)"
    r"(?:e(?P<e>[-+]?\d+)|\s*[x\u00d7]\s*10\^?(?P<power>[-\u2212]?\d+|\u207b[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+))?"
    rf"|\b(?P<word>{_CARDINAL})\b)"
    r"(?:(?P<points>\s*-?(?:%|per\s?cent(?:age)?)[\s-]*points?\b|\s*pp\b|[\s-]points?\b)"
    r"|(?P<percent>\s*%|[\s-]per\s?cent\b)|(?P<times>\s*(?:[x\u00d7](?!\w)|-?fold\b|\s+times\b)))?"
    r"(?!\w|[.,]\d)",
    re.IGNORECASE,
)
_PART_OF_ALL = re.compile(
    rf"\b(?P<part>\d+|{_ONE})(?:\s+[a-z]+){{0,2}}?\s+(?:in|out\s+of|of|per)\s+"
    rf"(?P<every>(?:about|every|each)\s+)*(?P<all>\d+|{_CARDINAL})\b(?![,.]?\d|\s*%)",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    rf"\b(?:(?P<many>an?|{_ONE})[\s-]+)?(?P<part>{'|'.join(_PARTS)})s?\b"
    rf"(?P<point>\s+(?:of\s+)?an?\s+point\b)?|\b(?P<factor>{'|'.join(_FACTORS)})\b",
    re.IGNORECASE,
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_SKIPPED = re.compile(
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}\b|\b\d{{1,2}}\s+{_MONTH}\b"
    rf"|\b{_MONTH}\s+\d{{1,2}}\b|(?:\b(?:in|since|from|until|during|of|by|to|year|autumn|spring)\s|\()(?:19|20)\d\d\b(?![,.]\d|\s*%|\s+\w+)|\b2\s*(?:x|\u00d7|by)\s*2\b"
    r"|(?:[\u03c7X](?:2|\u00b2|\^2)|chi2)(?!\.\d)(?:\s*\(\s*\d\b)?|\bscales?\s+(?:of|from)\s+\S+\s+to\s+\S+"
    rf"|\b(?:\d|{_ONE})\s+degrees?\s+of|\bdf\s*=?\s*\d|\b\d\s*d\.?f\b"
    r"|\b(?:one|two)-(?:sided|tailed)\b|\b(?:four[\s-]fifths|(?:80|eighty)[\s-]*(?:%|per\s?cent))"
    r"(?=\s+(?:rule|threshold|criterion|test|mark|benchmark))|^\s*(?:[-*]\s+)?\(?\d+[.)](?:\s|$)|\[\d+\]"
    r"|\b(?:sections?|tables?|figures?|no\.|pages?|steps?|items?|questions?|articles?|exhibit|appendix"
    r"|rule|version|release|(?:foot)?notes?|annex|slide|finding|directive|regulation|chapter|paragraph)"
    r"\s+\d[\d./]*|[$\u20ac\u00a3]\s?\d[\d,.]*",
    re.IGNORECASE,
)
"""Dates, degrees of freedom, rules, numbers of sections and sums of money."""
_ROUGH = [
    (re.compile(rf"(?:{words})\s*$", re.IGNORECASE), bounds)
    for words, bounds in (
        (r"\b(?:about|around|roughly|approximately|some|circa)|~|\u2248", (0.95, 1.05, 0)),
        (r"\b(?:nearly|almost|just\s+(?:under|below)|not\s+quite)", (0.92, 1.0, 0)),
        (r"<|\u2264|\b(?:below|under|at\s+most|(?:less|fewer|lower)\s+than)", (0.75, 1.0, -1)),
        (r">|\u2265|\b(?:above|over|exceed(?:s|ing)?|(?:more|higher)\s+than)", (1.0, 1.33, 1)),
    )
]
"""Words before a number, the range of values as shares of it, and the side of a comparison."""
_SUPERSCRIPTS = str.maketrans(
    "\u2212\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "--0123456789"
)
_WORD_SLACK = 0.07
"""How far, as a share, a fraction or factor in words may be off."""


def numbers_in(text: str) -> list[Number]:
    """Return the numbers of a text in their order; overlapping ones once."""
    taken = [match.span() for match in _SKIPPED.finditer(text)]
    numbers: list[Number] = []
    for number in _candidates(text):
        if all(number.end <= start or number.start >= end for start, end in taken):
            taken.append((number.start, number.end))
            numbers.append(_rough(number, text[max(0, number.start - 24) : number.start]))
    return sorted(numbers, key=lambda number: number.start)


def _candidates(text: str) -> Iterator[Number]:
    for match in _PART_OF_ALL.finditer(text):
        part, total = _value(match["part"]), _value(match["all"])
        if (part == 1 or total in {10, 100, 1000} or match["every"]) and 0 < part < total:
            low, high = 100 * (part - 0.5) / total, 100 * (part + 0.5) / total
            if part == 1:
                low, high = 100 / (total + 0.5), 100 / (total - 0.5)
            yield Number(match[0], *match.span(), low, high, Unit.PERCENT, word=True)
    for match in _FRACTION.finditer(text):
        if match["factor"]:
            value, unit = float(_FACTORS[match["factor"].lower()]), Unit.TIMES
        elif match["many"] or match["part"].lower() == "half":
            value = _value(match["many"] or "one") / _PARTS[match["part"].lower()]
            unit = Unit.POINTS if match["point"] else Unit.TIMES
        else:
            continue
        slack = _WORD_SLACK * value
        yield Number(match[0], *match.span(), value - slack, value + slack, unit, word=True)
    yield from map(_number, _NUMBER.finditer(text))


def _number(match: re.Match[str]) -> Number:
    unit = next((unit for unit in list(Unit)[1:] if match[unit.value]), Unit.PLAIN)
    text, span, digits = match[0].strip(), match.span(), match["digits"]
    if digits is None:
        value = _value(match["word"])
        half = _WORD_SLACK * value if unit is Unit.TIMES else 0.5 * (unit is not Unit.PLAIN)
        return Number(text, *span, value - half, value + half, unit, whole=True, word=True)
    if not re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", ".")
    digits = digits.replace(",", "")
    power = int((match["e"] or match["power"] or "0").translate(_SUPERSCRIPTS))
    decimals = len(digits.partition(".")[2]) - power
    value, half = float(digits) * 10.0**power, 0.5000001 * 10.0**-decimals
    value *= -1 if match["sign"] not in {None, "+"} else 1
    signed = match["sign"] is not None
    return Number(text, *span, value - half, value + half, unit, decimals == 0, signed=signed)


def _rough(number: Number, before: str) -> Number:
    """Return a number with the range that the words before it leave open."""
    value = number.value
    for pattern, (least, most, side) in _ROUGH:
        if pattern.search(before) and value > 0:
            return replace(number, low=least * value, high=most * value, side=side)
    return number


def _value(word: str) -> float:
    """Return the value of digits or words below a thousand."""
    if word.isdigit():
        return float(word)
    total = 0
    for part in re.split(r"[\s-]+", word.lower()):
        total = 100 * max(total, 1) if part == "hundred" else total + _VALUES.get(part, 0)
    return float(max(total, 1)) if word.lower() in {"a", "an"} else float(total)
