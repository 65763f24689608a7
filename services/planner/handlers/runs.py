"""Plans runs: their probes, expected features, republished records, and closing."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial

from biaswatch.services.planner.handlers.planned_parts import PlannedParts, Planning, target_lanes
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import (
    FEATURES,
    FOLLOWED_UP_FOR,
    JUDGING_GATHER,
    RUN_GATHER,
    Cancellation,
    ClosedBy,
    Completion,
    Features,
    Purpose,
    Record,
    Round,
    Run,
    verdicts_expected,
)
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.runtime.gather import Gather
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.outbox import Backlog, Outbox, StalledKeys, closing_backlogs
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Closing, PlanningCursor, Store
from biaswatch.shared.telemetry import log

MAX_LOST_RECORDS = 2000
"""Approximate number of lost records of a closed run that are published at one look."""
STALLED_S = 60.0
"""Time without answers after which a run publishes more questions."""
ROUNDS_OF_BATCHES = 4
"""Batches of up to 24 hours for which a run waits: two of each step of a scaffold with two."""


class RunPlanner:
    """Plans runs; all state is in the store, so that any process may end at any time."""

    def __init__(
        self,
        store: Store,
        *,
        now: Callable[[], datetime],
        deadline_s: float,
        stalled_s: float = STALLED_S,
    ) -> None:
        self._store = store
        self._gathers = store.gathers(RUN_GATHER)
        self._judging = store.gathers(JUDGING_GATHER)
        self._now = now
        self._deadline_s = deadline_s
        self._stuck = StalledKeys()
        self._parts = PlannedParts(store, now=now)
        self.gather = Gather(self._gathers, completion_of, now=now)
        self.planning = Planning(
            store, self._parts, now=now, on_arrival=self.gather.wake, stalled_s=stalled_s
        )

    async def plan(self, run: Run) -> Sequence[Record]:
        """Begin or resume a run; its probes are published from now on."""
        await in_thread(self._plan, run)
        self.planning.passes.wake()
        self.gather.wake()  # there may be nothing to wait for
        return ()

    def _plan(self, run: Run) -> None:
        now = self._now()
        # A stored run keeps the ids it began with, whatever this copy says of them.
        stored = next(self._store.records.get(Run, [run.id]), run)
        expected = self._parts.expected(stored)
        rounds = ROUNDS_OF_BATCHES if any(t.in_batches for t in run.targets) else 1
        deadline = now + timedelta(seconds=run.deadline_s or self._deadline_s * rounds)
        self._store.records.write([run])
        self._store.calls.allow(run.id, run.budget)  # a resumed run may have a larger budget
        cursors = self._cursors(run)
        is_new = self._gathers.begin(
            run.id,
            expected,
            deadline=deadline,
            now=now,
            context={"tenant": run.tenant},
            cursors=cursors,
        )
        cancellations = self._store.records.read(Cancellation, run_id=run.id)
        if any(cancellation.ends(run) for cancellation in cancellations):
            if is_new:  # it was cancelled before it was planned
                self._gathers.cancel(run.id, now)
        elif not is_new and run.window is None:  # a window is read once
            self._gathers.reopen(run.id, deadline=deadline, now=now, cursors=cursors)

    def _cursors(self, run: Run, *, repair: bool = False) -> list[PlanningCursor]:
        number = int(self._now().timestamp() * 1000)
        return [PlanningCursor(run.id, lane, number, repair) for lane in target_lanes(run)]

    async def cancel(self, cancellation: Cancellation) -> Sequence[Record]:
        """Close a run with what has arrived."""
        # Stored first, so that a concurrent start of the run finds it.
        await in_thread(self._store.records.write, [cancellation])
        await self.gather.cancel(cancellation.run_id)
        return ()

    async def count_features(self, batch: Sequence[Features]) -> Sequence[Record]:
        """Note the arrival of features."""
        await self.gather.arrive([features.id for features in batch])
        return ()

    def jobs(self, every_s: float) -> list[Job[Publisher]]:
        """Return the planner's jobs of runs, which look for lost records at an interval."""

        async def reconcile(_: Publisher) -> None:
            await in_thread(self.repair_stuck)

        def closings() -> Iterator[Backlog]:
            return closing_backlogs(self._gathers, self._lacking, self._absent, self._now)

        unplanned = Outbox(self._unplanned, now=self._now, stage="planner")
        results = Outbox(closings, now=self._now, stage="planner")
        return [
            self.gather.job,
            self.planning.passes.job,
            Job(reconcile, "repair stuck runs", every_s=every_s, first_after_s=every_s),
            results.job("publish lost results again", every_s),
            unplanned.job("plan lost runs", every_s),
        ]

    def repair_stuck(self) -> int:
        """Publish missing records of stuck runs again; return the number of their lanes.

        The bus acknowledges before it syncs to disk, so a power failure may lose a record.
        """
        # Runs without new arrivals; the number that is missing falls by as much as arrives.
        arrivals = self._gathers.open_arrivals()
        stuck = self._stuck.due({run_id: -count for run_id, count in arrivals.items()})
        lanes = 0
        for run in self._store.records.get(Run, stuck):
            if self._close_cancelled(run.id):
                continue
            started = self._store.planning_cursors.begin(self._cursors(run, repair=True))
            if started:
                log("planner").warning("a run is stuck: publishing again", run=run.id)
            lanes += started
        self.planning.passes.wake()
        self.gather.wake()
        return lanes

    def _close_cancelled(self, run_id: str) -> bool:
        """Close a run whose cancellation is stored but whose message was lost."""
        opened_at = self._gathers.opened_at(run_id)
        cancellations = self._store.records.read(Cancellation, run_id=run_id)
        if opened_at is None or not any(c.came_after(opened_at) for c in cancellations):
            return False
        return self._gathers.cancel(run_id, self._now())

    def _unplanned(self) -> list[Backlog]:
        """Return the runs whose message was lost before they were planned."""
        since = self._now() - FOLLOWED_UP_FOR
        runs = self._store.records.since(Run, since, purpose=Purpose.STUDY)
        planned = self._gathers.known(run.id for run in runs)
        unknown = [run for run in runs if run.id not in planned]
        stored = self._store.suites.outlines(run.suite_hash or "" for run in unknown)
        return [
            Backlog(run.id, 1, partial(list, [run])) for run in unknown if run.suite_hash in stored
        ]

    def _lacking(self, closing: Closing) -> int:
        """Count the records that the store lacks after a run closed."""
        run = next(self._store.records.get(Run, [closing.key]), None)
        if run is None or closing.closed_at < self._now() - FOLLOWED_UP_FOR:
            return 0
        [completion] = completion_of(closing)
        return self._unstored(run) or int(not self._is_concluded(run, completion))

    def _absent(self, closing: Closing) -> Sequence[Record]:
        """Return the records to publish so that the store gets all results of a closed run."""
        run = next(self._store.records.get(Run, [closing.key]), None)
        if run is None:  # purged a moment ago
            return []
        if self._unstored(run):
            return self._parts.lost(run, MAX_LOST_RECORDS)
        [completion] = completion_of(closing)
        return [] if self._is_concluded(run, completion) else [completion]

    def _unstored(self, run: Run) -> int:
        """Count the arrived features of a run, and their responses, that the store lacks."""
        without_response = self._store.results.without_response(run.id)
        return self._gathers.unstored(run.id, Features) + without_response

    def _is_concluded(self, run: Run, completion: Completion) -> bool:
        """Return whether the store has the end of a run, and its round or its findings."""
        if self._store.records.missing(Completion, [completion.id]):
            return False
        if run.monitor_id is not None:
            return any(self._store.records.read(Round, run_id=run.id))
        if run.purpose is Purpose.SEARCH:
            return True
        suite = self._store.suites.outline(run.suite_hash)
        expected = verdicts_expected(run, suite)
        results = self._store.results
        is_judged = (
            completion.closed_by is ClosedBy.CANCELLATION
            or results.verdicts(run.id, expected) >= expected
            or bool(self._judging.open_keys(f"{run.id}/"))
        )
        needs_findings = suite is not None and suite.has_findings
        return is_judged and (not needs_findings or results.diagnosed(run.id, completion.opening))


def completion_of(closing: Closing) -> list[Completion]:
    """Return the record of a closed run."""
    return [
        Completion(
            tenant=str(closing.context.get("tenant", DEFAULT_TENANT)),
            at=closing.closed_at,
            run_id=closing.key,
            stage=FEATURES,
            opening=closing.opening,
            closed_by=closing.closed_by,
            expected=closing.expected,
            arrived=closing.arrived,
        )
    ]
