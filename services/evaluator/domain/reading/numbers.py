"""Numbers as people write them: `.618`, `61.8 %`, `1,234`, `0,15`, `twenty-one`, `1 in 7`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Unit(StrEnum):
    """The unit beside a number."""

    PLAIN = "plain"
    PERCENT = "percent"
    POINTS = "points"
    TIMES = "times"


@dataclass(frozen=True)
class WrittenNumber:
    """A number in a text, with its place and the values that it may round."""

    text: str
    value: float
    low: float
    """Smallest value that is written like this."""
    high: float
    unit: Unit
    start: int
    end: int
    whole: bool = False
    """True without decimals."""
    signed: bool = False
    words: bool = False
    decimal_comma: float | None = None
    """Value if a comma before three digits is a decimal comma."""

    def equals(self, value: float) -> bool:
        """Tell whether a value may be written like this; without a sign, also its negative."""
        if self.decimal_comma is not None and abs(self.decimal_comma - abs(value)) <= 0.0005001:
            return True
        sizes = (value,) if self.signed or value >= 0 else (value, -value)
        return any(self.low - 1e-9 <= size <= self.high + 1e-9 for size in sizes)


ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = {word: n for n, word in enumerate(ONES)} | {w: 10 * n for n, w in enumerate(_TENS, 2)}
_PARTS = {"third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
          "tenth": 10, "half": 2, "halve": 2, "hundredth": 100, "thousandth": 1000}  # fmt: skip
_FACTORS = {"twice": 2, "double": 2, "doubled": 2, "doubles": 2, "thrice": 3, "triple": 3,
            "tripled": 3, "triples": 3, "quadruple": 4, "twofold": 2, "threefold": 3,
            "fourfold": 4, "fivefold": 5, "tenfold": 10}  # fmt: skip
_WORD = "|".join(sorted(_VALUES, key=len, reverse=True))
_CARDINAL = rf"(?:(?:{'|'.join(_TENS)})-(?:{'|'.join(ONES[1:10])})|{_WORD})"
_UNIT = (
    r"(?P<points>\s*-?(?:%|per\s?cent(?:age)?)?[\s-]*points?\b|\s*pp\b)"
    r"|(?P<percent>\s*%|[\s-]per\s?cent\b|[\s-]percentage\b)"
    r"|(?P<times>\s*(?:[x\u00d7](?!\w)|-?fold\b|\s+times\b))"
)
_DIGITS = re.compile(
    r"(?<![\w.])(?<![A-Za-z]-)(?P<sign>[-+\u2212\u2013](?=[\d.]))?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+[.,]\d+|\d+|\.\d+)(?P<power>e[-+]?\d+)?"
    rf"(?:{_UNIT})?(?!\w|[.,]\d)",
    re.IGNORECASE,
)
_WORDS = re.compile(
    rf"\b(?P<word>(?:a|{_WORD})[\s-]hundred(?:(?:\s+and)?[\s-](?:{_CARDINAL}))?"
    rf"|{_CARDINAL})\b(?:{_UNIT})?",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    rf"\b(?:(?P<many>an?|{_WORD})[\s-]+)?(?P<part>{'|'.join(_PARTS)})s?"
    r"(?=\s+(?:of|as|the|that|what|in|an?|lower|higher|more|less|fewer|smaller|larger"
    r"|greater)\b|[,.;)]|$)",
    re.IGNORECASE,
)
_FACTOR = re.compile(rf"\b(?P<factor>{'|'.join(_FACTORS)})\b", re.IGNORECASE)
_IN_ALL = re.compile(
    rf"\b(?P<part_of>\d+|{_WORD})\b(?:\s+\w+){{0,2}}?\s+(?:in|out\s+of|of)\s+(?P<about>about\s+"
    rf"|every\s+|each\s+)?"
    rf"(?P<all>\d+|{_WORD}|a\s+hundred)\b(?:\s+or\s+(?P<or>{_WORD})\b)?(?![,.]?\d)",
    re.IGNORECASE,
)
_QUALIFIERS: Mapping[str, tuple[float, float]] = {
    r"about|around|roughly|approximately|some|circa|close\s+to|approx\.?|~|\u2248": (0.95, 1.05),
    r"nearly|almost|just\s+(?:under|below|short\s+of)|slightly\s+(?:under|below)|not\s+quite": (
        0.9, 1.0),
    r"just\s+(?:over|above)|slightly\s+(?:over|above|more\s+than)|a\s+little\s+(?:over|above"
    r"|more\s+than)": (
        1.0, 1.1),
}  # fmt: skip
"""Words before a number, and the range of values as shares of it."""
_ROUGH = [(re.compile(rf"(?:{words})\s*$", re.IGNORECASE), off) for words, off in
          _QUALIFIERS.items()]  # fmt: skip
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_SKIPPED = re.compile(
    r"\b\d+(?:\.\d+)?\s*[x\u00d7*]\s*10(?:\^?[-\u2212]?\d+|[\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)|\b10\^[-\u2212]?\d+|"
    rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}\b"
    rf"|\b\d{{1,2}}\s+{_MONTH}(?:\s+\d{{4}})?\b"
    rf"|\b{_MONTH}\s+\d{{1,2}}(?:,?\s+\d{{4}})?\b|\b(?:19|20)\d\d(?:\s*[-\u2013/]\s*(?:19"
    rf"|20)?\d\d)?\b(?![,.]\d|\s*%)"
    r"|\b2\s*(?:x|\u00d7|by)\s*2\b|[\u03c7X](?:2|\u00b2|\^2)(?!\.\d)|(?<=[\u03c7X]2|X\u00b2"
    r"|\u03c7\u00b2|\^2)\s*\(\s*\d\b"
    rf"|\b(?:\d+|{_WORD})-point\b(?=\s+(?:\w+\s+)?scale)|\bscales?\s+(?:of|from)\s+\d+\s+to\s+\d+"
    r"|\((?:\d|i+)\)|\b\d\s+degrees?\s+of\s+freedom|\bdf\s*=\s*\d|\b(?:one|two)-(?:sided|tailed)\b"
    r"|\b(?:four-fifths|80\s*%|80\s?percent|eighty\spercent)(?=\s+(?:rule|threshold|criterion"
    r"|test))"
    r"|\b(?:sections?|tables?|figures?|no\.|part|chapter|page|step|item|question|article|title"
    r"|point|appendix|rule"
    r"|level|version|note|principle|paragraph|annex|hypothesis|stage|phase"
    r"|grade)\s+\d+(?:\.\d+)*(?![\d%]|[.,]\d|\s*%)"
    r"|[$\u20ac\u00a3]\s?\d[\d,.]*|^\s*\d+(?:\.\d+)*[.)]\s",
    re.IGNORECASE,
)
"""Dates, degrees of freedom, rules, numbers of sections and sums of money."""
_JOINED = re.compile(
    r"\s*(?:and|to|or|versus|vs\.?|[-\u2013]|against|compared\s+(?:with|to))\s*(?:about\s+)?",
    re.IGNORECASE,
)
FRACTION_SLACK = 0.08
"""How far, as a share, a fraction or factor in words may be off."""


def numbers_in(text: str) -> list[WrittenNumber]:
    """Return the numbers of a text in their order; overlapping ones once."""
    taken = [match.span() for match in _SKIPPED.finditer(text)]
    numbers: list[WrittenNumber] = []
    for number in _candidates(text):
        if all(number.end <= start or number.start >= end for start, end in taken):
            taken.append((number.start, number.end))
            numbers.append(number)
    return _with_shared_units(text, sorted(numbers, key=lambda number: number.start))


def _with_shared_units(text: str, numbers: list[WrittenNumber]) -> list[WrittenNumber]:
    """Set the unit of both numbers of `30 and 15 percent` to that of the second."""
    for index in range(len(numbers) - 2, -1, -1):
        number, later = numbers[index], numbers[index + 1]
        joined = _JOINED.fullmatch(text[number.end : later.start])
        if joined and number.unit is Unit.PLAIN and later.unit in {Unit.PERCENT, Unit.POINTS}:
            numbers[index] = replace(number, unit=later.unit)
    return numbers


def _candidates(text: str) -> Iterator[WrittenNumber]:
    for match in _IN_ALL.finditer(text):
        yield from _from_part_of_all(text, match)
    for match in _FRACTION.finditer(text):
        many, part = match["many"], match["part"].lower()
        share = (_value(many) if many else 1) / _PARTS[part]
        if many or part in {"half", "halve"}:
            yield _ranged(text, match, share, share, share, Unit.TIMES, slack=FRACTION_SLACK)
    for match in _FACTOR.finditer(text):
        factor = float(_FACTORS[match["factor"].lower()])
        yield _ranged(text, match, factor, factor, factor, Unit.TIMES, slack=FRACTION_SLACK)
    for match in _DIGITS.finditer(text):
        yield _from_digits(text, match)
    for match in _WORDS.finditer(text):
        value, unit = _value(match["word"]), _unit(match)
        if value != 1 or unit is not Unit.PLAIN:
            slack = FRACTION_SLACK if unit is Unit.TIMES else 0.0
            yield _ranged(text, match, value, value - 0.5, value + 0.5, unit, slack=slack)


def _from_part_of_all(text: str, match: re.Match[str]) -> Iterator[WrittenNumber]:
    """Yield `3 in 10`, `1 in 7` or `one in six or seven` as a percentage."""
    part, total = (_value(match[name]) for name in ("part_of", "all"))
    is_share = total in {10, 100, 1000} or match["about"] or part == 1
    is_share = is_share or (" in " in match[0] and total <= 20)
    if not is_share or not 0 < part < total:
        return
    most = _value(match["or"]) if match["or"] else total
    low = part / most - FRACTION_SLACK * part / total if part > 1 else 1 / (most + 0.5)
    high = part / total * (1 + FRACTION_SLACK) if part > 1 else 1 / (total - 0.5)
    yield _ranged(text, match, 100 * part / total, 100 * low, 100 * high, Unit.PERCENT)


def _from_digits(text: str, match: re.Match[str]) -> WrittenNumber:
    digits, power, comma = match["digits"], match["power"] or "", None
    if re.fullmatch(r"\d+,\d+", digits) and not re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits):
        digits = digits.replace(",", ".")
    elif re.fullmatch(r"\d{1,3},\d{3}", digits):
        comma = float(digits.replace(",", "."))
    digits = digits.replace(",", "")
    decimals = len(digits.partition(".")[2])
    step = 10.0 ** (int(power[1:] or 0) - decimals if power else -decimals)
    sign = -1.0 if match["sign"] not in {None, "+"} else 1.0
    value = sign * float(digits + power)
    bounds = (value - 0.5000001 * step, value + 0.5000001 * step)
    return _ranged(text, match, value, *bounds, _unit(match), signed=bool(match["sign"]),
                   words=False, whole=step >= 1, comma=comma)  # fmt: skip


def _ranged(
    text: str,
    match: re.Match[str],
    value: float,
    low: float,
    high: float,
    unit: Unit,
    *,
    slack: float = 0.0,
    signed: bool = False,
    words: bool = True,
    whole: bool = True,
    comma: float | None = None,
) -> WrittenNumber:
    """Return a number with the range that rounding, and the words before it, leave open."""
    before = text[max(0, match.start() - 24) : match.start()]
    low, high = min(low, value - slack * abs(value)), max(high, value + slack * abs(value))
    for pattern, (least, most) in _ROUGH:
        if pattern.search(before):
            limits = sorted((least * value, most * value))
            low = min(low, limits[0]) if least < 1 else value - 1e-9
            high = max(high, limits[1]) if most > 1 else value + 1e-9
            break
    return WrittenNumber(match[0], value, low, high, unit, *match.span(), whole, signed, words,
                         comma)  # fmt: skip


def _unit(match: re.Match[str]) -> Unit:
    return next((u for u in (Unit.POINTS, Unit.PERCENT, Unit.TIMES) if match[u.value]), Unit.PLAIN)


def _value(word: str) -> float:
    """Return the value of digits or words below a thousand."""
    if word.isdigit():
        return float(word)
    total = 0
    for part in re.split(r"[\s-]+", word.lower()):
        if part == "hundred":
            total = 100 * max(total, 1)
        elif part in {"a", "an"}:
            total += 1 if word.lower() in {"a", "an"} else 0
        else:
            total += _VALUES.get(part, 0)
    return float(total)
