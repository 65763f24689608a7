"""Plans runs: publishes their probes, counts what arrives, repairs what the bus may have lost."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from shared.contracts import (
    FEATURES,
    RUN_GATHER,
    Cancellation,
    Completion,
    Features,
    Probe,
    Record,
    Response,
    Run,
    expected_of,
    probes_of,
    response_id_of,
)
from shared.errors import PoisonError
from shared.runtime.blocking import in_thread
from shared.runtime.gather import Gather, Reconciliation
from shared.store import Closing, Store
from shared.telemetry import log


class RunPlanner:
    """Plans runs; all state is in the store, so that any process may end at any moment."""

    def __init__(self, store: Store, *, now: Callable[[], datetime], deadline_s: float) -> None:
        self.gather = Gather(store.gathers(RUN_GATHER), completion_of, now=now)
        self._store = store
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now
        self._deadline_s = deadline_s
        self.reconciliation = Reconciliation(self._missing, self._repair, now=now)

    async def plan(self, run: Run) -> Sequence[Record]:
        """Wait for a run, new or resumed, and return its probes that have no response yet."""
        return await in_thread(self._plan, run)

    def _plan(self, run: Run) -> Sequence[Probe]:
        if any(each.ends(run) for each in self._store.records.read(Cancellation, run_id=run.id)):
            return []
        now = self._now()
        probes = self._probes(run, now)
        expected = expected_of(run, probes)
        missing = self._store.records.missing(Features, expected)
        deadline = now + timedelta(seconds=run.deadline_s or self._deadline_s)
        self._store.records.write([run])
        self._store.calls.allow(run.id, run.budget)  # also when resumed, perhaps with more
        new = self._gathers.expect(
            run.id, expected, deadline=deadline, now=now, already=expected.keys() - missing
        )
        if not new:
            self._gathers.reopen(run.id, deadline=deadline, now=now)
        return self._unanswered(probes)

    def _probes(self, run: Run, now: datetime) -> list[Probe]:
        """Return the probes of a run; those of a window of traffic were asked by users."""
        if run.window is None:
            suite = self._store.suites.get(run.suite_hash)
            if suite is None:
                raise PoisonError(
                    f"The suite {run.suite} ({run.suite_hash}) is not in the store. Upload it,"
                    " then start the run again."
                )
            return list(probes_of(run, suite, now))
        found = self._store.records.read(Response, run_id=run.id, texts=False)
        return [response.probe for response in found]

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
        arrived = missing - self._store.records.missing(Features, missing)
        if arrived:  # the features are stored; only their message was lost
            self._gathers.arrive(arrived, self._now())
        expected = expected_of(run, self._probes(run, self._now()))
        probes = {probe.id: probe for id_, probe in expected.items() if id_ in missing - arrived}
        unasked = self._unanswered(probes.values())
        paused = {each.lane for each in self._store.paused_targets.read()}
        asked = probes.keys() - {probe.id for probe in unasked}
        found = self._store.records.get(Response, [response_id_of(probes[id_]) for id_ in asked])
        answers = [_measured_by_all(response, run) for response in found]
        # Probes of a paused target wait for it; another copy of them would wait as well.
        lost = [probe for probe in unasked if probe.lane not in paused]
        if lost or answers:
            log("planner").warning(
                "a run is stuck: publishing again", run=run_id, probes=len(lost), answers=len(asked)
            )
        return [*lost, *answers]


def _measured_by_all(response: Response, run: Run) -> Response:
    """Return a response to publish again, for all extractors of the run.

    A production answer that came before a monitor watched it was for fewer of them.
    """
    measure = tuple(sorted({*response.probe.measure, *(pin.name for pin in run.extractors)}))
    probe = response.probe.model_copy(update={"measure": measure})
    return response.model_copy(update={"probe": probe})


def completion_of(closing: Closing) -> list[Completion]:
    """Return the record that a run has closed."""
    return [
        Completion(
            at=closing.closed_at,
            run_id=closing.key,
            stage=FEATURES,
            opening=closing.opening,
            closed_by=closing.closed_by,
            expected=closing.expected,
            arrived=closing.arrived,
        )
    ]
