"""The reasoning of an answer, without the choice it ends in."""

import re

from shared.reading.objects import values_of
from shared.reading.unread import Unread

NONE = "no reasoning"
FIELDS = ("reasoning", "explanation", "rationale", "thoughts")

_ANSWER_LINE = re.compile(
    r"^[\s#>*_-]*(?:my |the )?(?:final )?(?:answer|choice)[*_\s\"']*(?:is\b|[:=])[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LABEL = re.compile(r"^[\s#>*_-]*(?:reasoning|explanation|rationale)[*_]*\s*[:=]\s*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z\"'(\[])")
LEAST_WORDS = 3
"""Fewer words are a label or a mark, no reasoning."""


def reasoning_in(text: str) -> str:
    """Return the words that lead to the answer: a field of a JSON object, or all but the answer.

    Raises
    ------
    Unread
        There are none: the answer was given without a reason.
    """
    said = " ".join(value for value in values_of(text, FIELDS) if isinstance(value, str)).strip()
    if not said and not text.lstrip().startswith("{"):
        said = _LABEL.sub("", _ANSWER_LINE.sub("", text)).strip()
    if len(said.split()) < LEAST_WORDS:
        raise Unread(NONE)
    return said


def sentences_in(text: str, most: int) -> str:
    """Return the first sentences of a text, on one line."""
    return " ".join(_SENTENCE.split(" ".join(text.split()))[:most])
