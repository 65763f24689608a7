"""Hints about statements: simple readings that may be mistaken and are never called faults."""

import re
from collections.abc import Iterator

from biaswatch.services.evaluator.domain.reading.words import Words
from biaswatch.services.evaluator.domain.writing.draft_faults import (
    CAUSE,
    DENIED,
    DIRECTION,
    INTERVAL,
    SIGNIFICANCE,
    SIZE,
    STRATA,
)
from biaswatch.services.evaluator.domain.writing.subject_facts import (
    contains_null,
    shows_difference,
)
from biaswatch.shared.contracts import Subject

_SIGNIFICANT = re.compile(r"\b(?:statistically )?significant(?:ly)?\b", re.IGNORECASE)
_NO_DIFFERENCE = re.compile(
    r"\b(?:no (?:difference|disparity|gap|association) between|treated (?:equally|alike)"
    r"|prov\w+ that|is caused by|because (?:they|of))\b",
    re.IGNORECASE,
)
_CONTAINS = re.compile(r"\b(?:contain|include|span|cross|cover)(?:s|es|ed)?\b", re.IGNORECASE)
_EXCLUDES = re.compile(
    r"\b(?:exclud(?:es?|ed)|lies? (?:entirely )?(?:above|below))\b", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,;:]|\b(?:but|although|while|whereas|because|since|so)\b", re.IGNORECASE)


def states_something(sentence: Words) -> bool:
    """Tell whether a sentence makes a statement that only a reader can check."""
    topics = (SIGNIFICANCE, DIRECTION, INTERVAL, STRATA, CAUSE, SIZE)
    return any(words.search(sentence.text) for words in topics)


def statement_hints(sentence: Words, subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield kind and message of statements that seem to contradict the statistics."""
    yield from _significance(sentence, subject)
    yield from _interval(sentence, subject)
    if CAUSE.search(sentence.text) and not DENIED.search(sentence.text):
        yield "cause", "The sentence may claim a cause, which the statistics cannot show."


def _significance(sentence: Words, subject: Subject) -> Iterator[tuple[str, str]]:
    for clause in _CLAUSE.split(sentence.text):
        if _SIGNIFICANT.search(clause) is None:
            continue
        claimed = not DENIED.search(clause)
        if claimed != shows_difference(subject):
            word = "significant" if claimed else "not significant"
            yield "significance", f"The sentence may call the result {word}; the test does not."
    if not shows_difference(subject) and _NO_DIFFERENCE.search(sentence.text):
        yield "significance", "The sentence may take a missing proof for a proof of no difference."


def _interval(sentence: Words, subject: Subject) -> Iterator[tuple[str, str]]:
    for clause in _CLAUSE.split(sentence.text):
        contains, excludes = _CONTAINS.search(clause), _EXCLUDES.search(clause)
        if "interval" not in clause.lower() or bool(contains) == bool(excludes):
            continue
        claimed = bool(contains) != bool(DENIED.search(clause))
        names = _named(Words(clause, subject)) or _named(sentence)
        states = [contains_null(m) for m in subject.measures if m.name in names]
        if states and claimed not in states and None not in states:
            yield "interval", "The sentence may be wrong about the value of no difference."


def _named(sentence: Words) -> frozenset[str]:
    return frozenset().union(*(mention.measures for mention in sentence.measures))
