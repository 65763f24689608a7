"""Finding a word as a whole word, whatever characters it is made of."""

import re
from functools import lru_cache

from services.builder.domain.english import APOSTROPHES

AFTER = r"(?![\w+#])"
"""What may not follow: `C` is no word of `C++`, nor of `C#`."""


@lru_cache(maxsize=8192)
def whole(word: str) -> "re.Pattern[str]":
    """Return the pattern of a keyword; one in capitals (`US`) is no other word (`us`)."""
    pattern = bounded(re.escape(word))
    return re.compile(pattern, 0 if word.isupper() else re.IGNORECASE)


def bounded(escaped: str) -> str:
    """Keep a pattern to whole words; no letter, digit or underscore may touch it."""
    return rf"(?<!\w)(?:{escaped}){AFTER}"


def holds(text: str, word: str) -> bool:
    """Tell whether the word stands in the text."""
    return whole(word).search(text) is not None


def tokens(text: str) -> list[str]:
    """Return the words of a text, in lower case, apostrophes and hyphens inside them kept."""
    return [match.group().lower() for match in re.finditer(rf"\w+(?:[{APOSTROPHES}-]\w+)*", text)]
