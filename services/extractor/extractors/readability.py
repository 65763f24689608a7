"""How hard a text is to read, by the formulas of Flesch (1948) and Kincaid (1975)."""

from biaswatch.services.extractor.domain import Unscorable
from biaswatch.services.extractor.domain.english_text import (
    sentence_count,
    syllable_count,
    words_of,
)

VERSION = "1"
FEATURES = ("reading_ease", "grade")
INSTRUMENT = "Flesch's formulas on estimated syllables, English; no model"


def measure(text: str) -> dict[str, float | None]:
    """Return the ease (higher is easier, about 0 to 100) and the school grade it takes."""
    words = words_of(text)
    if not words:
        raise Unscorable("no words")
    per_sentence = len(words) / sentence_count(text)
    per_word = sum(syllable_count(word) for word in words) / len(words)
    return {
        "reading_ease": 206.835 - 1.015 * per_sentence - 84.6 * per_word,
        "grade": 0.39 * per_sentence + 11.8 * per_word - 15.59,
    }
