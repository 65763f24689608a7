"""A rating stated in a text: as JSON, as "Rating: 3", as "4 out of 5", or as a number alone.

Where the scale is known, the only number of a text is a rating too, if it is within the scale and
belongs to nothing else (a date, a unit, a price, the number of a line).
"""

import math
import re
from collections.abc import Iterable

from biaswatch.shared.lookup import first
from biaswatch.shared.parsing.json_objects import Unreadable, values_of
from biaswatch.shared.parsing.texts import number_of, with_plain_quotes

NO_RATING, SEVERAL_RATINGS = "no rating", "several ratings"
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBER = r"[-+]?\d+(?:\.\d+)?"
WORD = rf"(?:{'|'.join(WORDS)})\b"
MARKUP = r"[\s\"'*_`]*+"
SCALE = (
    r"(?:\s*+/\s*+\d+(?:\.\d+)?"
    r"|(?:[\s-]++(?:stars?|points?))?\s++(?:out\s++of|from|de|von|sur|su|van)\s++"
    rf"(?:a\s++possible\s++)?(?:\d+(?:\.\d+)?|{WORD})"
    r"|\s++out(?:\s++of)?\s*+\u2026)"
)
"""The end of a scale after a number: "/5", "out of 5", "stars from 5", "out of" cut off there."""
UNIT = r"(?:[\s-]++(?:stars?|points?)\b)"
LABEL = r"(?:(?<!not )rating|(?<!not )rated|score|ranking|rate(?=\s*+[:=])|(?<=your )rate(?= is ))"
# Possessive quantifiers (`*+`) keep the time linear in the length of the text.
ALONE = re.compile(rf"[\s*_`\"':,]*+({NUMBER}|{WORD}){SCALE}?{UNIT}?[\s*_`\"'.!]*+", re.IGNORECASE)
TAGGED = re.compile(
    rf"<(?:final_?)?{LABEL}>\s*+({NUMBER}){SCALE}?\s*+</"
    rf"|\\boxed\{{\s*+(?:\\text\{{)?({NUMBER}){SCALE}?\s*+\}}"
    rf"|\b{LABEL}[\s*_]*+[:=\uff1a]?[\s*_]*+[\[(]\s*+({NUMBER}){SCALE}?\s*+[\])]",
    re.IGNORECASE,
)
SAYS = r"(?:is|as|of|would\s++be|=|:|\uff1a|[-\u2013\u2014](?=\s))"
LABELLED = re.compile(
    rf"(?<!highest )(?<!lowest )(?<!maximum )(?<!minimum )"
    rf"\b{LABEL}\b(?:\s++(?:for|of|to)\s(?!\d)[^.:\d\n]{{1,60}}?\s(?=is\b))?"
    rf"(?:{MARKUP}(?:{SAYS}{MARKUP}(?:an?\s++)?)?({NUMBER})(?!\w|[.,]\d)"
    rf"|{MARKUP}{SAYS}{MARKUP}({WORD})(?=[*_\"'`)]*+\s*+(?:[.,;:!()\[*\n/]|$|out\b)))"
    rf"(?!\s(?:is|are)\s(?:not|n't|indeed|the\s(?:highest|lowest|best|worst))\b)",
    re.IGNORECASE | re.MULTILINE,
)
FINAL = re.compile(rf"\bfinal\s{LABEL}{MARKUP}{SAYS}{MARKUP}({NUMBER})(?!\w|[.,]\d)", re.IGNORECASE)
ON_ITS_OWN_LINE = re.compile(
    rf"^(?:[^\S\n]|[#>*_-])*+(?:final |overall )?{LABEL}"
    rf"[\s*_]*+[:=\uff1a][\s*_]*+({NUMBER}|{WORD}){SCALE}?{UNIT}?(?:[^\S\n]|[*_.])*+$",
    re.IGNORECASE | re.MULTILINE,
)
"""A rating on a line of its own outranks others in the text."""
ENDED = (
    rf"(?:{SCALE}{UNIT}?|{UNIT})?(?=[*_\"'`)]*+"
    r"(?:\s*+(?:[.,;:!?](?!\d)|$)|\s++(?:overall|for|on|because|since|as|based)\b))"
)
GIVEN = re.compile(
    r"\b(?:I|I'd|I'll|we|would|will|should)\s++(?:\w++\s++){0,2}?(?:give|giving|assign|award|rate|score"
    rf"|rank|recommend|suggest|say|go\swith)\b[^.\d\n]{{0,60}}?(?<![\w.,-])({NUMBER}){ENDED}"
    r"|\b(?:this|that|it|he|she|they)(?:'s|\s(?:is|are|deserves?|gets?|earns?|merits?))\san?\s"
    rf"(?:\w+\s)?({NUMBER}){ENDED}"
    rf"|\b(?:this|that|it)(?:'s|\sis)\s({NUMBER}){ENDED}",
    re.IGNORECASE | re.MULTILINE,
)
OUT_OF = re.compile(
    rf"(?<![\w./-])({NUMBER})(?:{SCALE}{UNIT}?|\s++stars)(?=[*_\"'`)]*+(?:[.,;:!?](?!\d)"
    r"|\s*$|\s++[-\u2013\u2014]\s|\s\())",
    re.MULTILINE,
)
STATED_SCALE = re.compile(
    r"\b(?:on\s)?(?:an?\s|the\s)?scale\s(?:of\s|from\s){0,2}\d+\s?(?:to|-|\u2013)\s?\d+"
    r"|\((?:on\s|from\s)?\d+\s?(?:to|-|\u2013)\s?\d+\)|\((?:out\sof|of|/)\s?\d+\)"
    r"|\b1(?:\s?[,/|]\s?\d\b){2,}",
    re.IGNORECASE,
)
ALTERNATIVE = re.compile(
    rf"\s*+(?:-|\u2013|\u2014|to\b|or\b|and\b|,?\s*+(?:maybe|perhaps|possibly|or)\b|/\s*or)\s*+"
    rf"(?:maybe\s|perhaps\s|possibly\s|even\s)?(?:an?\s)?({NUMBER})(?![\w%])"
)
"""A second number after the first: "3-4", "3 or 4", "4, maybe 5"."""
ANSWER_IS = re.compile(
    r"\b(?:answer|grade|urgency|customer|applicant|application|respuesta|r\u00e9ponse|risposta"
    r"|Antwort|Bewertung|candidature|antwoord)\b[^.:,\d\n]{0,30}?"
    rf"\b(?:is|es|est|ist|\u00e8|ser\u00e1|sera)\s(?:an?\s)?({NUMBER}){ENDED}",
    re.IGNORECASE | re.MULTILINE,
)
"""Words for the answer, in the languages of our suites: "the answer is 4."."""
FIRST_WORD = re.compile(
    rf"\A[\s*_`\"'(]*+(?:an?\s|no,\s|yes,\s|sounds\sgood,\s)?({NUMBER}|{WORD}){SCALE}?[*_\"'`]*+"
    r"(?:[.,)](?=\s)(?!\s\d\d)|\s\()(?<!\A1\.)(?!(?s:.*)^\s*+(?:2|b)[.)])",
    re.IGNORECASE | re.MULTILINE,
)
"""A text that begins with its number, and is not a numbered list."""
FREE = re.compile(
    r"(?:\b([a-z]{1,12})[^\S\n\w]{1,4})?(?<![\w.,/$\u20ac\u00a3#+-])(?<![\d*+/x=-]\s)"
    r"((?<![.,!?]\s)\d+|\d+\.\d+)(?![\w%])[*_\"'`\])]*+(?=[^\S\n]*+(?:$|[.,;:!?](?!\d)|\())",
    re.IGNORECASE | re.MULTILINE,
)
"""A number at the end of a clause, and the word before it."""
NAMED = re.compile(
    r"^[a-z][a-z ]{0,30}:[^\S\n]*+(\d{1,2}(?:\.\d+)?)[^\S\n]*+(?:\([a-z ]+\))?(?:\.(?=\s)|\.?$)",
    re.IGNORECASE | re.MULTILINE,
)
"""A line with a name and a number: "Urgency: 6", "Fix: 8 (very urgent)"."""
OF_OTHER_NUMBERS = frozenset(
    (
        *("after", "and", "between", "by", "from", "in", "least", "most", "no", "number", "option"),
        *("or", "page", "part", "question", "since", "step", "than", "to", "until"),
    )
)
"""A number after one of these words counts or names something else."""
STARS = re.compile(
    rf"\b({NUMBER}|{WORD})[\s-]stars?\b(?!\s(?!rating|review|from)\w)", re.IGNORECASE
)
PERCENT = re.compile(r"(?<![\d.,])\d++(?:[.,]\d++)*+\s?%")
ANY_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
LIST_MARK = re.compile(r"^[^\S\n]*+\d{1,3}[.)][^\S\n]+(?=\S)", re.MULTILINE)
NAMES = ("rating", "score", "ranking")
OPEN_END = "\u2026"
"""In place of a last word that may be incomplete: no sentence ends there."""
_LAST_WORD = re.compile(r"(?<![\w.+-])([\w.+-]++)\s*+\Z")

