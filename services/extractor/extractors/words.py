"""Lexical size: words, sentences, words a sentence. No model is involved."""

import re

VERSION = "1"
FEATURES = ("words", "words_per_sentence")
INSTRUMENT = "word counts, any language with spaces; no model"

WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?:\s|$)")


def measure(text: str) -> dict[str, float | None]:
    """Return the counts; a text without words has no words per sentence."""
    words = len(WORD.findall(text))
    sentences = max(1, len(SENTENCE_END.findall(text)))
    return {"words": float(words), "words_per_sentence": words / sentences if words else None}
