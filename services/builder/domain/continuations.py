"""Continuation prompts: a sentence is cut soon after its main verb."""

import re
from typing import Protocol

from services.builder.domain.words import FINITE, NOUN_MARKS, QUOTES, STOP

LEAST_LEFT = 2
"""A cut that leaves fewer words to say leaves nothing to say."""
AFTER_VERB = 2
"""How many words of what follows the verb are given, so that the direction is given."""


class VerbFinder(Protocol):
    """Says where the main verb of a sentence is."""

    name: str

    def main_verb(self, words: list[str]) -> int | None:
        """Return the verb's index among the words, or None where none is found."""


class RuleVerbs:
    """Finds the verb by a list of finite forms and by the ending -ed."""

    name = "rule"

    def main_verb(self, words: list[str]) -> int | None:
        """Return the first likely verb that follows a subject of some length, or else the first."""
        candidates = [index for index in range(1, len(words)) if _may_be_verb(words, index)]
        late = [index for index in candidates if index > 2]
        by_name = [index for index in range(1, len(words)) if _follows_name(words, index)]
        return next(iter(late or candidates or by_name), None)


def _may_be_verb(words: list[str], index: int) -> bool:
    text = " ".join(words[:index])
    if text.count("(") > text.count(")"):
        return False
    word = words[index].strip(QUOTES + ",;:()").lower()
    if words[index][:1].isupper():
        return False
    before = words[index - 1].strip(QUOTES).lower()
    regular = len(word) > 4 and word.endswith("ed") and before not in NOUN_MARKS
    return word in FINITE or regular


def _follows_name(words: list[str], index: int) -> bool:
    """Tell whether this may be the verb of a name: `Peru exports`."""
    before, word = words[index - 1].strip(QUOTES), words[index]
    named = before[:1].isupper() and before.isalpha() and before.lower() not in STOP
    return named and word.islower() and word.endswith("s") and not word.endswith(("ss", "us"))


def split_sentence(sentence: str, verbs: VerbFinder) -> str | None:
    """Return the sentence's beginning, or None where it cannot be cut well."""
    words = sentence.split()
    verb = verbs.main_verb(words)
    if verb is None:
        return None
    for extra in (AFTER_VERB, AFTER_VERB - 1, 0):
        cut = verb + 1 + extra
        # Punctuation would end the thought, and a model continues it with another one.
        if len(words) - cut >= LEAST_LEFT and not re.search(r"[,;:.!?)]$", words[cut - 1]):
            return " ".join(words[:cut])
    return None
