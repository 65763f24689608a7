"""Goes through what runs ask: part by part, each lane by itself."""

from collections.abc import Callable
from datetime import datetime

from biaswatch.services.planner.handlers.planned_parts import PlannedParts
from biaswatch.services.planner.handlers.republished import Republished
from biaswatch.shared.contracts import RUN_GATHER, Features, Response, Run
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.runtime.passes import Passes, PassSteps, PreparedPart
from biaswatch.shared.store import PlanningCursor, Store
from biaswatch.shared.telemetry import log


class Planning:
    """What the passes through runs expect and publish; lanes do not wait for one another."""

    def __init__(
        self,
        store: Store,
        parts: PlannedParts,
        *,
        now: Callable[[], datetime],
        arrived: Callable[[], None],
    ) -> None:
        self._store = store
        self._parts = parts
        self._republished = Republished(store)
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now
        self._arrived = arrived
        steps = PassSteps(self.prepare, self.settle, self._wanted, lambda cursor: cursor.lane)
        self.passes = Passes(store.planning_cursors, steps, stage="planner")

    def prepare(self, cursor: PlanningCursor) -> PreparedPart | None:
        """Wait for the next part of a pass; None where nobody waits for the run any more."""
        run = next(self._store.records.get(Run, [cursor.run_id]), None)
        if run is None:
            return None
        try:
            part = self._parts.read(run, cursor.lane, cursor.reached)
        except PoisonError as error:
            log("planner").error("a run cannot be planned", run=cursor.run_id, why=str(error))
            return None
        missing = self._store.records.missing(Features, part.expected)
        there = part.expected.keys() - missing
        if not self._gathers.add(run.id, part.expected, already=there, now=self._now()):
            return None
        unanswered = self._store.records.missing(Response, part.probes)
        if cursor.repair:
            records = self._republished.of(run, part, unmeasured=missing, unanswered=unanswered)
        else:
            records = [probe for id_, probe in part.probes.items() if id_ in unanswered]
        return PreparedPart(records, part.reached)

    def settle(self, cursor: PlanningCursor, part: PreparedPart | None) -> None:
        """Move a pass on, or end it."""
        self._store.planning_cursors.settle(cursor, part.reached if part else None)
        self._arrived()  # what was waited for may have been there

    def _wanted(self, cursor: PlanningCursor) -> bool:
        state = self._gathers.look(cursor.run_id)
        return state is not None and state.closed_by is None