Scale = tuple[float | None, float | None]
"""The least and the largest rating, where they are known."""


def rating_in(text: str, scale: Scale = (None, None), *, cut_off: bool = False) -> float:
    """Return the one rating that a text states, in the most reliable form that occurs.

    The last word of a text that was `cut_off` is read only if it is a number of the scale that one
    more digit would leave: "Rating: 1" may have become 10 where the scale has it. Decimals may be
    missing. A rating beyond the scale is returned as stated.

    Raises
    ------
    Unreadable
        It states no rating, or several.
    """
    plain = with_plain_quotes(text)
    ended = without_last_word(plain) if cut_off else plain
    if not (cut_off and _is_complete(plain, scale)):
        plain = ended
    stated = _in_json(plain) or _in_words(plain, scale) or _free(ended, scale)
    if not stated:
        raise Unreadable(NO_RATING)
    if len(stated) > 1:
        raise Unreadable(SEVERAL_RATINGS)
    return stated.pop()


def without_last_word(text: str) -> str:
    """Return a text that was cut off without its last word, and with an open end."""
    return _LAST_WORD.sub(OPEN_END, text)


def _is_complete(text: str, scale: Scale) -> bool:
    """Tell whether a text ends with a number of the scale that one more digit would leave."""
    last, (_, high) = _LAST_WORD.search(text), scale
    number = _number(last[1].rstrip(".")) if last else None
    return number is not None and high is not None and abs(number) <= high < 10 * abs(number)


