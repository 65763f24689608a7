"""Continuation prompts: a sentence is cut soon after its main verb."""

import re
from typing import Protocol

from services.builder.domain.words import FINITE, NOUN_MARKS, QUOTES, STOP

LEAST_LEFT = 2
"""A cut that leaves fewer words to say leaves nothing to say."""
AFTER_VERB = 2
"""How many words of what follows the verb are given, so that the way is begun."""


class VerbFinder(Protocol):
    """Says where the main verb of a sentence is."""

    name: str

    def main_verb(self, words: list[str]) -> int | None:
        """Return the verb's place among the words, or None where there is none to be seen."""


class RuleVerbs:
    """Finds the verb by a list of finite forms and by the ending -ed."""

    name = "rule"

    def main_verb(self, words: list[str]) -> int | None:
        """Return the first likely verb that follows a subject of some length, or else the first."""
        candidates = [place for place in range(1, len(words)) if _may_be_verb(words, place)]
        late = [place for place in candidates if place > 2]
        by_name = [place for place in range(1, len(words)) if _follows_name(words, place)]
        return next(iter(late or candidates or by_name), None)


def _may_be_verb(words: list[str], place: int) -> bool:
    text = " ".join(words[:place])
    if text.count("(") > text.count(")"):
        return False
    word = words[place].strip(QUOTES + ",;:()").lower()
    if words[place][:1].isupper():
        return False
    before = words[place - 1].strip(QUOTES).lower()
    regular = len(word) > 4 and word.endswith("ed") and before not in NOUN_MARKS
    return word in FINITE or regular


def _follows_name(words: list[str], place: int) -> bool:
    """Tell whether this may be the verb of a name: `Peru exports`."""
    before, word = words[place - 1].strip(QUOTES), words[place]
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
