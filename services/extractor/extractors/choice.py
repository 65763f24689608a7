"""The option a text chooses, by its letter, and whether it is the expected one."""

from collections.abc import Mapping

from biaswatch.services.extractor.domain import Extractor, Reading, Unscorable
from biaswatch.shared.parsing import Unreadable, choice_in


class ChoiceExtractor:
    """Reads which marked option was chosen."""

    name = "choice"
    version = "3"
    features = ("chosen", "correct")
    instrument = "patterns for a stated option; no model"

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Return the option (A is 1) and whether it is right; null where no right one is known."""
        try:
            mark = choice_in(reading.text)
        except Unreadable as unread:
            raise Unscorable(str(unread)) from None
        expected = reading.expected.strip().upper() if reading.expected else None
        correct = None if expected is None else float(mark == expected)
        return {"chosen": float(ord(mark) - ord("A") + 1), "correct": correct}


def build() -> Extractor:
    """Return the extractor of this file."""
    return ChoiceExtractor()
