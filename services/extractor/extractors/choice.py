"""The option a text chooses, "Answer: B" or "(B)", and whether it is the expected one."""

import re
from collections.abc import Mapping

from services.extractor.domain import Extractor, Reading, Unscorable

LABELLED = re.compile(
    r"\b(?:final )?answer\b[\"'*\s]*(?:is|=|:)?[\"'*\s(]*([A-Z])\b(?!')", re.IGNORECASE
)
ALONE = re.compile(r"\s*\(?([A-Z])\)?\s*[.:]?\s*")


class Choice:
    """Reads which marked option was chosen."""

    name = "choice"
    version = "1"
    features = ("chosen", "correct")
    instrument = "patterns for a stated option; no model"

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Give the option (A is 1) and whether it is right; null where no right one is known."""
        marks = {mark.upper() for mark in _marks(reading.text)}
        if not marks:
            raise Unscorable("no choice")
        if len(marks) > 1:
            raise Unscorable("several choices")
        mark = marks.pop()
        expected = reading.expected.strip().upper() if reading.expected else None
        correct = None if expected is None else float(mark == expected)
        return {"chosen": float(ord(mark) - ord("A") + 1), "correct": correct}


def _marks(text: str) -> list[str]:
    if alone := ALONE.fullmatch(text):
        return [alone.group(1)]
    return LABELLED.findall(text)


def build() -> Extractor:
    """Give the extractor of this file."""
    return Choice()
