"""The place where a sentence is cut into a prompt: after the complement of its main verb."""

from collections.abc import Sequence

from biaswatch.building.clauses import (
    PHRASES,
    begins_adjunct,
    begins_participle,
    in_list,
    is_clause,
    is_part_of_which,
    is_participle,
)
from biaswatch.building.verb_words import AUXILIARIES, PARTICIPLES, PAST, VERBS
from biaswatch.building.verbs import (
    ADVERBS,
    AFTER_VERBS,
    CONJUNCTIONS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    SUBORDINATORS,
    RuleVerbs,
    VerbFinder,
    bare,
    is_finite,
    is_regular_past,
)
from biaswatch.building.words import NOUN_MARKS, STOP, contains_word, word_set

USUAL_WORDS = 20
"""Most words of a prompt, where the sentence has an earlier place."""
MOST_WORDS = 25
"""Most words of a prompt."""
FEWEST_WORDS = 8
"""Shorter prompts are a last resort."""
FEWEST_EVER = 3
"""Least number of words of a prompt."""
LEAST_LEFT = 2
"""Least number of words after the cut."""
LEAST_SHARE_LEFT = 0.15
"""Least share of the words after the cut."""
NO_VERB = "no main verb is found"
NO_PLACE = "nothing follows the complement of the main verb"
KEYWORD_AFTER = "the keyword comes after the cut"

BEFORE_BASE = CONJUNCTIONS | AUXILIARIES | {"to"}
"""Words before a verb in its base form: `should invest`."""
COMPLEMENT_CLAUSES = word_set("that whether how what why if where")
NEVER_LAST = (
    (STOP - word_set("it them him her us there here own same"))
    | PREPOSITIONS
    | NOUN_MARKS
    | PHRASES
    | word_set("than very almost about its little even")
)
"""Words after which no reader would stop."""
INCOMPLETE = word_set(
    "consist consists consisted depend depends depended rely relies relied belong belongs belonged"
    " lead leads led refer refers referred based referring amount amounts amounted add adds serve"
    " serves served result results resulted stand stands stood pay pays paid divide divided"
)
"""Verbs incomplete without their preposition."""
NAMING = word_set("known thought seen regarded compared")
"""Participles that are kept with their preposition: `known for`."""
NAMING_PREPOSITIONS = word_set("as for of to with")
LINKING = word_set(
    "is are was were be been being become becomes became remain remains remained seem seems seemed"
)


def split_sentence(
    sentence: str, verbs: VerbFinder, keywords: Sequence[str] = ()
) -> tuple[str | None, str]:
    """Return the beginning of a sentence, or None and the reason it cannot be cut.

    The beginning ends after the complement of the main verb, holds one of the keywords, and has
    at most 20 words where the sentence has such a place.
    """
    words = sentence.split()
    verb = verbs.main_verb(words)
    if verb is None:
        return None, NO_VERB
    least = max(LEAST_LEFT, round(LEAST_SHARE_LEFT * len(words)))
    places = _places(words, verb, len(words) - least)
    if not places:
        return None, NO_PLACE
    beginnings = [_beginning(words, place) for place in places]
    beginnings = [beginning for beginning in beginnings if len(beginning.split()) <= MOST_WORDS]
    named = [b for b in beginnings if not keywords or any(contains_word(b, k) for k in keywords)]
    if not named:
        return None, KEYWORD_AFTER
    usual = [beginning for beginning in named if len(beginning.split()) <= USUAL_WORDS]
    whole = [b for b in usual if len(b.split()) >= FEWEST_WORDS and _ends_clause(words, b)]
    return (whole or usual or named[:1])[-1], ""


def _ends_clause(words: Sequence[str], beginning: str) -> bool:
    """Tell whether a clause, or a part set off by a comma, ends where the beginning ends."""
    place = len(beginning.split())
    following = bare(words[place])
    return words[place - 1][-1:] in ",;:" or following in RELATIVES | SUBORDINATORS - PREPOSITIONS


