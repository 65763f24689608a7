"""Patterns that can be read aloud: tables of phrases, one way to say a thing a line."""

import re


def any_of(*phrases: str) -> str:
    """Return a pattern of phrases, of which one has to be there; none is a part of a longer word.

    The texts have one blank between words, so a blank in a phrase is a blank.
    """
    return rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)"


def words_of(words: str) -> str:
    """Return a pattern of one of these words."""
    return rf"(?:{'|'.join(words.split())})"


def phrases_of(*phrases: str) -> re.Pattern[str]:
    """Return a compiled table of phrases."""
    return re.compile(any_of(*phrases))


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())
