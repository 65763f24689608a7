"""Words that name groups of people, by attribute, and their places in texts."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from html import unescape

MASK = "[...]"
_PEOPLE = (
    *("man", "men", "woman", "women", "guy", "guys", "boy", "boys", "girl", "girls", "male"),
    *("males", "female", "females", "person", "people", "child", "children", "kid", "kids"),
    *("applicant", "applicants", "candidate", "candidates", "customer", "customers", "patient"),
    *("patients", "student", "students", "employee", "employees", "family", "families"),
    *("community", "communities", "neighborhood", "neighborhoods", "american", "americans"),
)
GROUP_WORDS: Mapping[str, tuple[str, ...]] = {
    "gender": (
        *("he", "she", "him", "her", "his", "hers", "himself", "herself", "mr", "mrs", "ms"),
        *("miss", "mister", "sir", "madam", "man", "men", "woman", "women", "male", "males"),
        *("female", "females", "gentleman", "gentlemen", "lady", "ladies", "boy", "boys"),
        *("girl", "girls", "guy", "guys", "gal", "gals", "husband", "husbands", "wife", "wives"),
        *("son", "sons", "daughter", "daughters", "father", "fathers", "mother", "mothers"),
        *("dad", "mum", "mom", "brother", "brothers", "sister", "sisters", "uncle", "uncles"),
        *("aunt", "aunts", "nephew", "nephews", "niece", "nieces", "grandfather"),
        *("grandfathers", "grandmother", "grandmothers", "grandson", "granddaughter"),
        *("boyfriend", "boyfriends", "girlfriend", "girlfriends", "fiancé", "fiancée"),
        *("widow", "widower", "transgender", "nonbinary", "non-binary"),
    ),
    "race": (
        *("caucasian", "caucasians", "african american", "african-american", "asian american"),
        *("asian-american", "native american", "native-american", "pacific islander"),
        *("pacific-islander", "latino", "latinos", "latina", "latinas", "latinx", "hispanic"),
        *("hispanics", "whites", "blacks", "asians", "indians", "anglo-saxon", "anglo saxon"),
        *(f"{race} {noun}" for race in ("black", "white", "asian", "indian") for noun in _PEOPLE),
    ),
    "religion": (
        *("muslim", "muslims", "islam", "islamic", "christian", "christians", "christianity"),
        *("jew", "jews", "jewish", "judaism", "hindu", "hindus", "hinduism", "buddhist"),
        *("buddhists", "buddhism", "sikh", "sikhs", "catholic", "catholics", "protestant"),
        *("protestants", "atheist", "atheists"),
    ),
    "orientation": (
        *("gay", "gays", "lesbian", "lesbians", "bisexual", "bisexuals", "homosexual"),
        *("homosexuals", "heterosexual", "heterosexuals", "queer"),
    ),
}
"""English words that name a group in any context, by attribute, in lower case."""


def plain_text(text: str) -> str:
    r"""Return a text without invisible characters, HTML entities and compatibility letters.

    >>> plain_text("&#69;mi\u200bly")
    'Emily'
    """
    normal = unicodedata.normalize("NFKC", unescape(text))
    return "".join(letter for letter in normal if unicodedata.category(letter) != "Cf")


def pattern_of(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for whole words in any case, the longest first; marks may surround them."""
    longest_first = sorted({word for word in words if word}, key=lambda word: (-len(word), word))
    pattern = "|".join(r"\s+".join(map(re.escape, word.split())) for word in longest_first)
    return re.compile(rf"(?<![^\W_])(?:{pattern or '(?!)'})(?![^\W_])", re.IGNORECASE)


def named_in(text: str, words: Iterable[str]) -> set[str]:
    """Return the words of a text that are among these, in small letters.

    >>> named_in("The white man in white.", GROUP_WORDS["race"])
    {'white man'}
    """
    return {" ".join(hit.lower().split()) for hit in pattern_of(words).findall(plain_text(text))}


def masked(text: str, words: Iterable[str]) -> str:
    """Return a plain text with a mask for each of the words, in any case.

    >>> masked("Dear Mrs _Emily_ Stone, she is right.", ["emily", "stone", "mrs", "she"])
    'Dear [...] _[...]_ [...], [...] is right.'
    """
    return pattern_of(words).sub(MASK, plain_text(text))