def _beginning(words: Sequence[str], place: int) -> str:
    return " ".join(words[:place]).rstrip(",;: \u2014\u2013-")


def _places(words: list[str], verb: int, end: int) -> list[int]:
    """Return places between phrases after the complement, or after a verb without an object."""
    begin = _complement(words, verb)
    places = [n for n in range(begin, end + 1) if _may_cut(words, begin, n)]
    strong = [n for n in places if _begins_phrase(words, n)]
    return strong or [n for n in [_without_object(words, verb)] if verb < n <= end]


def _complement(words: list[str], verb: int) -> int:
    """Return where the complement begins: after auxiliaries, participles, and a preposition."""
    n = verb + 1
    while n < len(words) and _continues_verb(words, n):
        n += 1
    if n < len(words) and bare(words[n]) in COMPLEMENT_CLAUSES and not words[n - 1].endswith(","):
        inner = RuleVerbs().main_verb(words[n + 1 :])
        return n if inner is None else _complement(words, n + 1 + inner)
    while n < len(words) and bare(words[n]) in PREPOSITIONS and not words[n - 1].endswith(","):
        n += 1
    return n


def _without_object(words: list[str], verb: int) -> int:
    """Return where a verb without an object ends: `was closed | in spring`; 0 where it has one."""
    n = verb + 1
    while n < len(words) and _continues_verb(words, n):
        n += 1
    last = bare(words[n - 1])
    verbal = last not in AUXILIARIES | ADVERBS | LINKING and not last.endswith("ly")
    if (
        n == len(words)
        or not verbal
        or bare(words[n]) not in PREPOSITIONS - {"of", "about", "over"}
    ):
        return 0
    if n < FEWEST_EVER or last in INCOMPLETE:
        return 0
    return n + 1 if last in NAMING and bare(words[n]) in NAMING_PREPOSITIONS else n


def _continues_verb(words: list[str], index: int) -> bool:
    word, before = bare(words[index]), bare(words[index - 1])
    if words[index - 1].endswith((",", ";")):
        return False
    if word in ADVERBS or word in {"be", "been", "being", "have"} or word.endswith("ly"):
        return True
    if before == "to":
        return word in VERBS or word in {"be", "do"}
    if word == "to":
        return bare(words[index + 1]) in VERBS | {"be"} if index + 1 < len(words) else False
    after_auxiliary = any(bare(w) in AUXILIARIES | {"be", "been"} for w in words[:index][-3:])
    participle = word in PARTICIPLES or is_regular_past(word) or word.endswith("ing")
    base = word in VERBS and before in AUXILIARIES | ADVERBS - {"is", "are", "was", "were"}
    return after_auxiliary and (participle or base) and before not in NOUN_MARKS | PREPOSITIONS


def _may_cut(words: list[str], begin: int, index: int) -> bool:
    """Tell whether what stands before may end a prompt: a complement, no list, no bracket."""
    last = bare(words[index - 1])
    content = index == begin and words[index - 1].endswith((",", "ly"))
    content = content or any(bare(word) not in NEVER_LAST for word in words[begin:index])
    text = " ".join(words[:index])
    closed = text.count("(") == text.count(")") and text.count("\u201c") == text.count("\u201d")
    closed = closed and text.count('"') % 2 == 0
    if not content or last in NEVER_LAST or not closed or in_list(words, index):
        return False
    return not _parts_subject(words, index) and not _is_open(words, begin, index)


def _is_open(words: list[str], begin: int, index: int) -> bool:
    """Tell whether a relative clause lacks its verb: `lakes, which the settlers, who came, |`."""
    clauses = [n for n in range(begin, index) if n and bare(words[n]) in RELATIVES - {"that"}]
    if not clauses:
        return False
    return sum(is_finite(words, n) for n in range(clauses[0] + 1, index)) < len(clauses)


