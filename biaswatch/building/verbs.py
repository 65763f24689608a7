"""The main verb of an English sentence, by rule: finite forms, and the word before and after."""

from typing import Protocol

from biaswatch.building.verb_words import AUXILIARIES, PARTICIPLES, PAST, VERBS
from biaswatch.building.words import NOUN_MARKS, QUOTES, STOP, word_set

RULE_NAME = "rule"


class VerbFinder(Protocol):
    """Says where the main verb of a sentence is."""

    name: str

    def main_verb(self, words: list[str]) -> int | None:
        """Return the verb's index among the words, or None where none is found."""


PREPOSITIONS = word_set(
    "of for in on at by with from to into onto over under between among amid through throughout"
    " about as than per via against without within around across behind beyond during toward"
    " towards above below near after before since until despite upon alongside along outside"
    " inside like unlike beside besides"
)
CONJUNCTIONS = word_set("and or nor but yet")
SUBORDINATORS = word_set(
    "while when whenever if although though because since unless whereas after before once until as"
    " even wherever whether"
)
"""Words that begin a subordinate clause before the main one."""
RELATIVES = word_set("that which who whom whose where when why how what")
PLURALS = word_set(
    "they we you people men women children police many some most others both these those all few"
    " several cattle staff media data"
)
"""Subjects of the plural that do not end in s."""
PRONOUNS = word_set("i he she it they we you this that these those there who everyone everybody")
SUBJECTS = word_set("i he she it they we you")
SINGULAR_PRONOUNS = word_set("he she it this that who everyone everybody one which nobody")
ADVERBS = word_set(
    "also often still never now always sometimes usually rarely seldom just even soon then once"
    " thus already again not almost hardly only mainly mostly further there not long well"
)
AFTER_VERBS = (
    NOUN_MARKS
    | word_set(
        "itself himself herself themselves some many several both all each one two three four five"
        " six seven eight nine ten"
    )
    | word_set("most more few every another")
)
"""Words that follow a verb and no noun."""
VERB_FOLLOWERS = (AFTER_VERBS | PREPOSITIONS | ADVERBS) - {"of"}
NOT_PLURAL = ("ss", "us", "is", "'s", "\u2019s")


class RuleVerbs:
    """Finds the verb by finite forms; subordinate and relative clauses are skipped."""

    name = RULE_NAME

    def main_verb(self, words: list[str]) -> int | None:
        """Return the index of the first finite verb of the main clause."""
        begin = _main_clause(words)
        candidates = [n for n in range(begin, len(words)) if is_finite(words, n)]
        verb = _outside_relatives(words, begin, candidates)
        early = _away_from_subject(words, begin, len(words) if verb is None else verb)
        return verb if early is None else early


def _away_from_subject(words: list[str], begin: int, end: int) -> int | None:
    """Return a verb that a phrase parts from its subject: `The roots of the nation date back`."""
    head = next((n - 1 for n in range(begin, end) if bare(words[n]) in PREPOSITIONS), None)
    if head is None or words[head].endswith(","):
        return None
    for n in range(head + 3, end):
        if bare(words[n]) in RELATIVES or words[n - 1].endswith(","):
            return None
        marked = bare(words[n - 1]) in NOUN_MARKS | PREPOSITIONS | CONJUNCTIONS | {"to"}
        before = _subject(words, n)
        named = before is not None and before > head and words[before][:1].isupper()
        sure = named or _follows(words, n) in VERB_FOLLOWERS
        if sure and not marked and _agrees(words[n], bare(words[head])):
            return n
    return None


def _agrees(word: str, noun: str) -> bool:
    if _is_plural(noun):
        return word in VERBS
    return _is_singular_form(word) and _base_of(word) in VERBS


def _is_plural(noun: str) -> bool:
    return noun in PLURALS or (noun.endswith("s") and not noun.endswith(NOT_PLURAL))


def bare(word: str) -> str:
    """Return a word in lower case, without marks and quotes around it."""
    return word.strip(QUOTES + ",;:().\u2014!?").lower()


def _main_clause(words: list[str]) -> int:
    """Return where the subject of the main clause may begin: after an opening subordinate one."""
    first = bare(words[0])
    if first not in SUBORDINATORS:
        return 1
    verb = next((n for n in range(1, len(words)) if is_finite(words, n)), None)
    if verb is None or (first in PREPOSITIONS and _comma_before(words, verb)):
        return 1
    commas = [n + 1 for n in range(verb, len(words) - 1) if words[n].endswith(",")]
    return next((n + 1 for n in commas if not _is_list(words, n)), 1)


def _comma_before(words: list[str], index: int) -> bool:
    return any(word.endswith(",") for word in words[:index])


def _is_list(words: list[str], index: int) -> bool:
    """Tell whether a comma before this word separates the entries of a list: `a, b and c`."""
    for word in words[index : index + 5]:
        if bare(word) in CONJUNCTIONS:
            return True
        if bare(word) in PRONOUNS | NOUN_MARKS:
            return False
    return False


