"""Lexical size: words, sentences, words a sentence. No model is involved."""

import re
from collections.abc import Mapping

from services.extractor.domain import Extractor, Reading

WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
SENTENCE_END = re.compile(r"[.!?]+(?:\s|$)")


class WordsExtractor:
    """Counts words and sentences."""

    name = "words"
    version = "1"
    features = ("words", "words_per_sentence")
    instrument = "word counts, any language with spaces; no model"

    def measure(self, reading: Reading) -> Mapping[str, float | None]:
        """Return the counts; a text without words has no words per sentence."""
        words = len(WORD.findall(reading.text))
        sentences = max(1, len(SENTENCE_END.findall(reading.text)))
        return {"words": float(words), "words_per_sentence": words / sentences if words else None}


def build() -> Extractor:
    """Return the extractor of this file."""
    return WordsExtractor()
