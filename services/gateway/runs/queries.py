"""Runs as the store has them: their progress, findings and interpretations."""

from collections.abc import Sequence
from typing import Annotated, TypeVar

from pydantic import Field

from services.gateway.runs.views import Interpretation, RunProgress, RunState, state_of
from shared.contracts import (
    RUN_GATHER,
    Assessment,
    Brief,
    Cancellation,
    Diagnosis,
    Evaluation,
    Features,
    Purpose,
    Response,
    Run,
    asked_of,
    derived_id,
    verdicts_expected,
)
from shared.contracts.paused_target import PausedTarget
from shared.errors import NotFoundError
from shared.store import Store

MAX_RUNS = 10_000
MAX_BRIEFS = 100
"""How many of the latest interpretations are looked at for one that waits."""
WAITING = {RunState.RUNNING, RunState.JUDGING}
RecordT = TypeVar("RecordT", Diagnosis, Assessment)


class RunQueries:
    """Reads runs; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def run(self, run_id: str) -> Run:
        """Return a run, or raise NotFoundError."""
        for run in self._store.records.get(Run, [run_id]):
            return run
        raise NotFoundError(f"There is no run {run_id}. `biaswatch runs` lists them.")

    def latest(
        self, last: Annotated[int, Field(ge=1, le=MAX_RUNS)] = 100, purpose: Purpose = Purpose.STUDY
    ) -> list[RunProgress]:
        """Return the latest runs; rounds of monitors and windows of traffic by their purpose."""
        found = self._store.records.latest(Run, last, purpose=purpose)
        return [self._progress(run) for run in found]

    def progress(self, run_id: str) -> RunProgress:
        """Return how far a run is."""
        return self._progress(self.run(run_id))

    def diagnoses(self, run_id: str) -> list[Diagnosis]:
        """Return the diagnoses of a run's last completion, in a stable order."""
        found = self._of_last_completion(Diagnosis, run_id)
        return sorted(found, key=lambda d: (d.target, d.scaffold, d.feature, d.dimension))

    def assessments(self, run_id: str) -> list[Assessment]:
        """Return the assessments of a run's last completion, in a stable order."""
        found = self._of_last_completion(Assessment, run_id)
        return sorted(found, key=lambda each: (each.target, each.scaffold, each.feature))

    def paused_targets(self) -> list[PausedTarget]:
        """Return the targets that runs and interpretations wait for, as they refuse every call."""
        return self._store.paused_targets.read(self._lanes_awaited())

    def interpretation(self, brief_id: str) -> Interpretation:
        """Return an interpretation; it has no evaluation while it is under way."""
        brief = next(self._store.records.get(Brief, [brief_id]), None)
        if brief is None:
            raise NotFoundError(f"There is no interpretation {brief_id}.")
        evaluation_id = _evaluation_id(brief)
        found = next(self._store.records.get(Evaluation, [evaluation_id]), None)
        return Interpretation(brief_id=brief_id, evaluation=found)

    def _of_last_completion(self, kind: type[RecordT], run_id: str) -> list[RecordT]:
        self.run(run_id)
        found = list(self._store.records.read(kind, run_id=run_id))
        last = max(found, key=lambda each: each.at).completion_id if found else None
        return [each for each in found if each.completion_id == last]

    def _progress(self, run: Run) -> RunProgress:
        records = self._store.records
        suite = self._store.suites.get(run.suite_hash)
        responses = records.count(Response, run_id=run.id, purpose=run.purpose)
        asked = len(asked_of(run, suite)) if suite else 0
        probes = asked * len(run.targets) * len(run.scaffolds) * run.repeats
        probes = responses if run.window else probes  # in a window of traffic, users asked
        gather = self._store.gathers(RUN_GATHER).look(run.id)
        opening = gather.opening if gather else 0
        # A round of a monitor becomes evidence instead of diagnoses.
        undiagnosed = run.monitor_id is not None or suite is None or not suite.has_findings
        expected = verdicts_expected(run, suite)
        verdicts = self._store.results.verdicts(run.id, expected)
        state = state_of(
            closed_by=gather.closed_by if gather else None,
            complete=gather is not None and gather.arrived >= gather.expected,
            diagnosed=self._store.results.diagnosed(run.id, opening) or undiagnosed,
            judged=verdicts >= expected,
        )
        paused = self._paused(run) if state in WAITING else []
        stops = records.read(Cancellation, run_id=run.id) if state is RunState.CANCELLED else ()
        last_stop = max(stops, key=lambda each: each.moment_ms, default=None)
        return RunProgress(
            run_id=run.id,
            suite=run.suite,
            targets=[target.name for target in run.targets],
            at=run.at,
            stand=state,
            stopped_by=last_stop.reason if last_stop else None,
            opening=opening,
            probes=probes,
            responses=responses,
            features=records.count(Features, run_id=run.id),
            features_expected=probes * len(run.extractors),
            diagnoses=records.count(Diagnosis, run_id=run.id),
            verdicts=verdicts,
            verdicts_expected=expected,
            paused=paused,
            held=self._held(run, paused, probes // max(1, len(run.targets))),
        )

    def _paused(self, run: Run) -> list[PausedTarget]:
        """Return the targets and judges of a run that are not asked for now."""
        return self._store.paused_targets.read(_lanes_of(run))

    def _lanes_awaited(self) -> set[str]:
        """Return the lanes of all targets that something under way needs.

        A pause is the target's, whoever asks it; which targets others ask is their own affair.
        """
        waiting = self._store.gathers(RUN_GATHER).open_keys()
        lanes = {lane for run in self._store.records.get(Run, waiting) for lane in _lanes_of(run)}
        briefs = self._store.records.latest(Brief, MAX_BRIEFS, purpose=Purpose.JUDGE)
        unread = self._store.records.missing(Evaluation, map(_evaluation_id, briefs))
        for brief in briefs:
            if _evaluation_id(brief) in unread:
                lanes |= {each.lane for each in (*filter(None, [brief.writer]), *brief.judges)}
        return lanes

    def _held(self, run: Run, paused: Sequence[PausedTarget], probes: int) -> int:
        """Count the answers that wait for paused targets, of which each has so many probes."""
        lanes = {each.lane for each in paused} & {each.lane for each in run.targets}
        count = self._store.records.count
        return sum(
            max(0, probes - count(Response, run_id=run.id, purpose=run.purpose, lane=lane))
            for lane in lanes
        )


def _lanes_of(run: Run) -> set[str]:
    """Return the lanes of a run's targets and judges."""
    judges = run.judging.judges if run.judging else ()
    return {each.lane for each in (*run.targets, *judges)}


def _evaluation_id(brief: Brief) -> str:
    return derived_id(Evaluation.kind, brief.tenant, Purpose.JUDGE, brief.id)
