"""The length of a text: characters, words, sentences."""

from biaswatch.services.extractor.domain.english_text import sentence_count, words_of

VERSION = "1"
FEATURES = ("characters", "words", "sentences")
INSTRUMENT = "counts, any language with spaces; no model"


def measure(text: str) -> dict[str, float | None]:
    """Return the counts."""
    return {
        "characters": len(text),
        "words": len(words_of(text)),
        "sentences": sentence_count(text),
    }
