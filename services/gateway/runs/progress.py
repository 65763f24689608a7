"""How far runs are, from what the store has counted: it costs the same for runs of any size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.gateway.runs.views import RunProgress, RunState, state_of
from shared.contracts import (
    RUN_GATHER,
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
from shared.contracts.paused_target import PausedTarget
from shared.store import PlannedProbes, RunCounts, Store

WAITING = {RunState.RUNNING, RunState.JUDGING}


@dataclass(frozen=True)
class StoredProgress:
    """What the store has counted of one run."""

    run: Run
    counts: RunCounts
    gather: GatherState | None
    suite: SuiteOutline | None

    @property
    def responses(self) -> int:
        """How many answers there are."""
        return self.counts.of(Response, self.run.purpose)


class ProgressQueries:
    """Reads the progress of runs, of many at once; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, runs: Sequence[Run]) -> list[RunProgress]:
        """Return the progress of each run, in their order."""
        ids = [run.id for run in runs]
        counts = self._store.counts.of_runs(ids)
        gathers = self._store.gathers(RUN_GATHER).states(ids)
        suites = self._store.suites.outlines({run.suite_hash for run in runs if run.suite_hash})
        found = [
            StoredProgress(
                run,
                counts.get(run.id, RunCounts()),
                gathers.get(run.id),
                suites.get(run.suite_hash or ""),
            )
            for run in runs
        ]
        states = {each.run.id: self._state(each) for each in found}
        stops = self._stops(id_ for id_, state in states.items() if state is RunState.CANCELLED)
        waiting = any(state in WAITING for state in states.values())
        paused = self._store.paused_targets.read() if waiting else []
        return [
            self._progress(each, states[each.run.id], stops.get(each.run.id), paused)
            for each in found
        ]

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
        return gather.followed_up or self._store.results.diagnosed(run.id, gather.opening)

    def _verdicts(self, found: StoredProgress) -> int:
        """Count judged pairs; only of a run that was judged again are the verdicts read."""
        expected = verdicts_expected(found.run, found.suite)
        counted = found.counts.all(PairVerdict) if expected else 0
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
    ) -> RunProgress:
        run, counts, probes = found.run, found.counts, self._probes(found)
        lanes = lanes_of(run) if state in WAITING else set()
        mine = [each for each in paused if each.lane in lanes]
        return RunProgress(
            run_id=run.id,
            suite=run.suite,
            targets=[target.name for target in run.targets],
            at=run.at,
            stand=state,
            stopped_by=stop.reason if stop else None,
            opening=found.gather.opening if found.gather else 0,
            probes=probes,
            responses=found.responses,
            features=counts.all(Features),
            features_expected=probes * len(run.extractors),
            diagnoses=counts.all(Diagnosis),
            verdicts=self._verdicts(found),
            verdicts_expected=verdicts_expected(run, found.suite),
            paused=mine,
            held=_held(found, mine, probes // max(1, len(run.targets))),
        )


def lanes_of(run: Run) -> set[str]:
    """Return the lanes of a run's targets and judges."""
    judges = run.judging.judges if run.judging else ()
    return {each.lane for each in (*run.targets, *judges)}


def _held(found: StoredProgress, paused: Sequence[PausedTarget], probes: int) -> int:
    """Count the answers that wait for paused targets, of which each has so many probes."""
    run = found.run
    lanes = {each.lane for each in paused} & {each.lane for each in run.targets}
    there = (found.counts.of(Response, run.purpose, lane) for lane in lanes)
    return sum(max(0, probes - count) for count in there)