def _outside_relatives(words: list[str], begin: int, candidates: list[int]) -> int | None:
    """Return the first candidate that is not the verb of a relative clause."""
    open_clauses, previous = 0, begin - 1
    for verb in candidates:
        between = words[previous + 1 : verb]
        open_clauses += sum(_is_relative(words, previous + 1 + n) for n in range(len(between)))
        follows_auxiliary = verb == previous + 1 and previous >= begin
        if open_clauses and not follows_auxiliary:
            open_clauses -= 1
        elif not _is_coordinated(words, verb):
            return verb
        previous = verb
    return candidates[-1] if candidates else None


def _is_relative(words: list[str], index: int) -> bool:
    return index > 0 and bare(words[index]) in RELATIVES


def _is_coordinated(words: list[str], index: int) -> bool:
    return bare(words[index - 1]) in CONJUNCTIONS


def is_finite(words: list[str], index: int) -> bool:
    """Tell whether the word is a finite verb, by its form and the words around it."""
    word, written = bare(words[index]), words[index]
    if index == 0 or written[:1].isupper() or _in_brackets(words, index):
        return False
    if word in AUXILIARIES:
        return not (
            word in {"will", "can", "might", "may"} and bare(words[index - 1]) in NOUN_MARKS
        )
    before = bare(words[index - 1])
    if not word.isalpha() or before in NOUN_MARKS | AUXILIARIES or before in PREPOSITIONS:
        return False
    if word in PAST or is_regular_past(word):
        return _is_past(words, index, word)
    return _is_present(words, index, word)


def is_regular_past(word: str) -> bool:
    """Tell whether a word has the ending of a regular past or participle."""
    return len(word) > 3 and word.endswith("ed") and not word.endswith(("eed", "hundred"))


def _is_past(words: list[str], index: int, word: str) -> bool:
    """Tell a past from a participle: `The men left` from `the men, left by ...`."""
    if (word in PAST and word not in PARTICIPLES) or bare(words[index - 1]) in SUBJECTS:
        return True
    if words[index - 1].endswith((",", ";")) or _follows(words, index) == "by":
        return False
    if bare(words[index - 1]) in CONJUNCTIONS or _describes_noun(words, index):
        return False
    return not any(
        bare(words[n]) in AUXILIARIES or _is_present(words, n, bare(words[n]))
        for n in range(index + 1, _clause_end(words, index))
    )


def _describes_noun(words: list[str], index: int) -> bool:
    """Tell whether a noun without a mark of its own follows: `well paid jobs`."""
    following = _follows(words, index)
    return (
        following.endswith("s")
        and following not in STOP | PREPOSITIONS
        and (
            bare(words[index - 1]).endswith("ly")
            or bare(words[index - 1]) in {"most", "many", "some"}
        )
    )


def _clause_end(words: list[str], index: int) -> int:
    for n in range(index + 1, len(words)):
        word = bare(words[n])
        clause = word in CONJUNCTIONS and _follows(words, n) in NOUN_MARKS | PRONOUNS | AUXILIARIES
        if clause or word in RELATIVES | SUBORDINATORS - PREPOSITIONS:
            return n
    return len(words)


def _follows(words: list[str], index: int) -> str:
    return bare(words[index + 1]) if index + 1 < len(words) else ""


def _is_present(words: list[str], index: int, word: str) -> bool:
    """Tell whether a form of the present fits its subject: `nurses work`, `the state pays`."""
    if word in STOP | PREPOSITIONS | ADVERBS or words[index - 1][-1:] in ";:":
        return False
    if not word.isalpha() or words[index][:1].isupper():
        return False
    subject = _subject(words, index)
    noun = bare(words[subject]) if subject is not None else ""
    if not noun or noun in NOUN_MARKS | PREPOSITIONS | AUXILIARIES - PRONOUNS:
        return False
    if words[subject or 0].endswith(",") and not _comma_before(words, subject or 0):
        return False
    plural = _is_plural(noun)
    takes_object = _follows(words, index) in AFTER_VERBS - {"that"}
    if _is_singular_form(word):
        known = _base_of(word) in VERBS
        fits = noun in SINGULAR_PRONOUNS or (noun not in STOP and (not plural or takes_object))
        return fits and (takes_object or known) and not _is_genitive(words[subject or 0])
    if word in VERBS and takes_object and "and" in words[:index]:
        return True
    return plural and (word in VERBS or (takes_object and not word.endswith(("s", "ly", "ing"))))


def _subject(words: list[str], index: int) -> int | None:
    """Return the word that may be the subject's last; adverbs before the verb are skipped."""
    n = index - 1
    while n > 0 and (bare(words[n]) in ADVERBS or bare(words[n]).endswith("ly")):
        n -= 1
    return n if n >= 0 else None


def _is_genitive(word: str) -> bool:
    return bare(word).endswith(("'s", "\u2019s")) or word[-1:] in "'\u2019"


def _is_singular_form(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _base_of(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("es") and word[:-2] in VERBS:
        return word[:-2]
    return word[:-1]


def _in_brackets(words: list[str], index: int) -> bool:
    text = " ".join(words[:index])
    return text.count("(") > text.count(")")
