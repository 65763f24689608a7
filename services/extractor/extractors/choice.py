"""The option chosen in a text, by its letter, and whether it is the expected one."""

from collections.abc import Mapping
from string import ascii_uppercase

from biaswatch.services.extractor.domain import Extractor, Reading, ReadingExtractor, Unscorable
from biaswatch.shared.parsing import Unreadable, choice_in


def _measure(reading: Reading) -> Mapping[str, float | None]:
    """Return the option (A is 1), and 1 or 0 if it is right; null without an expected one."""
    try:
        options = reading.options or ascii_uppercase
        letter = choice_in(reading.text, options, cut_off=reading.cut_off)
    except Unreadable as error:
        raise Unscorable(str(error)) from None
    expected = reading.expected.strip().upper() if reading.expected else None
    correct = None if expected is None else float(letter == expected)
    return {"chosen": float(ord(letter) - ord("A") + 1), "correct": correct}


EXTRACTORS: Mapping[str, Extractor] = {
    "choice": ReadingExtractor(
        "choice", "3", ("chosen", "correct"), "patterns for a stated option; no model", _measure
    )
}
