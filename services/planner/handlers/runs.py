"""Plans runs: their probes, what they wait for, what is asked again, and how they end."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from biaswatch.services.planner.handlers.planned_parts import (
    PlannedParts,
    Planning,
    Republished,
    first_of,
    lanes_of,
)
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
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.follow_up import FollowUp, Republication
from biaswatch.shared.runtime.gather import Gather
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.store import Closing, PlanningCursor, Store
from biaswatch.shared.telemetry import log

MOST_LOOKS = 16
"""Between two passes through a run for which nothing arrives."""


@dataclass(frozen=True)
class _Look:
    arrived: int
    unchanged: int
    """At how many looks in a row nothing had arrived."""


class StuckRuns:
    """Compares looks at open runs.

    Answers may also be slow: a run is gone through at once, then after 1, 2, 4, 8 and 16 more looks
    without any arrival, and after each 16 from then on.
    """

    def __init__(self) -> None:
        self._looks: dict[str, _Look] = {}

    def among(self, arrived: Mapping[str, int]) -> list[str]:
        """Return the runs to go through now, of those that are open, by how much has arrived."""
        before, self._looks = self._looks, {}
        for run_id, count in arrived.items():
            last = before.get(run_id)
            unchanged = last.unchanged + 1 if last and last.arrived == count else 0
            self._looks[run_id] = _Look(count, unchanged)
        return [run_id for run_id, look in self._looks.items() if _is_due(look.unchanged)]


def _is_due(unchanged: int) -> bool:
    power_of_two = unchanged & (unchanged - 1) == 0
    return unchanged > 0 and (power_of_two or unchanged % MOST_LOOKS == 0)


BEFORE_TENANTS = "default"
"""The tenant of a run whose wait began before waits named one."""
MOST_LOST = 2000
"""About how many lost records of a closed run are published at one look."""


class RunPlanner:
    """Plans runs; all state is in the store, so that any process may end at any moment."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], deadline_s: float) -> None:
        self.gather = Gather(store.gathers(RUN_GATHER), completion_of, now=now)
        self._store = store
        self._parts = PlannedParts(store, now=now)
        self.planning = Planning(store, self._parts, now=now, arrived=self.gather.wake)
        self._republished = Republished(store)
        self._gathers = store.gathers(RUN_GATHER)
        self._judged = store.gathers(JUDGING_GATHER)
        self._now = now
        self._deadline_s = deadline_s
        self._stuck = StuckRuns()
        self.follow_up = FollowUp(
            self._gathers, self._lacking, self._absent, now=now, stage="planner"
        )
        self._seen_unplanned: set[str] = set()

    async def plan(self, run: Run) -> Sequence[Record]:
        """Wait for a run, new or resumed; what it asks is gone through from now on."""
        await in_thread(self._plan, run)
        self.planning.passes.wake()
        self.gather.wake()  # there may be nothing to wait for
        return ()

    def _plan(self, run: Run) -> None:
        now = self._now()
        # A run that is there keeps the ids it began with, whatever its copy here says of them.
        stored = next(self._store.records.get(Run, [run.id]), run)
        expected = self._parts.expected(stored)
        deadline = now + timedelta(seconds=run.deadline_s or self._deadline_s)
        self._store.records.write([run])
        self._store.calls.allow(run.id, run.budget)  # also when resumed, perhaps with more
        cursors = self._cursors(run)
        new = self._gathers.begin(
            run.id,
            expected,
            deadline=deadline,
            now=now,
            context={"tenant": run.tenant},
            cursors=cursors,
        )
        if any(each.ends(run) for each in self._store.records.read(Cancellation, run_id=run.id)):
            if new:  # it was cancelled before anybody planned it
                self._gathers.cancel(run.id, now)
        elif not new and run.window is None:  # a window is read once, however often it is planned
            self._gathers.reopen(run.id, deadline=deadline, now=now, cursors=cursors)

    def _cursors(self, run: Run, *, repair: bool = False) -> list[PlanningCursor]:
        number = int(self._now().timestamp() * 1000)
        return [PlanningCursor(run.id, lane, number, repair) for lane in lanes_of(run)]

    async def cancel(self, cancellation: Cancellation) -> Sequence[Record]:
        """Stop waiting for a run: it closes with what has arrived."""
        # Stored first, so that a start of the run that is still being handled finds it.
        await in_thread(self._store.records.write, [cancellation])
        await self.gather.cancel(cancellation.run_id)
        return ()

    async def count_features(self, batch: Sequence[Features]) -> Sequence[Record]:
        """Count the arrival of features."""
        await self.gather.arrive([features.id for features in batch])
        return ()

    def jobs(self, every_s: float) -> list[Job[Publisher]]:
        """Return the planner's jobs of runs; what may be lost is looked for every so often."""

        async def reconcile(_: Publisher) -> None:
            await in_thread(self.repair_stuck)

        unplanned = Republication(self._unplanned, now=self._now, every_s=every_s)
        return [
            self.gather.job,
            self.planning.passes.job,
            Job(reconcile, "repair stuck runs", every_s=every_s, first_after_s=every_s),
            self.follow_up.job(every_s),
            unplanned.job("plan forgotten runs"),
        ]

    def repair_stuck(self) -> int:
        """Go again through runs for which nothing has arrived; return how many lanes that are.

        The bus acknowledges before it has synced to disk, so a power cut may lose a record.
        """
        stuck = self._stuck.among(self._gathers.open_arrivals())
        begun = 0
        for run in self._store.records.get(Run, stuck):
            if not self._cancelled(run.id):
                lanes = self._store.planning_cursors.begin(self._cursors(run, repair=True))
                if lanes:
                    log("planner").warning("a run is stuck: publishing again", run=run.id)
                begun += lanes
        self.planning.passes.wake()
        self.gather.wake()
        return begun

    def _cancelled(self, run_id: str) -> bool:
        """Close a run whose cancellation the store has; only its message was lost."""
        opened = self._gathers.opened_at(run_id)
        cancellations = self._store.records.read(Cancellation, run_id=run_id)
        if opened is None or not any(each.came_after(opened) for each in cancellations):
            return False
        return self._gathers.cancel(run_id, self._now())

    def _unplanned(self) -> list[Run]:
        """Return the runs that somebody started and nobody waits for, at two looks in a row."""
        since = self._now() - FOLLOWED_UP_FOR
        runs = self._store.records.since(Run, since, purpose=Purpose.STUDY)
        waited_for = self._gathers.known(run.id for run in runs)
        unknown = [run for run in runs if run.id not in waited_for]
        stored = self._store.suites.outlines(run.suite_hash or "" for run in unknown)
        found = [run for run in unknown if run.suite_hash in stored]
        before, self._seen_unplanned = self._seen_unplanned, {run.id for run in found}
        return [run for run in found if run.id in before]

    def _lacking(self, closing: Closing) -> int:
        """Count what the store lacks of all that follows from a closed run."""
        run = next(self._store.records.get(Run, [closing.key]), None)
        if run is None or closing.closed_at < self._now() - FOLLOWED_UP_FOR:
            return 0
        [completion] = completion_of(closing)
        return self._republished.unstored(run) or int(not self._concluded(run, completion))

    def _absent(self, closing: Closing) -> Sequence[Record]:
        """Return what to publish so that the store gets all that follows from a closed run."""
        run = next(self._store.records.get(Run, [closing.key]), None)
        if run is None:  # purged a moment ago
            return []
        if self._republished.unstored(run):
            parts = self._parts.every(run)
            return first_of((self._republished.lost(run, part) for part in parts), MOST_LOST)
        [completion] = completion_of(closing)
        return [] if self._concluded(run, completion) else [completion]

    def _concluded(self, run: Run, completion: Completion) -> bool:
        """Tell whether the store has the end of a run, and its round or its findings."""
        if self._store.records.missing(Completion, [completion.id]):
            return False
        if run.monitor_id is not None:
            return any(self._store.records.read(Round, run_id=run.id))
        suite = self._store.suites.outline(run.suite_hash)
        expected = verdicts_expected(run, suite)
        results = self._store.results
        judged = (
            completion.closed_by is ClosedBy.CANCELLATION
            or results.verdicts(run.id, expected) >= expected
            or any(key.startswith(f"{run.id}/") for key in self._judged.open_keys())
        )
        found = suite is None or not suite.has_findings
        return judged and (found or results.diagnosed(run.id, completion.opening))


def completion_of(closing: Closing) -> list[Completion]:
    """Return the record that a run has closed."""
    return [
        Completion(
            tenant=str(closing.context.get("tenant", BEFORE_TENANTS)),
            at=closing.closed_at,
            run_id=closing.key,
            stage=FEATURES,
            opening=closing.opening,
            closed_by=closing.closed_by,
            expected=closing.expected,
            arrived=closing.arrived,
        )
    ]
