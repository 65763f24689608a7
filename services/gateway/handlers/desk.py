"""What the gateway does with the store: suites kept, runs started, their progress told."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from services.gateway.domain import (
    BriefRequest,
    Progress,
    RunRequest,
    Stand,
    brief_of,
    compares,
    run_of,
    stand_of,
    verdicts_of,
)
from shared.contracts import (
    RUN_GATHER,
    Assessment,
    Brief,
    Cancellation,
    Completion,
    Diagnosis,
    Evaluation,
    Features,
    PairVerdict,
    Purpose,
    Response,
    Run,
    Suite,
    asked_of,
    derived_id,
)
from shared.errors import UsageError
from shared.store import Store

C = TypeVar("C", Diagnosis, Assessment)


class NotThereError(UsageError):
    """What was asked for is not in the store."""


class Desk:
    """The gateway's work on the store; it blocks, so call it in a thread."""

    def __init__(
        self, store: Store, *, now: Callable[[], datetime], extractor_age_s: float
    ) -> None:
        self._store = store
        self._now = now
        self._extractor_age_s = extractor_age_s

    def keep(self, suite: Suite) -> str:
        """Keep a suite; give its hash."""
        return self._store.suites.keep(suite, self._now())

    def run_for(self, asked: RunRequest) -> Run:
        """Return the run that was asked for; nothing is started yet."""
        suite = self._store.suites.get(asked.suite_hash)
        if suite is None:
            raise NotThereError(f"There is no suite {asked.suite_hash}. Upload it first.")
        since = self._now() - timedelta(seconds=self._extractor_age_s)
        return run_of(asked, suite, self._store.extractors.running(since), self._now())

    def opening_of(self, run: Run) -> int | None:
        """Return the opening a start of this run would make; None where there is nothing to start.

        One that is under way is left alone: its probes wait on the bus, and asking for them again
        would have them asked twice.
        """
        if self._store.gathers(RUN_GATHER).look(run.id) is None:
            self._store.records.write([run])  # whoever asks for it finds it at once
            return 0
        stand = self.progress(run.id)
        takes_up = stand.stand in {Stand.INCOMPLETE, Stand.CANCELLED}
        return stand.opening + 1 if takes_up else None

    def cancellation_of(self, run_id: str) -> Cancellation:
        """Return the record that ends a run before its time."""
        run = self._run(run_id)
        now = self._now()
        return Cancellation(
            tenant=run.tenant,
            purpose=run.purpose,
            at=now,
            run_id=run.id,
            moment_ms=int(now.timestamp() * 1000),
        )

    def runs(self, most: int, purpose: Purpose = Purpose.STUDY) -> list[Progress]:
        """Return the latest runs; rounds of monitors have purposes of their own."""
        return [
            self._progress(run) for run in self._store.records.latest(Run, most, purpose=purpose)
        ]

    def progress(self, run_id: str) -> Progress:
        """Tell how a run stands."""
        return self._progress(self._run(run_id))

    def diagnoses(self, run_id: str) -> list[Diagnosis]:
        """Return the diagnoses of a run's last completion, in a stable order."""
        self._run(run_id)
        mine = self._latest(Diagnosis, run_id)
        return sorted(mine, key=lambda d: (d.target, d.scaffold, d.feature, d.dimension))

    def assessments(self, run_id: str) -> list[Assessment]:
        """Return the assessments of a run's last completion, in a stable order."""
        self._run(run_id)
        mine = self._latest(Assessment, run_id)
        return sorted(mine, key=lambda each: (each.target, each.scaffold, each.feature))

    def _latest(self, kind: type[C], run_id: str) -> list[C]:
        found = list(self._store.records.read(kind, run_id=run_id))
        last = max(found, key=lambda each: each.at).completion_id if found else None
        return [each for each in found if each.completion_id == last]

    def brief_for(self, asked: BriefRequest) -> Brief:
        """Return the interpretation that was asked for; whoever asks for it finds it at once."""
        if asked.run_id is not None:
            self._run(asked.run_id)
        brief = brief_of(asked, self._now())
        self._store.records.write([brief])
        return brief

    def evaluation(self, brief_id: str) -> Evaluation | None:
        """Return what came of an interpretation; None while it is under way."""
        if not list(self._store.records.get(Brief, [brief_id])):
            raise NotThereError(f"There is no interpretation {brief_id}.")
        evaluation_id = derived_id(Evaluation.kind, "default", Purpose.JUDGE, brief_id)
        return next(self._store.records.get(Evaluation, [evaluation_id]), None)

    def _run(self, run_id: str) -> Run:
        for run in self._store.records.get(Run, [run_id]):
            return run
        raise NotThereError(f"There is no run {run_id}. `biaswatch runs` lists them.")

    def _progress(self, run: Run) -> Progress:
        records = self._store.records
        suite = self._store.suites.get(run.suite_hash)
        responses = records.count(Response, run_id=run.id, purpose=run.purpose)
        asked = len(asked_of(run, suite)) if suite else 0
        probes = asked * len(run.targets) * len(run.scaffolds) * run.repeats
        probes = responses if run.window else probes  # users asked, not we
        waiting = self._store.gathers(RUN_GATHER).look(run.id)
        opening = waiting.opening if waiting else 0
        diagnosed = self._diagnosed(run.id, opening) or not compares(suite)
        diagnosed = diagnosed or run.monitor_id is not None  # a round becomes evidence instead
        expected = verdicts_of(run, suite)
        verdicts = self._judged(run.id, expected)
        stand = stand_of(waiting, diagnosed=diagnosed, judged=verdicts >= expected)
        return Progress(
            run_id=run.id,
            suite=run.suite,
            targets=[target.name for target in run.targets],
            at=run.at,
            stand=stand,
            stopped_by=self._stopped_by(run.id) if stand is Stand.CANCELLED else None,
            opening=opening,
            probes=probes,
            responses=responses,
            features=records.count(Features, run_id=run.id),
            features_expected=probes * len(run.extractors),
            diagnoses=records.count(Diagnosis, run_id=run.id),
            verdicts=verdicts,
            verdicts_expected=expected,
        )

    def _judged(self, run_id: str, expected: int) -> int:
        """Count the pairs that are judged; a pair has a second verdict where it was taken up."""
        if not expected:
            return 0
        found = self._store.records.count(PairVerdict, run_id=run_id)
        if found <= expected:  # the usual case, and quick while a run is watched
            return found
        verdicts = self._store.records.read(PairVerdict, run_id=run_id, texts=False)
        return len({each.pair_id for each in verdicts})

    def _stopped_by(self, run_id: str) -> str | None:
        found = list(self._store.records.read(Cancellation, run_id=run_id))
        return max(found, key=lambda each: each.moment_ms).reason if found else None

    def _diagnosed(self, run_id: str, opening: int) -> bool:
        """Tell whether the diagnoses of a run's last closing are there."""
        records = self._store.records
        completions = records.read(Completion, run_id=run_id)
        for last in (each.id for each in completions if each.opening == opening):
            found = records.numbers(Diagnosis, run_id=run_id)
            together = next((d["together"] for d in found if d["completion_id"] == last), None)
            there = [records.count(kind, completion_id=last) for kind in (Diagnosis, Assessment)]
            if together is not None and sum(there) >= together:
                return True
        return False
