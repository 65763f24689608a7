"""Progress of runs, from counters of the store: the cost does not depend on their size."""

from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.services.gateway.context import archived_sentence
from biaswatch.shared.contracts import (
    Cancellation,
    Diagnosis,
    Features,
    GatherState,
    PairVerdict,
    PausedTarget,
    Purpose,
    Response,
    Run,
    SuiteOutline,
    verdicts_expected,
)
from biaswatch.shared.contracts.waiting_calls import BatchProgress
from biaswatch.shared.requests.run_views import RunProgress, RunState, state_of
from biaswatch.shared.requests.runs import RunDescription
from biaswatch.shared.store import CountedRun, PlannedProbes, Store
from biaswatch.shared.store.batches import CallBatch

CACHE_SIZE = 1000
"""Suite outlines, and diagnosed runs, that are cached."""
WAITING = {RunState.RUNNING, RunState.JUDGING}
UNDESCRIBED = RunDescription()


@dataclass(frozen=True)
class _StoredRun:
    """A run with its counters."""

    run: Run
    counted: CountedRun
    suite: SuiteOutline | None

    @property
    def gather(self) -> GatherState | None:
        """The gather that the run waits for; None before it is planned."""
        return self.counted.gather

    @property
    def responses(self) -> int:
        """The number of answers."""
        return self.counted.count(Response, self.run.purpose)


class ProgressQueries:
    """Blocking queries of the progress of many runs at once; call them in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._outlines: dict[str, SuiteOutline] = {}
        self._diagnosed: set[tuple[str, int]] = set()

    def of(self, runs: Sequence[Run]) -> list[RunProgress]:
        """Return the progress of each run, in their order."""
        counted = self._store.counted_runs.of(run.id for run in runs)
        outlines = self._outlines_of({run.suite_hash for run in runs if run.suite_hash})
        stored = [
            _StoredRun(run, counted.get(run.id, CountedRun()), outlines.get(run.suite_hash or ""))
            for run in runs
        ]
        states = {entry.run.id: self._state(entry) for entry in stored}
        cancelled = (id_ for id_, state in states.items() if state is RunState.CANCELLED)
        records = sorted(
            self._store.records.of_runs(Cancellation, cancelled), key=lambda r: r.moment_ms
        )
        cancellations = {record.run_id: record for record in records}
        waiting = any(state in WAITING for state in states.values())
        paused = self._store.paused_targets.read() if waiting else []
        batches = self._store.batches.of_runs({run.id for run in runs} if waiting else ())
        archived = self._store.archived_runs.among(
            id_ for id_, state in states.items() if state not in WAITING
        )
        return [
            self._progress(
                entry,
                states[entry.run.id],
                cancellations.get(entry.run.id),
                paused,
                [batch for batch in batches if batch.run_id == entry.run.id],
                archived_sentence(archived[entry.run.id]) if entry.run.id in archived else None,
            )
            for entry in stored
        ]

    def _outlines_of(self, hashes: set[str]) -> dict[str, SuiteOutline]:
        """Return outlines of suites; cached, as the parts that matter here never change."""
        cached = {hash_: self._outlines[hash_] for hash_ in hashes & self._outlines.keys()}
        if new := self._store.suites.outlines(hashes - cached.keys()):
            if len(self._outlines) > CACHE_SIZE:
                self._outlines.clear()
            self._outlines.update(new)
        return cached | new

    def _state(self, stored: _StoredRun) -> RunState:
        run, gather, suite = stored.run, stored.gather, stored.suite
        # Rounds of monitors and searches become evidence instead of diagnoses.
        is_round = run.monitor_id is not None or run.purpose is Purpose.SEARCH
        undiagnosed = is_round or suite is None or not suite.has_findings
        return state_of(
            closed_by=gather.closed_by if gather else None,
            complete=gather is not None and gather.arrived >= gather.expected,
            diagnosed=undiagnosed or self._is_diagnosed(run, gather),
            judged=self._verdicts(stored) >= verdicts_expected(run, suite),
        )

    def _is_diagnosed(self, run: Run, gather: GatherState | None) -> bool:
        if gather is None or gather.closed_by is None:
            return False
        if gather.followed_up or (run.id, gather.opening) in self._diagnosed:
            return True
        if not self._store.results.diagnosed(run.id, gather.opening):
            return False
        if len(self._diagnosed) > CACHE_SIZE:
            self._diagnosed.clear()
        self._diagnosed.add((run.id, gather.opening))
        return True

    def _verdicts(self, stored: _StoredRun) -> int:
        """Count judged pairs; the verdicts are read only for a run that was judged again."""
        expected = verdicts_expected(stored.run, stored.suite)
        counted = stored.counted.count(PairVerdict) if expected else 0
        if counted <= expected:
            return counted
        return self._store.results.verdicts(stored.run.id, expected)

    def _probes(self, stored: _StoredRun) -> int:
        """Return the number of answers that a run asks for; for traffic, that came in."""
        run, suite = stored.run, stored.suite
        if run.window is not None:
            return stored.responses
        if suite is None:
            return 0
        if run.sets is None:
            return suite.probes * len(run.targets) * len(run.scaffolds) * run.repeats
        if stored.gather is not None and run.extractors:
            return stored.gather.expected // len(run.extractors)
        return PlannedProbes(self._store.suites, suite, run).amount(len(run.targets))

    def _progress(
        self,
        stored: _StoredRun,
        state: RunState,
        cancellation: Cancellation | None,
        paused: Sequence[PausedTarget],
        batches: Sequence[CallBatch],
        archived: str | None,
    ) -> RunProgress:
        run, counted, probes = stored.run, stored.counted, self._probes(stored)
        lanes = lanes_with_judges(run) if state in WAITING else set()
        own_paused = [target for target in paused if target.lane in lanes]
        return RunProgress(
            run_id=run.id,
            suite=run.suite,
            targets=[target.name for target in run.targets],
            at=run.at,
            state=state,
            stopped_by=cancellation.reason if cancellation else None,
            stop_detail=cancellation.detail if cancellation else None,
            opening=stored.gather.opening if stored.gather else 0,
            probes=probes,
            responses=stored.responses,
            features=counted.count(Features),
            features_expected=probes * len(run.extractors),
            diagnoses=counted.count(Diagnosis),
            verdicts=self._verdicts(stored),
            verdicts_expected=verdicts_expected(run, stored.suite),
            paused=own_paused,
            batches=[_batch_progress(batch) for batch in batches],
            held=_held_answers(stored, own_paused, probes // max(1, len(run.targets))),
            archived=archived,
            described=UNDESCRIBED,  # the default would be copied, which costs more
        )


def lanes_with_judges(run: Run) -> set[str]:
    """Return the lanes of a run's targets and judges."""
    judges = run.judging.judges if run.judging else ()
    return {target.lane for target in (*run.targets, *judges)}


def _batch_progress(batch: CallBatch) -> BatchProgress:
    return BatchProgress(
        target=batch.target.name,
        requests=batch.requests,
        done=batch.done,
        submitted_at=batch.at,
        expires_at=batch.expires_at,
    )


def _held_answers(stored: _StoredRun, paused: Sequence[PausedTarget], probes: int) -> int:
    """Count missing answers of paused targets, with `probes` questions each."""
    run = stored.run
    lanes = {target.lane for target in paused} & {target.lane for target in run.targets}
    answered = (stored.counted.count(Response, run.purpose, lane) for lane in lanes)
    return sum(max(0, probes - count) for count in answered)
