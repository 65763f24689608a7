"""What the gateway does with the store: suites kept, runs started, their progress told."""

from collections.abc import Callable
from datetime import datetime, timedelta

from services.gateway.domain import (
    Progress,
    RunRequest,
    Stand,
    compares,
    run_of,
    stand_of,
)
from shared.contracts import (
    RUN_GATHER,
    Cancellation,
    Completion,
    Diagnosis,
    Features,
    Response,
    Run,
    Suite,
)
from shared.errors import UsageError
from shared.store import Store


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
        """Give the run that was asked for; nothing is started yet."""
        suite = self._store.suites.get(asked.suite_hash)
        if suite is None:
            raise NotThereError(f"There is no suite {asked.suite_hash}. Upload it first.")
        since = self._now() - timedelta(seconds=self._extractor_age_s)
        return run_of(asked, suite, self._store.instruments.running(since), self._now())

    def opening_of(self, run: Run) -> int | None:
        """Give the opening a start of this run would make, or None where there is nothing to start.

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
        """Give the record that ends a run before its time."""
        run = self._run(run_id)
        now = self._now()
        return Cancellation(
            tenant=run.tenant,
            purpose=run.purpose,
            at=now,
            run_id=run.id,
            moment_ms=int(now.timestamp() * 1000),
        )

    def runs(self) -> list[Progress]:
        """Give every run, the latest first."""
        runs = sorted(self._store.records.all(Run), key=lambda run: run.at, reverse=True)
        return [self._progress(run) for run in runs]

    def progress(self, run_id: str) -> Progress:
        """Tell how a run stands."""
        return self._progress(self._run(run_id))

    def diagnoses(self, run_id: str) -> list[Diagnosis]:
        """Give the diagnoses of a run's last completion, in a stable order."""
        self._run(run_id)
        found = list(self._store.records.read(Diagnosis, run_id=run_id))
        if not found:
            return []
        last = max(found, key=lambda diagnosis: diagnosis.at).completion_id
        mine = [diagnosis for diagnosis in found if diagnosis.completion_id == last]
        return sorted(mine, key=lambda d: (d.target, d.scaffold, d.feature, d.dimension))

    def _run(self, run_id: str) -> Run:
        for run in self._store.records.get(Run, [run_id]):
            return run
        raise NotThereError(f"There is no run {run_id}. `biaswatch runs` lists them.")

    def _progress(self, run: Run) -> Progress:
        records = self._store.records
        suite = self._store.suites.get(run.suite_hash)
        asked = len(suite.probes) if suite else 0
        probes = asked * len(run.targets) * len(run.scaffolds) * run.repeats
        waiting = self._store.gathers(RUN_GATHER).look(run.id)
        opening = waiting.opening if waiting else 0
        diagnosed = self._diagnosed(run.id, opening) or not compares(suite)
        diagnosed = diagnosed or run.monitor_id is not None  # a round becomes evidence instead
        stand = stand_of(waiting, diagnosed=diagnosed)
        return Progress(
            run_id=run.id,
            suite=run.suite,
            targets=[target.name for target in run.targets],
            at=run.at,
            stand=stand,
            stopped_by=self._stopped_by(run.id) if stand is Stand.CANCELLED else None,
            opening=opening,
            probes=probes,
            responses=records.count(Response, run_id=run.id),
            features=records.count(Features, run_id=run.id),
            features_expected=probes * len(run.extractors),
            diagnoses=records.count(Diagnosis, run_id=run.id),
        )

    def _stopped_by(self, run_id: str) -> str | None:
        found = list(self._store.records.read(Cancellation, run_id=run_id))
        return max(found, key=lambda each: each.moment_ms).reason if found else None

    def _diagnosed(self, run_id: str, opening: int) -> bool:
        """Tell whether the diagnoses of a run's last closing are there."""
        completions = self._store.records.read(Completion, run_id=run_id)
        last = [each.id for each in completions if each.opening == opening]
        diagnoses = self._store.records.read(Diagnosis, run_id=run_id)
        return any(each.completion_id in last for each in diagnoses)
