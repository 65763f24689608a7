"""What a model replied, read strictly: what cannot be read is no score, never a neutral one."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LONGEST_PHRASES = 20


class Unreadable(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """The reply cannot be read; its text says why."""


@dataclass(frozen=True)
class Read:
    """A judgement that can be read."""

    score: float
    reasoning: str
    phrases: tuple[str, ...] = ()


def report_in(reply: str) -> str:
    """Return the report of a writer's reply."""
    found = _object(reply)
    if set(found) != {"explanation"}:
        raise Unreadable("the reply is to have the field explanation and no other")
    text = found["explanation"]
    if not isinstance(text, str) or not text.strip():
        raise Unreadable("the explanation is no text")
    return text


def judgement_in(reply: str) -> Read:
    """Return a judge's score with its reasoning; nothing is clamped."""
    found = _object(reply)
    score = found.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise Unreadable("the score is no number")
    if not math.isfinite(score) or not 0 <= score <= 1:
        raise Unreadable(f"the score {score:.6g} is outside 0 to 1")
    phrases = found.get("problematic_phrases") or []
    if not isinstance(phrases, list):
        raise Unreadable("the problematic phrases are no list")
    return Read(
        float(score),
        str(found.get("reasoning") or ""),
        tuple(str(phrase) for phrase in phrases[:LONGEST_PHRASES]),
    )


def _object(reply: str) -> Mapping[str, Any]:
    """Return the JSON object of a reply; a fence around it is let pass, words around it are not."""
    text = reply.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Unreadable("the reply is not JSON") from None
    if not isinstance(found, dict):
        raise Unreadable("the reply is no JSON object")
    return found


def _no_number(word: str) -> float:
    raise ValueError(word)
