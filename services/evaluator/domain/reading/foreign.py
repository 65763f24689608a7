"""Reports written elsewhere: sentences, faults of their numbers, hints about their statements."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biaswatch.services.evaluator.domain.reading.checks import checked_numbers
from biaswatch.services.evaluator.domain.reading.facts import Fact, facts_of
from biaswatch.services.evaluator.domain.reading.statements import statement_hints, states_something
from biaswatch.services.evaluator.domain.reading.words import Words
from biaswatch.services.evaluator.domain.writing.outline import OUTLINE
from biaswatch.shared.contracts import Fault, Subject, UncheckedSentence

MAX_SENTENCE_CHARS = 800
"""Longer sentences are left to readers, which bounds the time of a check."""
MAX_SENTENCES = 1000
MAX_ABBREVIATION_CHARS = 12
ATTRIBUTION = "Words may attribute the outcome to a group's nature."
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(?P<title>.*)")
_END = re.compile(r"(?<=[.!?])[)\"'\u201d]*\s+(?=[\"'\u201c(]*[A-Z0-9])")
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|no|fig)\.[)\"']*$", re.IGNORECASE)


@dataclass(frozen=True)
class PlacedSentence:
    """A sentence of a report and its place."""

    where: str
    number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class ReadReport:
    """The faults, hints and open sentences of a report."""

    faults: tuple[Fault, ...]
    hints: tuple[Fault, ...]
    unchecked: tuple[UncheckedSentence, ...]
    statements: int


def read_report(
    report: str, subject: Subject, *, structure: bool, flags: re.Pattern[str] | None = None
) -> ReadReport:
    """Check the numbers of a report; list statements that a person has to read.

    With `structure` its headings have to be those of the outline; `flags` are phrases that may
    attribute the outcome to a group.
    """
    facts = facts_of(subject)
    faults: list[Fault] = list(_heading_faults(report)) if structure else []
    hints: list[Fault] = []
    unchecked: list[UncheckedSentence] = []
    statements = 0
    for sentence in sentences_of(report):
        sentence_read = _read(sentence, subject, facts)
        faults += sentence_read.faults
        hints += sentence_read.hints
        if flags and flags.search(sentence.text[:MAX_SENTENCE_CHARS]):
            hints.append(_fault(sentence, "attribution", ATTRIBUTION))
        unchecked += sentence_read.unchecked
        statements += sentence_read.statements
    return ReadReport(tuple(faults), tuple(hints), tuple(unchecked), statements)


def _read(sentence: PlacedSentence, subject: Subject, facts: Sequence[Fact]) -> ReadReport:
    if len(sentence.text) > MAX_SENTENCE_CHARS or sentence.number > MAX_SENTENCES:
        return ReadReport((), (), (_unchecked(sentence, ()),), 1)
    mentions = Words(sentence.text, subject)
    numbers = checked_numbers(mentions, facts)
    faults = tuple(_fault(sentence, kind, message) for kind, message in numbers.faults)
    hints = tuple(
        _fault(sentence, kind, message)
        for kind, message in (*numbers.hints, *statement_hints(mentions, subject))
    )
    states = states_something(mentions)
    left = (states or numbers.open) and not faults
    unchecked = (_unchecked(sentence, numbers.open),) if left else ()
    return ReadReport(faults, hints, unchecked, int(states or bool(mentions.numbers)))


def sentences_of(report: str) -> Iterator[PlacedSentence]:
    """Yield the sentences of a report with their headings and places."""
    where, count, position = "", 0, 0
    for line in report.splitlines(keepends=True):
        if heading := _HEADING.match(line):
            where, count = heading["title"].strip().rstrip("#").strip()[:80], 0
        else:
            spans = list(_sentence_spans(line))
            for number, (start, end) in enumerate(spans, start=count + 1):
                text = " ".join(line[start:end].split())
                yield PlacedSentence(where, number, position + start, position + end, text)
            count += len(spans)
        position += len(line)


def _sentence_spans(block: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _END.finditer(block):
        before = block[max(start, match.start() - MAX_ABBREVIATION_CHARS) : match.start()]
        if not _ABBREVIATED.search(before):
            yield start, match.start()
            start = match.end()
    if block[start:].strip():
        start += len(block[start:]) - len(block[start:].lstrip())
        yield start, len(block.rstrip())


def _heading_faults(report: str) -> Iterator[Fault]:
    titles = [m["title"].strip() for line in report.splitlines() if (m := _HEADING.match(line))]
    for section in OUTLINE:
        if titles.count(section.title) != 1:
            problem = "is missing" if section.title not in titles else "occurs more than once"
            message = f"The heading {section.title!r} {problem}."
            yield Fault(kind="structure", where=section.title[:80], sentence=message)


def _fault(sentence: PlacedSentence, kind: str, message: str) -> Fault:
    return Fault(
        kind=kind, where=sentence.where, sentence=message, start=sentence.start, end=sentence.end
    )


def _unchecked(sentence: PlacedSentence, values: Sequence[str]) -> UncheckedSentence:
    return UncheckedSentence(
        where=sentence.where,
        number=sentence.number,
        start=sentence.start,
        end=sentence.end,
        values=tuple(value[:80] for value in values),
    )
