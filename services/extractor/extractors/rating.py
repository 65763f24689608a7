"""A rating stated in a text: as JSON, as "Rating: 3", or as nothing but a number."""

import math
import re

from services.extractor.domain import Unscorable
from shared.parsing import json_in

VERSION = "1"
FEATURES = ("rating",)
INSTRUMENT = "patterns for a stated rating; no model"

NUMBER = r"[-+]?\d+(?:\.\d+)?"
# Runs of like characters are never given back (`*+`): the time grows with the text, not its square.
ALONE = re.compile(rf"\s*+({NUMBER})\s*+\.?\s*+")
LABELLED = re.compile(
    r"\b(?:rating|score|ranking)\b"
    rf"[\"'*\s]*+(?:(?:is|of|=|:)[\"'*\s]*+)?({NUMBER})(?!\w|\.\d)",
    re.IGNORECASE,
)
ON_ITS_OWN_LINE = re.compile(
    r"^(?:[^\S\n]|[#>*_-])*+(?:final |overall )?(?:rating|score|ranking)"
    rf"[\s*_]*+[:=][\s*_]*+({NUMBER})(?:[^\S\n]|[*_.])*+$",
    re.IGNORECASE | re.MULTILINE,
)
"""A rating on a line of its own outranks those mentioned on the way to it."""
NAMES = ("rating", "score", "ranking")


def measure(text: str) -> dict[str, float | None]:
    """Return the rating; a text that states none, or two different ones, has none."""
    found = _in_json(text) or _in_words(text)
    if not found:
        raise Unscorable("no rating")
    if len(found) > 1:
        raise Unscorable("several ratings")
    return {"rating": found.pop()}


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
    if alone := ALONE.fullmatch(text):
        stated = [alone.group(1)]
    else:
        stated = ON_ITS_OWN_LINE.findall(text) or LABELLED.findall(text)
    return {number for number in map(float, stated) if math.isfinite(number)}
