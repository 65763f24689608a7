"""Provenance of a run, and its interpretations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from biaswatch.services.gateway.runs.queries import RunQueries, pinned_extractors
from biaswatch.shared.contracts import (
    Brief,
    Diagnosis,
    Evaluation,
    Fault,
    Response,
    Run,
    SuiteOutline,
    UncheckedSentence,
    probe_of,
    response_id_of,
)
from biaswatch.shared.presentation.reports import prose_words, split_at_phrases
from biaswatch.shared.requests.run_sources import AnsweringModel, RunInstrument, RunProvenance
from biaswatch.shared.store import PlannedProbes, Store

SAMPLED_ENDS = 4
"""Questions at the beginning and at the end of a run whose answers reveal the model version."""
MAX_INTERPRETATIONS = 20
"""Interpretations on a page."""


@dataclass(frozen=True)
class ProvenanceQueries:
    """Blocking queries of provenance; call them in a thread."""

    store: Store
    runs: RunQueries

    def provenance(self, run_id: str) -> RunProvenance:
        """Return suite, models, instruments, seeds, dates and code; raise NotFoundError."""
        return self.behind(run_id, self.runs.diagnoses(run_id))

    def behind(self, run_id: str, diagnoses: Sequence[Diagnosis]) -> RunProvenance:
        """Return the provenance of a run whose findings were already read."""
        run = self.runs.run(run_id)
        outline = self.store.suites.outline(run.suite_hash)
        planned = PlannedProbes(self.store.suites, outline, run) if outline else None
        spent = self.store.calls.spending([run.id]).get(run.id)
        judging = run.judging
        return RunProvenance(
            suite=run.suite,
            suite_hash=run.suite_hash,
            about=outline.header.about if outline else "",
            claim=next((diagnosis.claim for diagnosis in diagnoses), None),
            questions=planned.questions if planned else 0,
            repeats=run.repeats,
            scaffolds=list(run.scaffolds),
            models=self._models(run, outline, planned),
            judges=[judge.name for judge in judging.judges] if judging else [],
            instruments=[
                RunInstrument(
                    name=pin.name,
                    version=pin.version,
                    instrument=status.instrument if status else "",
                )
                for pin, status in pinned_extractors(self.store, run)
            ],
            ranges=dict(outline.header.known_ranges) if outline else {},
            seed=str(int(run.id, 16)),
            judging_seed=judging.seed if judging else None,
            begun=run.at,
            concluded=max((diagnosis.at for diagnosis in diagnoses), default=None),
            tokens=spent.tokens if spent else None,
            cost=spent.cost if spent else None,
            software=version("biaswatch"),
        )

    def _models(
        self, run: Run, outline: SuiteOutline | None, planned: PlannedProbes | None
    ) -> list[AnsweringModel]:
        if outline is None or planned is None:
            ids = self.store.records.ids_of_run(Response, run.id, after="", most=2 * SAMPLED_ENDS)
            by_target = {target.name: list(ids) for target in run.targets}
        else:
            items = planned.ends(SAMPLED_ENDS)
            by_target = {
                target.name: [
                    response_id_of(
                        probe_of(
                            run,
                            outline.header,
                            item,
                            target,
                            scaffold,
                            repeat,
                            run.at,
                            position=position,
                        )
                    )
                    for position, item in items
                    for scaffold in run.scaffolds[:1]
                    for repeat in {0, run.repeats - 1}
                ]
                for target in run.targets
            }
        sampled = {id_ for ids in by_target.values() for id_ in ids}
        versions = {
            response.id: f"{response.model} ({response.fingerprint})"
            if response.fingerprint
            else response.model
            for response in self.store.records.get(Response, sampled)
        }
        return [
            AnsweringModel(
                target=target.name,
                versions=sorted(
                    {name for id_ in by_target[target.name] if (name := versions.get(id_))}
                ),
                parameters=", ".join(
                    f"{name} {value}" for name, value in target.parameters.items()
                ),
                system_prompt=target.system_prompt,
            )
            for target in run.targets
        ]


@dataclass(frozen=True)
class ReportPiece:
    """Part of a report: a sentence with remarks, or the text between two such sentences."""

    parts: tuple[tuple[str, bool], ...]
    """Texts, and whether judges object to them."""
    faults: tuple[str, ...] = ()
    unchecked: bool = False

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(text for text, _ in self.parts)


@dataclass(frozen=True)
class ShownInterpretation:
    """An interpretation with its text in pieces."""

    about: str
    evaluation: Evaluation
    pieces: tuple[ReportPiece, ...]
    elsewhere: tuple[Fault, ...]
    """Faults of the report as a whole."""
    unchecked: tuple[str, ...]
    """Descriptions of sentences that were not completely checked."""
    remarks: tuple[str, ...] = ()
    """Hints, and how far sentences say what their claims say."""


@dataclass(frozen=True)
class InterpretationQueries:
    """Blocking queries of interpretations; call them in a thread."""

    store: Store

    def of_run(self, run_id: str) -> list[ShownInterpretation]:
        """Return the latest interpretations of a run, the newest first."""
        evaluations = sorted(self.store.records.read(Evaluation, run_id=run_id), key=lambda e: e.at)
        evaluations = evaluations[: -MAX_INTERPRETATIONS - 1 : -1]
        ids = {evaluation.brief_id for evaluation in evaluations}
        briefs = {brief.id: brief for brief in self.store.records.get(Brief, ids)}
        return [
            shown_interpretation(evaluation, briefs.get(evaluation.brief_id))
            for evaluation in evaluations
        ]


def shown_interpretation(evaluation: Evaluation, brief: Brief | None) -> ShownInterpretation:
    """Return an evaluation as a page shows it."""
    subject = brief.subject if brief else None
    about = f"{subject.groups[0]} against {subject.groups[1]}, {subject.outcome}" if subject else ""
    return ShownInterpretation(
        about=about or evaluation.brief_id[:12],
        evaluation=evaluation,
        pieces=tuple(report_pieces(evaluation)),
        elsewhere=tuple(fault for fault in evaluation.faults if fault.start is None),
        unchecked=tuple(_unchecked_words(sentence) for sentence in evaluation.unchecked),
        remarks=(
            *(f"{hint.kind}: {hint.sentence}" for hint in evaluation.hints),
            *map(prose_words, evaluation.prose),
        ),
    )


def report_pieces(evaluation: Evaluation) -> Iterator[ReportPiece]:
    """Split a report at its sentences with remarks; the pieces add up to the report."""
    report, faults, unchecked = evaluation.report or "", evaluation.faults, evaluation.unchecked

    def parts(start: int, end: int) -> tuple[tuple[str, bool], ...]:
        return tuple(split_at_phrases(evaluation, start, end))

    remarks = [(fault.start, fault.end) for fault in faults]
    remarks += [(sentence.start, sentence.end) for sentence in unchecked]
    spans = {(start, end) for start, end in remarks if start is not None and end is not None}
    position = 0
    for start, end in sorted(spans):
        if start < position:
            continue
        if start > position:
            yield ReportPiece(parts(position, start))
        yield ReportPiece(
            parts(start, end),
            tuple(fault.sentence for fault in faults if fault.start == start),
            any(sentence.start == start for sentence in unchecked),
        )
        position = end
    if report[position:]:
        yield ReportPiece(parts(position, len(report)))


def _unchecked_words(sentence: UncheckedSentence) -> str:
    return f"sentence {sentence.number} under \u201c{sentence.where}\u201d"
