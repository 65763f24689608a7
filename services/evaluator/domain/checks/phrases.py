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


def listed(phrases: str) -> list[str]:
    """Return phrases between which stand a comma and a blank."""
    return phrases.split(", ")


def phrases_of(*phrases: str) -> re.Pattern[str]:
    """Return a compiled table of phrases."""
    return re.compile(any_of(*phrases))


def phrases_in(phrases: str) -> re.Pattern[str]:
    """Return a compiled table of listed phrases."""
    return phrases_of(*listed(phrases))


def either(phrases: str) -> str:
    """Return a pattern of one of listed phrases."""
    return rf"(?:{'|'.join(listed(phrases))})"


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


def one_of(phrases: str) -> str:
    """Return a pattern of one of these phrases, between which stand a comma and a blank.

    A blank within a phrase is any space, as texts have it before they are put into few words.
    """
    return rf"(?:{'|'.join(map(spaced, listed(phrases)))})"


def each_whole(phrases: str) -> list[str]:
    """Return a pattern of each of some phrases, none a part of a longer word."""
    return [rf"\b{spaced(each)}\b" for each in listed(phrases)]


def each_stem(words: str) -> list[str]:
    """Return a pattern of each of some words that may go on, or have to: `rac*`, `ethnic+`."""
    return [rf"\b{each[:-1]}\w{each[-1]}" for each in listed(words)]


def spaced(phrase: str) -> str:
    """Return a pattern of a phrase in which a blank is any space."""
    return phrase.replace(" ", r"\s+")


def sought(*ways: str) -> re.Pattern[str]:
    """Return a compiled pattern of ways to say a thing, in small letters or large."""
    return re.compile("|".join(ways), re.IGNORECASE)
