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
from shared.contracts import Completion, Diagnosis, Features, Response, Run, Suite
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

    def must_start(self, run: Run) -> bool:
        """Tell whether a run is new, or closed without everything it expects.

        One that is under way is left alone: its probes wait on the bus, and asking for them again
        would have them asked twice.
        """
        if self._store.records.missing(Run, [run.id]):
            return True
        return self.progress(run.id).stand is Stand.INCOMPLETE

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
        expected = probes * len(run.extractors)
        diagnoses = records.count(Diagnosis, run_id=run.id)
        completions = list(records.read(Completion, run_id=run.id))
        return Progress(
            run_id=run.id,
            suite=run.suite,
            targets=[target.name for target in run.targets],
            at=run.at,
            stand=stand_of(
                completions, diagnosed=bool(diagnoses) or not compares(suite), expected=expected
            ),
            probes=probes,
            responses=records.count(Response, run_id=run.id),
            features=records.count(Features, run_id=run.id),
            features_expected=expected,
            diagnoses=diagnoses,
        )
