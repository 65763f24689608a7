"""Reports written elsewhere: sentences, faults of their numbers, hints about their statements."""

import re
from collections.abc import Iterator

from biaswatch.services.evaluator.domain.reading.checks import NumberCheck
from biaswatch.services.evaluator.domain.reading.evidence import SentenceEvidence
from biaswatch.services.evaluator.domain.writing.draft import CheckedReport
from biaswatch.services.evaluator.domain.writing.draft_faults import (
    CAUSE,
    DIRECTION,
    INTERVAL,
    SIGNIFICANCE,
    SIZE,
    STRATA,
)
from biaswatch.services.evaluator.domain.writing.outline import heading_problems
from biaswatch.shared.contracts import Fault, Subject, UncheckedSentence

MAX_SENTENCE_CHARS = 800
"""Longer sentences are left to readers, which bounds the time of a check."""
MAX_SENTENCES = 1000
ATTRIBUTION = "Words may attribute the outcome to a group's nature."
STATEMENT = re.compile(
    "|".join(words.pattern for words in (SIGNIFICANCE, DIRECTION, INTERVAL, STRATA, CAUSE, SIZE)),
    re.IGNORECASE,
)
"""Words of statements that only a reader can check."""
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(?P<title>.*)")
_END = re.compile(r"(?<=[.!?])[)\"'\u201d]*\s+(?=[\"'\u201c(]*[A-Z0-9])")
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|vs|cf|approx|no|fig)\.[)\"']*$", re.IGNORECASE)


def read_report(
    report: str, subject: Subject, *, structure: bool, flags: re.Pattern[str] | None = None
) -> CheckedReport:
    """Check the numbers of a report; list statements that a person has to read.

    With `structure` its headings have to be those of the outline; `flags` are phrases that may
    attribute the outcome to a group.
    """
    faults = list(_heading_faults(report)) if structure else []
    hints: list[Fault] = []
    unchecked: list[UncheckedSentence] = []
    statements = 0
    for sentence in sentences_of(report):
        text = " ".join(report[sentence.start : sentence.end].replace("**", "").split())
        if len(text) > MAX_SENTENCE_CHARS or sentence.number > MAX_SENTENCES:
            unchecked.append(sentence)
            statements += 1
            continue
        evidence = SentenceEvidence(text, subject)
        for finding in NumberCheck(evidence).run():
            remark = fault_at(sentence, finding.kind, finding.message)
            (faults if finding.certain else hints).append(remark)
        if flags and flags.search(text):
            hints.append(fault_at(sentence, "attribution", ATTRIBUTION))
        states = STATEMENT.search(text) is not None
        unchecked += [sentence] if states else []
        statements += states or bool(evidence.numbers)
    return CheckedReport(
        report,
        faults=tuple(faults),
        hints=tuple(hints),
        unchecked=tuple(unchecked),
        statements=statements,
    )


def sentences_of(report: str) -> Iterator[UncheckedSentence]:
    """Yield the sentences of a report with their headings and places."""
    where, count, position = "", 0, 0
    for line in report.splitlines(keepends=True):
        if heading := _HEADING.match(line):
            where, count = heading["title"].strip().rstrip("#").strip()[:80], 0
        for start, end in () if heading else _sentence_spans(line):
            count += 1
            yield UncheckedSentence(
                where=where, number=count, start=position + start, end=position + end
            )
        position += len(line)


def _sentence_spans(line: str) -> Iterator[tuple[int, int]]:
    ends = [m for m in _END.finditer(line) if not _ABBREVIATED.search(line[: m.start()][-12:])]
    starts = [0, *(match.end() for match in ends)]
    for start, end in zip(starts, [*(match.start() for match in ends), len(line)], strict=True):
        if text := line[start:end].strip():
            start = line.index(text, start)
            yield start, start + len(text)


def _heading_faults(report: str) -> Iterator[Fault]:
    titles = [m["title"].strip() for line in report.splitlines() if (m := _HEADING.match(line))]
    for title, message in heading_problems(titles):
        yield Fault(kind="structure", where=title[:80], sentence=message)


def fault_at(sentence: UncheckedSentence, kind: str, message: str) -> Fault:
    """Return a fault, or a hint, about a sentence."""
    place = sentence.model_dump(include={"where", "start", "end"})
    return Fault(kind=kind, sentence=message, **place)
