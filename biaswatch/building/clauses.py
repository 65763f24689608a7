"""Lists, clauses and participles of English sentences, by the words around a place."""

from biaswatch.building.verb_words import PARTICIPLES, VERBS
from biaswatch.building.verbs import (
    ADVERBS,
    CONJUNCTIONS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    SUBORDINATORS,
    bare,
    is_finite,
    is_regular_past,
)
from biaswatch.building.words import NOUN_MARKS, STOP, word_set

MOST_ENTRY_WORDS = 6
"""Words of an entry of a list."""
PHRASES = word_set("including due because along according despite amid such rather together")
"""Words that begin a phrase after a noun."""


def in_list(words: list[str], index: int) -> bool:
    """Tell whether the next words are an entry of a list: `a mix of wool, salt, and slate`."""
    if not words[index - 1].endswith(","):
        return False
    if bare(words[index]) in CONJUNCTIONS:
        before = words[max(0, index - 1 - MOST_ENTRY_WORDS) : index - 1]
        return any(w.endswith(",") for w in before) and not is_clause(words, index + 1)
    if begins_adjunct(words, index) or is_clause(words, index):
        return False
    ends = (n for n in range(index, len(words)) if _ends_entry(words, n))
    end = next(ends, None)
    if end is None or end > index + MOST_ENTRY_WORDS:
        return False
    return bare(words[end]) in CONJUNCTIONS or (end + 1 < len(words) and in_list(words, end + 1))


def _ends_entry(words: list[str], index: int) -> bool:
    return words[index].endswith(",") or bare(words[index]) in CONJUNCTIONS


def begins_adjunct(words: list[str], index: int) -> bool:
    """Tell whether a phrase begins that adds to the clause: `, known for its wool`."""
    while bare(words[index]) in ADVERBS and index < len(words) - 1:
        index += 1
    word = bare(words[index])
    if word in RELATIVES | SUBORDINATORS | PHRASES | PREPOSITIONS:
        return True
    if not is_participle(word):
        return False
    begins = next((n for n in range(index - 1, 0, -1) if words[n - 1].endswith(",")), 0)
    return not is_participle(bare(words[begins]))


def is_participle(word: str) -> bool:
    """Tell whether a word is a participle by its form, and no base form of a verb."""
    if word in PARTICIPLES:
        return word not in VERBS  # run, set, cut
    return is_regular_past(word) or (len(word) > 4 and word.endswith("ing"))


def is_clause(words: list[str], index: int) -> bool:
    """Tell whether a clause with a subject and a verb of its own begins here."""
    if index >= len(words) or not _may_be_subject(words[index]):
        return False
    return any(is_finite(words, n) for n in range(index + 1, min(index + 6, len(words))))


def _may_be_subject(word: str) -> bool:
    return word[:1].isupper() or bare(word) in PRONOUNS | NOUN_MARKS


def begins_participle(words: list[str], index: int) -> bool:
    """Tell whether a participle begins that describes a noun: `ships | built in Orm`."""
    word, before = bare(words[index]), bare(words[index - 1])
    after = bare(words[index + 1]) if index + 1 < len(words) else ""
    if before in STOP | ADVERBS or not is_participle(word):
        return False
    return after in NOUN_MARKS or (not word.endswith("ing") and after in PREPOSITIONS)


def is_part_of_which(words: list[str], index: int) -> bool:
    """Tell whether a clause begins with a part of the noun before it: `, each of which elects`."""
    following = [bare(word) for word in words[index + 1 : index + 3]]
    return following in (["of", "which"], ["of", "whom"], ["of", "them"])
