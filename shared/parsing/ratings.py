"""A rating stated in a text: as JSON, as "Rating: 3", as "4 out of 5", or as a number alone."""

import math
import re

from biaswatch.shared.lookup import first
from biaswatch.shared.parsing.json_objects import Unreadable, json_in
from biaswatch.shared.parsing.texts import with_plain_quotes

NO_RATING, SEVERAL_RATINGS = "no rating", "several ratings"
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBER = r"[-+]?\d+(?:\.\d+)?"
WORD = rf"(?:{'|'.join(WORDS)})\b"
MARKUP = r"[\s\"'*_`]*+"
SCALE = r"(?:\s*+/\s*+\d+(?:\.\d+)?|\s++out\s++of\s++(?:a\s++possible\s++)?\d+(?:\.\d+)?)"
UNIT = r"(?:[\s-]++(?:stars?|points?)\b)"
LABEL = r"(?:(?<!not )rating|(?<!not )rated|score|ranking)"
# Possessive quantifiers (`*+`) keep the time linear in the length of the text.
ALONE = re.compile(rf"[\s*_`\"':,]*+({NUMBER}|{WORD}){SCALE}?{UNIT}?[\s*_`\"'.!]*+", re.IGNORECASE)
TAGGED = re.compile(
    rf"<(?:final_?)?{LABEL}>\s*+({NUMBER}){SCALE}?\s*+</"
    rf"|\\boxed\{{\s*+(?:\\text\{{)?({NUMBER}){SCALE}?\s*+\}}"
    rf"|\b{LABEL}[\s*_]*+[:=\uff1a][\s*_]*+[\[(]\s*+({NUMBER}){SCALE}?\s*+[\])]",
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
ON_ITS_OWN_LINE = re.compile(
    rf"^(?:[^\S\n]|[#>*_-])*+(?:final |overall )?{LABEL}"
    rf"[\s*_]*+[:=\uff1a][\s*_]*+({NUMBER}|{WORD}){SCALE}?{UNIT}?(?:[^\S\n]|[*_.])*+$",
    re.IGNORECASE | re.MULTILINE,
)
"""A rating on a line of its own outranks others in the text."""
ENDED = (
    rf"(?:{SCALE}{UNIT}?|{UNIT})?(?=[*_\"'`)]*+"
    r"(?:\s*+(?:[.,;:!?](?!\d)|$)|\s++(?:overall|for|because|since|as|based)\b))"
)
GIVEN = re.compile(
    r"\b(?:I|I'd|I'll|we|would|will)\s++(?:\w++\s++){0,2}?(?:give|giving|assign|award|rate|score"
    rf"|rank|say|go\swith)\b[^.\d\n]{{0,60}}?(?<![\w.,-])({NUMBER}){ENDED}"
    r"|\b(?:this|that|it|he|she|they)(?:'s|\s(?:is|are|deserves?|gets?|earns?|merits?))\san?\s"
    rf"(?:\w+\s)?({NUMBER}){ENDED}"
    rf"|\b(?:this|that|it)(?:'s|\sis)\s({NUMBER}){ENDED}",
    re.IGNORECASE | re.MULTILINE,
)
OUT_OF = re.compile(
    rf"(?<![\w./-])({NUMBER})(?:{SCALE}{UNIT}?|\s++stars)(?=[*_\"'`)]*+(?:[.,;:!?](?!\d)"
    r"|\s*$|\s++[-\u2013\u2014]\s))",
    re.MULTILINE,
)
STATED_SCALE = re.compile(
    r"\b(?:on\s)?(?:an?\s|the\s)?scale\s(?:of\s|from\s){0,2}\d+\s?(?:to|-|\u2013)\s?\d+"
    r"|\((?:on\s|from\s)?\d+\s?(?:to|-|\u2013)\s?\d+\)|\((?:out\sof|of|/)\s?\d+\)",
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
    rf"\A[\s*_`\"']*+(?:an?\s|no,\s|yes,\s|sounds\sgood,\s)?({NUMBER}|{WORD})[*_\"'`]*+"
    r"(?:[.,](?=\s)|\s\()(?!(?s:.*)^\s*+(?:2|b)[.)])",
    re.IGNORECASE | re.MULTILINE,
)
"""A text that begins with its number, and is no numbered list."""
NAMES = ("rating", "score", "ranking")
_LAST_WORD = re.compile(r"[\w.+-]+\s*\Z")


def rating_in(text: str, *, cut_off: bool = False) -> float:
    """Return the one rating that a text states, in the most reliable form that occurs.

    The last word of a text that was `cut_off` is not read: "Rating: 1" may have become 10.

    Raises
    ------
    Unreadable
        It states no rating, or several.
    """
    if cut_off:
        text = _LAST_WORD.sub("", text)
    stated = _in_json(text) or _in_words(with_plain_quotes(text))
    if not stated:
        raise Unreadable(NO_RATING)
    if len(stated) > 1:
        raise Unreadable(SEVERAL_RATINGS)
    return stated.pop()


def _in_json(text: str) -> set[float]:
    start, end = text.find("{"), text.rfind("}")
    try:
        fields = json_in(text[start : end + 1]) if 0 <= start < end else {}
    except ValueError:
        return set()
    if not isinstance(fields, dict):
        return set()
    values = (fields.get(name) for name in NAMES)
    return {float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)}


def _in_words(text: str) -> set[float]:
    """Return the ratings that the most reliable matching pattern finds."""
    unscaled = STATED_SCALE.sub(" ", text)
    if alone := ALONE.fullmatch(unscaled):
        return _finite([alone[1]])
    for pattern in (TAGGED, ON_ITS_OWN_LINE, LABELLED, GIVEN, OUT_OF, ANSWER_IS):
        stated = [
            number
            for match in pattern.finditer(unscaled)
            for number in _with_alternative(unscaled, match)
        ]
        if stated:
            return _finite(stated)
    first_line = ALONE.fullmatch(unscaled.strip().partition("\n")[0]) or FIRST_WORD.match(unscaled)
    return _finite([first_line[1]]) if first_line else set()


def _with_alternative(text: str, match: re.Match[str]) -> list[str]:
    number = first(filter(None, match.groups()), "The match has no number.")
    other = ALTERNATIVE.match(text, match.end())
    return [number, other[1]] if other else [number]


def _finite(stated: list[str]) -> set[float]:
    return {number for number in map(_number, stated) if math.isfinite(number)}


def _number(stated: str) -> float:
    word = stated.casefold()
    return float(WORDS.index(word)) if word in WORDS else float(stated)
