"""Plans runs: publishes their probes, counts what arrives, repairs what the bus may have lost."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta

from services.planner.windows import WindowExpansion, measured_by_all
from shared.contracts import (
    FEATURES,
    JUDGING_GATHER,
    RUN_GATHER,
    Cancellation,
    ClosedBy,
    Completion,
    Features,
    Probe,
    Purpose,
    Record,
    Response,
    Round,
    Run,
    expected_of,
    probes_of,
    response_id_of,
    verdicts_expected,
)
from shared.errors import PoisonError
from shared.runtime.blocking import in_thread
from shared.runtime.follow_up import FollowUp
from shared.runtime.gather import Gather, Reconciliation
from shared.runtime.republication import Republication
from shared.store import Closing, Store
from shared.telemetry import log

KEPT = timedelta(days=7)
"""How far back lost records are looked for: as long as the bus would have kept them."""
BEFORE_TENANTS = "default"
"""The tenant of a run whose wait began before waits named one."""


class RunPlanner:
    """Plans runs; all state is in the store, so that any process may end at any moment."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], deadline_s: float) -> None:
        self.gather = Gather(store.gathers(RUN_GATHER), completion_of, now=now)
        self._store = store
        self._windows = WindowExpansion(store, now=now)
        self._gathers = store.gathers(RUN_GATHER)
        self._judged = store.gathers(JUDGING_GATHER)
        self._now = now
        self._deadline_s = deadline_s
        self.reconciliation = Reconciliation(self._missing, self._repair, now=now)
        self.follow_up = FollowUp(self._gathers, self._absent, now=now, stage="planner")
        self.unplanned = Republication(self._unplanned, now=now)
        self._seen_unplanned: set[str] = set()

    async def plan(self, run: Run) -> Sequence[Record]:
        """Wait for a run, new or resumed, and return its probes that have no response yet."""
        probes = await in_thread(self._plan, run)
        self.gather.wake()  # all of it may have been there
        return probes

    def _plan(self, run: Run) -> Sequence[Probe]:
        now = self._now()
        # The probes of a window of traffic were asked by users, and are answered.
        probes = [] if run.window is not None else self._probes(run, now)
        expected = self._expected(run, probes)
        missing = self._store.records.missing(Features, expected)
        deadline = now + timedelta(seconds=run.deadline_s or self._deadline_s)
        self._store.records.write([run])
        self._store.calls.allow(run.id, run.budget)  # also when resumed, perhaps with more
        new = self._gathers.expect(
            run.id,
            expected,
            deadline=deadline,
            now=now,
            already=expected - missing,
            context={"tenant": run.tenant},
        )
        if run.window is not None:
            self._windows.arrive_recorded(run.id)  # what came since `missing` was read
        if any(each.ends(run) for each in self._store.records.read(Cancellation, run_id=run.id)):
            if new:  # it was cancelled before anybody planned it
                self._gathers.cancel(run.id, now)
            return []
        if not new and run.window is None:  # a window is read once, however often it is planned
            self._gathers.reopen(run.id, deadline=deadline, now=now)
        return self._unanswered(probes)

    def _expected(self, run: Run, probes: Iterable[Probe]) -> Set[str]:
        """Return the ids of the features that a run waits for."""
        if run.window is not None:
            return self._windows.expand(run).keys()
        return expected_of(run, probes).keys()

    def _probes(self, run: Run, now: datetime) -> list[Probe]:
        """Return the probes of a run that asks."""
        suite = self._store.suites.get(run.suite_hash)
        if suite is None:
            raise PoisonError(
                f"The suite {run.suite} ({run.suite_hash}) is not in the store. Upload it,"
                " then start the run again."
            )
        return list(probes_of(run, suite, now))

    def _unanswered(self, probes: Iterable[Probe]) -> list[Probe]:
        by_response = {response_id_of(probe): probe for probe in probes}
        missing = self._store.records.missing(Response, by_response)
        return [probe for id_, probe in by_response.items() if id_ in missing]

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

    def _missing(self) -> dict[str, set[str]]:
        keys = self._gathers.open_keys()
        return {run_id: set(self._gathers.waiting_for(run_id)) for run_id in keys}

    def _repair(self, run_id: str, missing: set[str]) -> list[Record]:
        [run] = self._store.records.get(Run, [run_id])
        if self._cancelled(run_id):
            return []
        arrived = missing - self._store.records.missing(Features, missing)
        if arrived:  # the features are stored; only their message was lost
            self._gathers.arrive(arrived, self._now())
        if run.window is not None:
            return self._measured_again(run, missing - arrived)
        expected = expected_of(run, self._probes(run, self._now()))
        return self._again(
            run, {probe.id: probe for id_, probe in expected.items() if id_ in missing - arrived}
        )

    def _cancelled(self, run_id: str) -> bool:
        """Close a run whose cancellation the store has; only its message was lost."""
        opened = self._gathers.opened_at(run_id)
        cancellations = self._store.records.read(Cancellation, run_id=run_id)
        if opened is None or not any(each.came_after(opened) for each in cancellations):
            return False
        return self._gathers.cancel(run_id, self._now())

    def _again(self, run: Run, probes: Mapping[str, Probe]) -> list[Record]:
        """Return the probes that have no response, and the responses to the others."""
        unasked = self._unanswered(probes.values())
        paused = {each.lane for each in self._store.paused_targets.read()}
        asked = probes.keys() - {probe.id for probe in unasked}
        found = self._store.records.get(Response, [response_id_of(probes[id_]) for id_ in asked])
        answers = [measured_by_all(response, run) for response in found]
        # Probes of a paused target wait for it; another copy of them would wait as well.
        lost = [probe for probe in unasked if probe.lane not in paused]
        if lost or answers:
            log("planner").warning(
                "a run is stuck: publishing again", run=run.id, probes=len(lost), answers=len(asked)
            )
        return [*lost, *answers]

    def _measured_again(self, run: Run, missing: set[str]) -> list[Record]:
        """Return the answers of a window to publish again, for what they lack."""
        answers = self._windows.again(run, missing)
        if answers:
            log("planner").warning(
                "a window is stuck: publishing again", run=run.id, answers=len(answers)
            )
        return [*answers]

    def _unplanned(self) -> list[Run]:
        """Return the runs that somebody started and nobody waits for, at two looks in a row."""
        since = self._now() - KEPT
        found = [
            run
            for run in self._store.records.since(Run, since, purpose=Purpose.STUDY)
            if self._gathers.look(run.id) is None
            and self._store.suites.get(run.suite_hash) is not None
        ]
        before, self._seen_unplanned = self._seen_unplanned, {run.id for run in found}
        return [run for run in found if run.id in before]

    def _absent(self, closing: Closing) -> list[Record]:
        """Return what to publish so that the store gets all that follows from a closed run."""
        run = next(self._store.records.get(Run, [closing.key]), None)
        if run is None or closing.closed_at < self._now() - KEPT:
            return []
        [completion] = completion_of(closing)
        if lost := self._lost(run):
            return lost
        heard = not self._store.records.missing(Completion, [completion.id])
        return [] if heard and self._concluded(run, completion) else [completion]

    def _lost(self, run: Run) -> list[Record]:
        """Return what to publish again where a response or features arrived and are not stored."""
        if run.window is not None:
            return [*self._windows.lost(run)]
        arrived = set(self._gathers.came_to(run.id))
        expected = expected_of(run, self._probes(run, self._now()))
        probes = {id_: probe for id_, probe in expected.items() if id_ in arrived}
        by_response = {response_id_of(probe): probe for probe in probes.values()}
        features = self._store.records.missing(Features, probes)
        responses = self._store.records.missing(Response, by_response)
        lost = [*(probes[id_] for id_ in features), *(by_response[id_] for id_ in responses)]
        return self._again(run, {probe.id: probe for probe in lost})

    def _concluded(self, run: Run, completion: Completion) -> bool:
        """Tell whether the store has the round of a monitor, or the findings of a run."""
        if run.monitor_id is not None:
            return any(self._store.records.read(Round, run_id=run.id))
        suite = self._store.suites.get(run.suite_hash)
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