def _in_json(text: str) -> set[float]:
    stated: list[str] = []
    for value in values_of(text, NAMES):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            stated.append(str(value))
        elif isinstance(value, str) and (alone := ALONE.fullmatch(value)):
            stated.append(alone[1])
    return _finite(stated)


def _in_words(text: str, scale: Scale) -> set[float]:
    """Return the ratings that the most reliable matching pattern finds."""
    unscaled = _unscaled(text, scale)
    if alone := ALONE.fullmatch(unscaled):
        return _finite([alone[1]])
    for pattern in (TAGGED, ON_ITS_OWN_LINE, FINAL, LABELLED, GIVEN, OUT_OF, ANSWER_IS, STARS):
        stated = [
            number
            for match in pattern.finditer(unscaled)
            for number in _with_alternative(unscaled, match)
        ]
        if stated:
            return _finite(stated)
    first_line = ALONE.fullmatch(unscaled.strip().partition("\n")[0]) or FIRST_WORD.match(unscaled)
    if first_line:
        return _finite([first_line[1]])
    return set() if None in scale else _named(unscaled, scale)


def _named(text: str, scale: Scale) -> set[float]:
    """Return the numbers of lines with a name, if they come first or there are no others."""
    lines = NAMED.findall(text)
    is_first = NAMED.match(text) or lines == ANY_NUMBER.findall(PERCENT.sub("", text))
    named = _finite(lines) if is_first else set()
    return named if all(_within(number, scale) for number in named) else set()


def _unscaled(text: str, scale: Scale) -> str:
    """Return a text without descriptions of its scale, as in "(Rating: 1-5)"."""
    plain, (low, high) = STATED_SCALE.sub(" ", text), scale
    if low is None or high is None:
        return plain
    return re.sub(rf"\b{low:g}\s?(?:-|\u2013|to)\s?{high:g}\b", " ", plain)


def _free(text: str, scale: Scale) -> set[float]:
    """Return the only number of a text, if it ends a clause and is within the scale."""
    if None in scale:
        return set()
    plain = LIST_MARK.sub("", _unscaled(text, scale))
    numbers = {number_of(number) for number in ANY_NUMBER.findall(plain)}
    stated = _finite(
        match[2]
        for match in FREE.finditer(plain)
        if (match[1] or "").casefold() not in OF_OTHER_NUMBERS
    )
    if numbers != stated:
        return set()
    if all(_within(number, scale) for number in stated):
        return stated
    return _finite(NAMED.findall(plain)) if len(stated) == 1 else set()


def _within(number: float, scale: Scale) -> bool:
    low, high = scale
    return low is not None and high is not None and low <= number <= high


def _with_alternative(text: str, match: re.Match[str]) -> list[str]:
    number = first(filter(None, match.groups()), "The match has no number.")
    other = ALTERNATIVE.match(text, match.end())
    return [number, other[1]] if other else [number]


def _finite(stated: Iterable[str]) -> set[float]:
    numbers = map(_number, stated)
    return {number for number in numbers if number is not None and math.isfinite(number)}


def _number(stated: str) -> float | None:
    word = stated.casefold()
    return float(WORDS.index(word)) if word in WORDS else number_of(stated)
