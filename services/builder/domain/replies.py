"""What a model replied, read as data: text is taken apart by rule and never evaluated."""

import json
import re
from collections.abc import Mapping

from services.builder.domain.english import DASH, QUOTES

LONGEST_TERM = 80
MOST_TERMS = 500
BULLET = re.compile(rf"^\s*(?:[-*•{DASH}]|\(?\d{{1,3}}[.):])\s+")
AROUND = QUOTES + "`*_ "


def listed(reply: str) -> list[str]:
    """Return the terms of a list, however it is written: JSON, lines with bullets, or commas.

    Terms that are no terms (long, of several lines, holding brackets or control characters) are
    left out.
    """
    whole = _json_of(reply, "[", "]")
    if isinstance(whole, list):
        parts = [each for each in whole if isinstance(each, str)]
    elif len(lines := [line for line in reply.splitlines() if line.strip()]) > 1:
        bulleted = [BULLET.sub("", line) for line in lines if BULLET.match(line)]
        parts = bulleted or lines
    else:
        parts = re.split(r"[,;]", reply.strip().strip("[]"))
    terms = (" ".join(part.strip().strip(AROUND).rstrip(".").split()) for part in parts)
    return list(dict.fromkeys(term for term in terms if _is_term(term)))[:MOST_TERMS]


def paired(reply: str) -> dict[str, str]:
    """Return the pairs of a JSON object, or of a list of objects; nothing where there are none."""
    found: object = _json_of(reply, "[", "]")
    objects = found if isinstance(found, list) else [_json_of(reply, "{", "}")]
    pairs: dict[str, str] = {}
    for each in objects:
        if isinstance(each, Mapping):
            for old, new in each.items():
                if isinstance(new, str) and _is_term(old.strip()) and _is_term(new.strip()):
                    pairs.setdefault(old.strip(), new.strip())
    return dict(list(pairs.items())[:MOST_TERMS])


def yes_or_no(reply: str) -> bool | None:
    """Tell whether the reply says yes; None where it says neither, or both."""
    said = set(re.findall(r"\b(yes|no)\b", reply.lower()))
    return None if len(said) != 1 else said == {"yes"}


def _json_of(reply: str, opening: str, closing: str) -> object:
    """Return the first JSON value between these brackets, or None."""
    begin, end = reply.find(opening), reply.rfind(closing)
    if begin < 0 or end < begin:
        return None
    try:
        return json.loads(reply[begin : end + 1])
    except (ValueError, RecursionError):
        return None


def _is_term(term: str) -> bool:
    return 0 < len(term) <= LONGEST_TERM and not re.search(r"[\x00-\x1f\[\]{}<>()=;\\]", term)
