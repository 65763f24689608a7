"""Words, sentences and syllables of an English text, and how often phrases stand in it."""

import re
from itertools import groupby
from operator import itemgetter

WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?=\s|$|[\"')\]\u2019\u201d])")
VOWELS = re.compile(r"[aeiouy]+")
SILENT = re.compile(r"(?:[^laeiouy]es|[^aeiouydt]ed|[^aeiouyl]e)$")
"""An ending that is written but not spoken: makes, moved, late; but not table, wanted, boxes."""


def words_of(text: str) -> list[str]:
    """Return the words in their order."""
    return WORD.findall(text)


def sentence_count(text: str) -> int:
    """Count the sentences; words without a full stop are one, no words are none."""
    if not WORD.search(text):
        return 0
    return max(1, len(SENTENCE_END.findall(text)))


def syllable_count(word: str) -> int:
    """Estimate the syllables of an English word from its vowels; every word has one."""
    lower = word.lower()
    spelled = lower if lower.isalpha() else "".join(c for c in lower if c.isalpha())
    return max(1, len(VOWELS.findall(SILENT.sub("", spelled) or spelled)))


def phrase_pattern(phrases: str) -> re.Pattern[str]:
    """Return the pattern that finds any of the phrases (comma separated) as whole words."""
    each = {" ".join(phrase.split()) for phrase in phrases.split(",")}
    ordered = sorted(each, key=lambda phrase: (phrase[0], -len(phrase), phrase))
    # By their first letters, so that a character that begins none is left at once.
    begun = [
        f"{letter}(?:{'|'.join(_in_text(phrase[1:]) for phrase in some)})"
        for letter, some in groupby(ordered, key=itemgetter(0))
    ]
    first = "".join({phrase[0] for phrase in each})
    return re.compile(rf"(?<!\w)(?=[{first}])(?:{'|'.join(begun)})(?!\w)", re.IGNORECASE)


def _in_text(phrase: str) -> str:
    """Return the pattern of a phrase, with either apostrophe."""
    return re.escape(phrase).replace("'", "['\u2019]")
