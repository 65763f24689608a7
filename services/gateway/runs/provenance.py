"""Provenance of a run, and its interpretations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version

from pydantic import BaseModel

from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import (
    Brief,
    Diagnosis,
    Evaluation,
    Fault,
    Probe,
    Response,
    Run,
    SuiteOutline,
    SuiteProbe,
    Target,
    UncheckedSentence,
    probe_of,
    response_id_of,
)
from biaswatch.shared.store import PlannedProbes, Store

REPORTED_BY = 4
"""The first and as many of the last questions of a model say which versions answered."""


class AnsweringModel(BaseModel):
    """A model under test, and what it called itself."""

    target: str
    versions: list[str]
    """With the fingerprint that the provider gives, if any; from its first and last answers."""
    parameters: str
    system_prompt: str | None


class RunInstrument(BaseModel):
    """An extractor of a run at its version."""

    name: str
    version: str
    instrument: str
    """What it measures with, such as a model or a word list."""


class RunProvenance(BaseModel):
    """Where a run's numbers come from."""

    suite: str
    suite_hash: str | None
    """Null for a window of production traffic, which has no suite."""
    about: str
    claim: str | None
    """What conclusions are about."""
    questions: int
    repeats: int
    scaffolds: list[str]
    models: list[AnsweringModel]
    judges: list[str]
    instruments: list[RunInstrument]
    ranges: dict[str, tuple[float, float]]
    """The least and the largest value of a number, where the suite declares them."""
    seed: str
    """What everything random of the statistics is drawn from."""
    judging_seed: int | None
    begun: datetime
    concluded: datetime | None
    tokens: int | None
    cost: float | None
    software: str
    """The version of biaswatch that answers this request."""


class ProvenanceQueries:
    """Reads where numbers come from; it blocks, so call it in a thread."""

    def __init__(self, store: Store, runs: RunQueries) -> None:
        self._store = store
        self._runs = runs

    def provenance(self, run_id: str) -> RunProvenance:
        """Return the suite, models, instruments, seeds, dates and code of a run.

        Raises
        ------
        NotFoundError
            There is no such run.
        """
        return self.behind(run_id, self._runs.diagnoses(run_id))

    def behind(self, run_id: str, diagnoses: Sequence[Diagnosis]) -> RunProvenance:
        """Return the same for who has read the run's findings already."""
        run = self._runs.run(run_id)
        outline = self._store.suites.outline(run.suite_hash)
        planned = PlannedProbes(self._store.suites, outline, run) if outline else None
        spent = self._store.calls.spending([run.id]).get(run.id)
        judging = run.judging
        return RunProvenance(
            suite=run.suite,
            suite_hash=run.suite_hash,
            about=outline.header.about if outline else "",
            claim=next((each.claim for each in diagnoses), None),
            questions=planned.questions if planned else 0,
            repeats=run.repeats,
            scaffolds=list(run.scaffolds),
            models=list(self._models(run, outline, planned)),
            judges=[judge.name for judge in judging.judges] if judging else [],
            instruments=list(self._instruments(run)),
            ranges=outline.header.ranges if outline else {},
            seed=str(int(run.id, 16)),
            judging_seed=judging.seed if judging else None,
            begun=run.at,
            concluded=max((each.at for each in diagnoses), default=None),
            tokens=spent.tokens if spent else None,
            cost=spent.cost if spent else None,
            software=version("biaswatch"),
        )

    def _instruments(self, run: Run) -> Iterator[RunInstrument]:
        known = {(each.name, each.version): each for each in self._store.extractors.ever()}
        for pin in run.extractors:
            status = known.get((pin.name, pin.version))
            instrument = status.instrument if status else ""
            yield RunInstrument(name=pin.name, version=pin.version, instrument=instrument)

    def _models(
        self, run: Run, outline: SuiteOutline | None, planned: PlannedProbes | None
    ) -> Iterator[AnsweringModel]:
        items = planned.ends(REPORTED_BY) if planned else []
        for target in run.targets:
            if outline:
                asked = _first_and_last(run, outline, target, items)
                answers = [response_id_of(each) for each in asked]
            else:
                most = 2 * REPORTED_BY
                answers = self._store.records.ids_of_run(Response, run.id, after="", most=most)
            yield AnsweringModel(
                target=target.name,
                versions=self._versions(answers),
                parameters=", ".join(
                    f"{name} {value}" for name, value in target.parameters.items()
                ),
                system_prompt=target.system_prompt,
            )

    def _versions(self, response_ids: Sequence[str]) -> list[str]:
        said = (
            f"{each.model} ({each.fingerprint})" if each.fingerprint else each.model
            for each in self._store.records.get(Response, response_ids)
        )
        return sorted({each for each in said if each})


def _first_and_last(
    run: Run, outline: SuiteOutline, target: Target, items: Sequence[tuple[int, SuiteProbe]]
) -> list[Probe]:
    return [
        probe_of(run, outline.header, item, target, scaffold, repeat, run.at, position=place)
        for place, item in items
        for scaffold in run.scaffolds[:1]
        for repeat in {0, run.repeats - 1}
    ]


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
