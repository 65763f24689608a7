"""A rating stated in a text: as JSON, as "Rating: 3", as "4 out of 5", or as a number alone."""

import math
import re
from collections.abc import Mapping

from biaswatch.services.extractor.domain import Extractor, FunctionExtractor, Unscorable
from biaswatch.shared.lookup import first
from biaswatch.shared.parsing import json_in
from biaswatch.shared.parsing.texts import with_plain_quotes

NUMBER = r"[-+]?\d+(?:\.\d+)?"
MARKUP = r"[\s\"'*_`]*+"
SCALE = r"(?:\s*+/\s*+\d+(?:\.\d+)?|\s++out\s++of\s++(?:a\s++possible\s++)?\d+(?:\.\d+)?)"
UNIT = r"(?:[\s-]++(?:stars?|points?)\b)"
LABEL = r"(?:rating|score|ranking)"
# Possessive quantifiers (`*+`) keep the time linear in the length of the text.
ALONE = re.compile(rf"[\s*_`\"':,]*+({NUMBER}){SCALE}?{UNIT}?[\s*_`\"'.!]*+")
TAGGED = re.compile(
    rf"<(?:final_?)?{LABEL}>\s*+({NUMBER}){SCALE}?\s*+</"
    rf"|\\boxed\{{\s*+(?:\\text\{{)?({NUMBER}){SCALE}?\s*+\}}"
    rf"|\b{LABEL}[\s*_]*+[:=\uff1a][\s*_]*+[\[(]\s*+({NUMBER}){SCALE}?\s*+[\])]",
    re.IGNORECASE,
)
LABELLED = re.compile(
    rf"\b{LABEL}\b(?:\s++(?:for|of|to)\s(?!\d)[^.:\d\n]{{1,60}}?\s(?=is\b))?"
    rf"{MARKUP}(?:(?:is|of|would\s++be|=|:|\uff1a|[-\u2013\u2014](?=\s)){MARKUP}(?:an?\s++)?)?"
    rf"({NUMBER})(?!\w|[.,]\d)",
    re.IGNORECASE,
)
ON_ITS_OWN_LINE = re.compile(
    rf"^(?:[^\S\n]|[#>*_-])*+(?:final |overall )?{LABEL}"
    rf"[\s*_]*+[:=\uff1a][\s*_]*+({NUMBER}){SCALE}?{UNIT}?(?:[^\S\n]|[*_.])*+$",
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
    rf"(?:\w+\s)?({NUMBER}){ENDED}",
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
NAMES = ("rating", "score", "ranking")


def measure(text: str) -> dict[str, float | None]:
    """Return the rating; raise Unscorable if the text states none or several."""
    stated = _in_json(text) or _in_words(with_plain_quotes(text))
    if not stated:
        raise Unscorable("no rating")
    if len(stated) > 1:
        raise Unscorable("several ratings")
    return {"rating": stated.pop()}


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
    for pattern in (TAGGED, ON_ITS_OWN_LINE, LABELLED, GIVEN, OUT_OF):
        stated = [
            number
            for match in pattern.finditer(unscaled)
            for number in _with_alternative(unscaled, match)
        ]
        if stated:
            return _finite(stated)
    return set()


def _with_alternative(text: str, match: re.Match[str]) -> list[str]:
    number = first(filter(None, match.groups()), "The match has no number.")
    other = ALTERNATIVE.match(text, match.end())
    return [number, other[1]] if other else [number]


def _finite(stated: list[str]) -> set[float]:
    return {number for number in map(float, stated) if math.isfinite(number)}


EXTRACTORS: Mapping[str, Extractor] = {
    "rating": FunctionExtractor(
        "rating", "2", ("rating",), "patterns for a stated rating; no model", measure
    )
}
