"""Flesch's reading ease of whole sentences; a fragment has none."""

import re
import unicodedata
from collections.abc import Sequence

from biaswatch.building.sentences import WHOLE
from biaswatch.building.words import tokens

FRAGMENTS = "fragments of sentences have no sentence length"
FEWEST_WORDS = 100
"""Flesch's formula is made for samples of a hundred words."""


def reading_ease(texts: Sequence[str]) -> tuple[float | None, str | None]:
    """Return the ease (higher is easier, about 0 to 100), or None and why there is none.

    Each text is a sentence or several; a text that does not end like one is a fragment, whose
    sentences have no length. Syllables are counted by a rule for English.

    References
    ----------
    Flesch (1948), A new readability yardstick: 206.835 - 1.015 words/sentences - 84.6
    syllables/words.
    """
    whole = [text for text in texts if WHOLE.search(text.strip())]
    if len(whole) < len(texts):
        return None, FRAGMENTS
    words = [word for text in whole for word in tokens(text)]
    if len(words) < FEWEST_WORDS:
        return None, f"fewer than {FEWEST_WORDS} words"
    stops = sum(max(1, len(re.findall(r"(?<![.!?])[.!?]++(?:\s|$)", text))) for text in whole)
    syllables = sum(map(_syllables, words))
    return round(206.835 - 1.015 * len(words) / stops - 84.6 * syllables / len(words), 2), None


def _syllables(word: str) -> int:
    plain = unicodedata.normalize("NFKD", word)
    groups = len(re.findall(r"[aeiouy]+", re.sub(r"[\u0300-\u036f]", "", plain)))
    silent = word.endswith("e") and not word.endswith("le") and groups > 1
    return max(1, groups - silent)
