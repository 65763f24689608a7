"""The length of a text: characters, words, sentences."""

from services.extractor.domain.wording import sentences_in, words_of

VERSION = "1"
FEATURES = ("characters", "words", "sentences")
INSTRUMENT = "counts, any language with spaces; no model"


def measure(text: str) -> dict[str, float | None]:
    """Return the counts."""
    return {
        "characters": len(text),
        "words": len(words_of(text)),
        "sentences": sentences_in(text),
    }