def _parts_subject(words: list[str], index: int) -> bool:
    """Tell whether a clause has begun before this place and its verb comes after."""
    openers = RELATIVES | SUBORDINATORS | CONJUNCTIONS
    begins = next((n for n in range(index - 1, 0, -1) if bare(words[n]) in openers), None)
    if begins is None or any(is_finite(words, n) for n in range(begins + 1, index)):
        return False
    rest = range(index, len(words))
    end = next((n for n in rest if bare(words[n]) in openers or words[n - 1][-1:] in ",;:"), None)
    return any(is_finite(words, n) for n in range(index, len(words) if end is None else end))


def _begins_phrase(words: list[str], index: int) -> bool:
    word, last = bare(words[index]), words[index - 1]
    if last[-1:] in ";:\u2014" or words[index][:1] in "\u2014\u2013(":
        return True
    if word in COMPLEMENT_CLAUSES and is_finite(words, index - 1):
        return False  # others think | that traders came first
    if last.endswith(","):
        own = word in NOUN_MARKS | PRONOUNS | CONJUNCTIONS or is_part_of_which(words, index)
        return own or begins_adjunct(words, index)
    if word in CONJUNCTIONS - {"nor"}:
        return is_clause(words, index + 1) or _is_verb(words, index + 1)
    if _begins_subordinate(words, index):
        return True
    if word in PHRASES | PREPOSITIONS:
        return word not in {"of", "than"} and not _needs_more(words, index)
    return begins_participle(words, index)


def _begins_subordinate(words: list[str], index: int) -> bool:
    word = bare(words[index])
    if word == "even":
        return index + 1 < len(words) and bare(words[index + 1]) in {"if", "though", "when"}
    return word in RELATIVES or word in SUBORDINATORS - {"as", "once"} - PREPOSITIONS


def _is_verb(words: list[str], index: int) -> bool:
    """Tell whether a second verb of the same subject follows: `and sends soldiers abroad`."""
    while index < len(words) - 1 and (bare(words[index]) in ADVERBS or words[index].endswith("ly")):
        index += 1
    word = bare(words[index])
    following = bare(words[index + 1]) if index + 1 < len(words) else ""
    if word in AUXILIARIES | PAST or is_regular_past(word):
        return True
    # Asked of a singular, then of a plural subject, as the form of the verb is not known.
    return following in AFTER_VERBS | PREPOSITIONS | RELATIVES | ADVERBS and any(
        is_finite([*words[:index], subject, *words[index:]], index + 1)
        for subject in ("it", "they")
    )


def _needs_more(words: list[str], index: int) -> bool:
    """Tell whether this completes the word before: `famous for`, `focusing on`, `instead of`."""
    last, before = bare(words[index - 1]), bare(words[index - 2])
    if bare(words[index]) == "per" and bare(words[index + 1]).startswith("cent"):
        return True
    if is_participle(last) or last in ADVERBS or last.endswith("ly"):
        return True
    if is_finite(words, index - 1) or (before in BEFORE_BASE and last in VERBS):
        return True
    earlier = [bare(word) for word in words[:index]]
    later = [bare(word) for word in words[index : index + 9]]
    if last in later or ("than" in later[1:] and _is_comparative(earlier)):
        return True  # half | by the state and half by firms; closer | to the goal than a defender
    if "and" in earlier[-3:] and bare(words[index]) in earlier[-8:]:
        return True  # the second half of a parallel: high on income and low | on property
    if bare(words[index]) == "to" and "from" in map(bare, words[max(0, index - 4) : index]):
        return True
    if bare(words[index]) == "as":
        return "as" in earlier[-4:] or bare(words[index + 1]) in {"many", "much", "well"}
    return before in LINKING or (before in ADVERBS and bare(words[index - 3]) in LINKING)


def _is_comparative(earlier: Sequence[str]) -> bool:
    return not {"more", "less", "fewer"}.isdisjoint(earlier[-2:]) or earlier[-1].endswith("er")
