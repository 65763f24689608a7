"""All that code alone can say of a report, sentence by sentence."""

import re
from collections.abc import Iterator, Sequence

from biaswatch.services.evaluator.domain.checks.causes import attribution_faults, cause_faults
from biaswatch.services.evaluator.domain.checks.compared_measures import measure_faults
from biaswatch.services.evaluator.domain.checks.definitions import definition_faults
from biaswatch.services.evaluator.domain.checks.directions import direction_faults
from biaswatch.services.evaluator.domain.checks.facts import Fact, facts_of
from biaswatch.services.evaluator.domain.checks.group_arithmetic import reading_faults
from biaswatch.services.evaluator.domain.checks.interval_sides import interval_side_faults
from biaswatch.services.evaluator.domain.checks.notes import denied_notes, omitted_notes
from biaswatch.services.evaluator.domain.checks.number_faults import number_faults, open_numbers
from biaswatch.services.evaluator.domain.checks.significance import significance_faults
from biaswatch.services.evaluator.domain.checks.structure import (
    ReportPassage,
    fault,
    passages,
    sentence_spans,
    sentences,
    structural_faults,
)
from biaswatch.services.evaluator.domain.checks.understanding import (
    is_understood,
    speaks_of_statistics,
)
from biaswatch.services.evaluator.domain.checks.wording import Wording, wording_of
from biaswatch.services.evaluator.domain.checks.written_numbers import numbers_in
from biaswatch.services.evaluator.domain.report_prompt import METHODS, OUTLINE, TERMS
from biaswatch.services.evaluator.domain.rubric import Profile
from biaswatch.shared.contracts import Fault, Subject, UncheckedSentence

LONGEST, LONGEST_SENTENCE = 20_000, 800
"""Characters under a heading, and of a sentence: beyond, patterns would keep the service busy."""
_YES_OR_NO = re.compile(r"\W*(?:yes|no)\b", re.IGNORECASE)
GENERAL = {METHODS, TERMS}
"""Passages that say how methods work, not what was found."""


def faults_of(report: str, subject: Subject, profile: Profile) -> tuple[Fault, ...]:
    """Return what is wrong with a report; nothing said means that code found nothing."""
    all_passages, facts = passages(report), facts_of(subject)
    places = sentence_spans(report)
    of_text = [
        _placed(fault_, places.get((fault_.where, number)))
        for passage in all_passages
        for fault_, number in _passage_faults(passage, subject, facts, profile)
    ]
    omitted = [fault(kind, "", message) for kind, message in omitted_notes(report, subject)]
    return (*structural_faults(all_passages), *of_text, *omitted)


def _placed(fault_: Fault, place: tuple[int, int] | None) -> Fault:
    """Return a fault with the place of its sentence in the report."""
    return (
        fault_.model_copy(update=dict(zip(("start", "end"), place, strict=True)))
        if place
        else fault_
    )


def statement_faults(text: str, subject: Subject, profile: Profile) -> list[tuple[str, str]]:
    """Return kind and sentence of what is wrong with statements about a subject's statistics."""
    found = _text_faults(text, subject, facts_of(subject), profile)
    return [(kind, said) for kind, said, _ in found]


def unchecked_sentences(report: str, subject: Subject) -> tuple[int, tuple[UncheckedSentence, ...]]:
    """Return how many sentences speak of the statistics, and which of them code did not check.

    Sentences that say how methods work are none of them.
    """
    statements, unchecked, facts = 0, list[UncheckedSentence](), facts_of(subject)
    places = sentence_spans(report)
    for passage in passages(report):
        if passage.title in GENERAL or len(passage.text) > LONGEST:
            continue
        carried: str | None = None
        for number, sentence in enumerate(sentences(passage.text), start=1):
            wording = wording_of(sentence[:LONGEST_SENTENCE], subject, carried)
            carried = wording.last_measure
            if speaks_of_statistics(wording):
                statements += 1
                left = tuple(number[:80] for number in open_numbers(wording, facts))
                if left or not is_understood(wording, subject):
                    where = passage.title[:80]
                    start, end = places.get((where, number), (None, None))
                    unchecked.append(
                        UncheckedSentence(
                            where=where, number=number, start=start, end=end, values=left
                        )
                    )
    return statements, tuple(unchecked)


def _passage_faults(
    passage: ReportPassage, subject: Subject, facts: Sequence[Fact], profile: Profile
) -> Iterator[tuple[Fault, int]]:
    """Return faults of a passage, each with the number of its sentence; 0 where it has none."""
    if passage.title in GENERAL:
        for number, sentence in enumerate(sentences(passage.text), start=1):
            for kind, message in attribution_faults(sentence, profile):
                yield fault(kind, passage.title, message), number
    else:
        for kind, message, number in _text_faults(passage.text, subject, facts, profile):
            yield fault(kind, passage.title, message), number
    banned = any(passage.title == section.title and not section.numbers for section in OUTLINE)
    if banned:
        for written in numbers_in(passage.text):
            if any(char.isdigit() for char in written.text) and written.value not in {
                0.0,
                1.0,
                95.0,
                0.05,
            }:
                message = f"The number {written.text} stands where the report has no numbers."
                yield fault("number", passage.title, message), 0


def _text_faults(
    text: str, subject: Subject, facts: Sequence[Fact], profile: Profile
) -> Iterator[tuple[str, str, int]]:
    if len(text) > LONGEST:
        message = f"There are more than {LONGEST:,} characters: what stands here was not checked."
        yield "sentences", message, 0
        return
    carried: str | None = None
    question: str | None = None
    """The sentence before, where it was a question, which this one may answer."""
    for place, sentence in enumerate(sentences(text), start=1):
        if len(sentence) > LONGEST_SENTENCE:
            yield "sentences", "A sentence is too long for code to check: read it.", place
            continue
        wording = wording_of(sentence, subject, carried)
        faults = _sentence_faults(wording, subject, facts, profile, is_answer=question is not None)
        yield from ((kind, message, place) for kind, message in faults)
        if question and _YES_OR_NO.match(sentence):
            answered = wording_of(f"{question.rstrip('? ')}: {sentence}", subject, carried)
            yield from (
                (kind, message, place) for kind, message in significance_faults(answered, subject)
            )
        carried = wording.last_measure
        question = sentence if sentence.rstrip("*_ ").endswith("?") else None


def _sentence_faults(
    wording: Wording, subject: Subject, facts: Sequence[Fact], profile: Profile, *, is_answer: bool
) -> Iterator[tuple[str, str]]:
    """Return kind and words of what is wrong with a sentence, by all rules in turn."""
    yield from number_faults(wording, facts)
    if wording.text.rstrip("*_ ").endswith("?"):
        return  # a question claims nothing
    yield from interval_side_faults(wording, subject)
    if not is_answer:
        yield from significance_faults(wording, subject)
    yield from direction_faults(wording, subject)
    yield from measure_faults(wording, subject)
    yield from definition_faults(wording)
    yield from reading_faults(wording)
    yield from cause_faults(wording)
    yield from attribution_faults(wording.text, profile)
    yield from denied_notes(wording, subject)
