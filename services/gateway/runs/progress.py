"""How far runs are, from what the store has counted: it costs the same for runs of any size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from biaswatch.services.gateway.archived_answers import archived_sentence
from biaswatch.shared.contracts import (
    Cancellation,
    Diagnosis,
    Features,
    GatherState,
    PairVerdict,
    Response,
    Run,
    SuiteOutline,
    verdicts_expected,
)
from biaswatch.shared.contracts.completion import PausedTarget
from biaswatch.shared.requests.run_views import RunProgress, RunState, state_of
from biaswatch.shared.store import CountedRun, PlannedProbes, Store
from biaswatch.shared.store.archived_runs import ArchivedRun

MOST_KNOWN = 1000
"""Suites whose outlines are kept at once, and closed runs that are known to be diagnosed."""
WAITING = {RunState.RUNNING, RunState.JUDGING}


@dataclass(frozen=True)
class StoredProgress:
    """What the store has counted of one run."""

    run: Run
    counted: CountedRun
    suite: SuiteOutline | None

    @property
    def gather(self) -> GatherState | None:
        """What the run waits for; None where nobody has planned it yet."""
        return self.counted.gather

    @property
    def responses(self) -> int:
        """How many answers there are."""
        return self.counted.count(Response, self.run.purpose)


class ProgressQueries:
    """Reads the progress of runs, of many at once; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._suites: dict[str, SuiteOutline] = {}
        self._known_diagnosed: set[tuple[str, int]] = set()

    def of(self, runs: Sequence[Run]) -> list[RunProgress]:
        """Return the progress of each run, in their order."""
        counted = self._store.counted_runs.of(run.id for run in runs)
        suites = self._outlines({run.suite_hash for run in runs if run.suite_hash})
        found = [
            StoredProgress(run, counted.get(run.id, CountedRun()), suites.get(run.suite_hash or ""))
            for run in runs
        ]
        states = {each.run.id: self._state(each) for each in found}
        stops = self._stops(id_ for id_, state in states.items() if state is RunState.CANCELLED)
        waiting = any(state in WAITING for state in states.values())
        paused = self._store.paused_targets.read() if waiting else []
        archived = self._store.archived_runs.among(
            id_ for id_, state in states.items() if state not in WAITING
        )
        return [
            self._progress(
                each, states[each.run.id], stops.get(each.run.id), paused, archived.get(each.run.id)
            )
            for each in found
        ]

    def _outlines(self, hashes: set[str]) -> dict[str, SuiteOutline]:
        """Return the outlines of suites, which never change in what progress is told by."""
        known = {hash_: self._suites[hash_] for hash_ in hashes & self._suites.keys()}
        if new := self._store.suites.outlines(hashes - known.keys()):
            if len(self._suites) > MOST_KNOWN:
                self._suites.clear()
            self._suites.update(new)
        return known | new

    def _state(self, found: StoredProgress) -> RunState:
        run, gather, suite = found.run, found.gather, found.suite
        # A round of a monitor becomes evidence instead of diagnoses.
        undiagnosed = run.monitor_id is not None or suite is None or not suite.has_findings
        return state_of(
            closed_by=gather.closed_by if gather else None,
            complete=gather is not None and gather.arrived >= gather.expected,
            diagnosed=undiagnosed or self._diagnosed(run, gather),
            judged=self._verdicts(found) >= verdicts_expected(run, suite),
        )

    def _diagnosed(self, run: Run, gather: GatherState | None) -> bool:
        if gather is None or gather.closed_by is None:
            return False
        if gather.followed_up or (run.id, gather.opening) in self._known_diagnosed:
            return True
        if not self._store.results.diagnosed(run.id, gather.opening):
            return False
        if len(self._known_diagnosed) > MOST_KNOWN:
            self._known_diagnosed.clear()
        self._known_diagnosed.add((run.id, gather.opening))
        return True

    def _verdicts(self, found: StoredProgress) -> int:
        """Count judged pairs; only of a run that was judged again are the verdicts read."""
        expected = verdicts_expected(found.run, found.suite)
        counted = found.counted.count(PairVerdict) if expected else 0
        if counted <= expected:
            return counted
        return self._store.results.verdicts(found.run.id, expected)

    def _stops(self, run_ids: Iterable[str]) -> dict[str, Cancellation]:
        """Return the last cancellation of each run."""
        found = self._store.records.of_runs(Cancellation, run_ids)
        return {each.run_id: each for each in sorted(found, key=lambda each: each.moment_ms)}

    def _probes(self, found: StoredProgress) -> int:
        """Return how many answers a run asks for; in a window of traffic, users asked."""
        run, suite = found.run, found.suite
        if run.window is not None:
            return found.responses
        if suite is None:
            return 0
        if run.sets is None:
            return suite.probes * len(run.targets) * len(run.scaffolds) * run.repeats
        if found.gather is not None and run.extractors:
            return found.gather.expected // len(run.extractors)
        return PlannedProbes(self._store.suites, suite, run).amount(len(run.targets))

    def _progress(
        self,
        found: StoredProgress,
        state: RunState,
        stop: Cancellation | None,
        paused: Sequence[PausedTarget],
        archived: ArchivedRun | None,
    ) -> RunProgress:
        run, counted, probes = found.run, found.counted, self._probes(found)
        lanes = lanes_of(run) if state in WAITING else set()
        mine = [each for each in paused if each.lane in lanes]
        verdicts_due = verdicts_expected(run, found.suite)
        return RunProgress(
            run_id=run.id,
            suite=run.suite,
            targets=[target.name for target in run.targets],
            at=run.at,
            stand=state,
            stopped_by=stop.reason if stop else None,
            stop_detail=stop.detail if stop else None,
            opening=found.gather.opening if found.gather else 0,
            probes=probes,
            responses=found.responses,
            features=counted.count(Features),
            features_expected=probes * len(run.extractors),
            diagnoses=counted.count(Diagnosis),
            verdicts=self._verdicts(found),
            verdicts_expected=verdicts_due,
            paused=mine,
            held=_held(found, mine, probes // max(1, len(run.targets))),
            archived=archived_sentence(archived) if archived else None,
        )


def lanes_of(run: Run) -> set[str]:
    """Return the lanes of a run's targets and judges."""
    judges = run.judging.judges if run.judging else ()
    return {each.lane for each in (*run.targets, *judges)}


def _held(found: StoredProgress, paused: Sequence[PausedTarget], probes: int) -> int:
    """Count the answers that wait for paused targets, of which each has so many probes."""
    run = found.run
    lanes = {each.lane for each in paused} & {each.lane for each in run.targets}
    there = (found.counted.count(Response, run.purpose, lane) for lane in lanes)
    return sum(max(0, probes - count) for count in there)
