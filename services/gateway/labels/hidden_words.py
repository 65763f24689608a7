"""Hides words that name groups from whoever labels."""

import re
from collections.abc import Sequence

HIDDEN = "[...]"


def hidden_words(text: str, words: Sequence[str]) -> str:
    """Return text without these words, whatever their case; parts of longer words stay."""
    if not words:
        return text
    some = "|".join(re.escape(word) for word in words)
    return re.sub(rf"(?<!\w)(?:{some})(?!\w)", HIDDEN, text, flags=re.IGNORECASE)
