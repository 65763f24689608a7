"""The interpretations of a run as its page shows them: the text, and what code says of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import Brief, Evaluation, Fault, UncheckedSentence
from biaswatch.shared.store import Store

MOST_SHOWN = 20
"""Interpretations on a page."""


@dataclass(frozen=True)
class ReportPiece:
    """A piece of a report: one sentence that something is said of, or all between two of them."""

    text: str
    faults: tuple[str, ...] = ()
    unchecked: bool = False
    values: tuple[str, ...] = ()
    """Its numbers that were not checked, where only those were not."""


@dataclass(frozen=True)
class ShownInterpretation:
    """An interpretation with its text in pieces."""

    about: str
    evaluation: Evaluation
    pieces: tuple[ReportPiece, ...]
    elsewhere: tuple[Fault, ...]
    """What is wrong with the report and not with one of its sentences."""
    unchecked: tuple[str, ...]
    """The sentences that were not checked, or not wholly."""


class InterpretationQueries:
    """Reads the interpretations of runs; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_run(self, run_id: str) -> list[ShownInterpretation]:
        """Return the latest interpretations of a run's findings, each finding's last one first."""
        found = sorted(self._store.records.read(Evaluation, run_id=run_id), key=lambda e: e.at)
        found = found[::-1][:MOST_SHOWN]
        wanted = {each.brief_id for each in found}
        briefs = {each.id: each for each in self._store.records.get(Brief, wanted)}
        return [shown_interpretation(each, briefs.get(each.brief_id)) for each in found]


def shown_interpretation(found: Evaluation, brief: Brief | None) -> ShownInterpretation:
    """Return an evaluation as a page shows it."""
    subject = brief.subject if brief else None
    about = f"{subject.groups[0]} against {subject.groups[1]}, {subject.outcome}" if subject else ""
    pieces = tuple(report_pieces(found.report or "", found.faults, found.unchecked))
    return ShownInterpretation(
        about=about or found.brief_id[:12],
        evaluation=found,
        pieces=pieces,
        elsewhere=tuple(each for each in found.faults if each.start is None),
        unchecked=tuple(_unchecked_words(each) for each in found.unchecked),
    )


def report_pieces(
    report: str, faults: Sequence[Fault], unchecked: Sequence[UncheckedSentence]
) -> Iterator[ReportPiece]:
    """Cut a report at the sentences that something is said of; the pieces make up all of it."""
    said_of = [(each.start, each.end) for each in faults]
    said_of += [(each.start, each.end) for each in unchecked]
    places = {(start, end) for start, end in said_of if start is not None and end is not None}
    at = 0
    for start, end in sorted(places):
        if start < at:
            continue
        if start > at:
            yield ReportPiece(report[at:start])
        open_ = next((each for each in unchecked if each.start == start), None)
        said = tuple(each.sentence for each in faults if each.start == start)
        values = open_.values if open_ else ()
        yield ReportPiece(report[start:end], said, open_ is not None, values)
        at = end
    if report[at:]:
        yield ReportPiece(report[at:])


def _unchecked_words(each: UncheckedSentence) -> str:
    said = f"sentence {each.number} under \u201c{each.where}\u201d"
    return f"{said}: what {', '.join(each.values)} stands for" if each.values else said
