"""Parts of a run: what each expects, publishes and republishes."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice

from biaswatch.services.planner.handlers.pacing import Pacing
from biaswatch.shared.caching import LatestResults
from biaswatch.shared.contracts import (
    RUN_GATHER,
    Features,
    MonitoredWindow,
    Probe,
    Record,
    Response,
    Run,
    expected_of,
    member_features_id,
    response_id_of,
)
from biaswatch.shared.errors import PoisonError
from biaswatch.shared.runtime.passes import Passes, PassSteps, PreparedPart
from biaswatch.shared.store import PlannedProbes, PlanningCursor, Store
from biaswatch.shared.telemetry import log

PART_ANSWERS = 500
"""Answers per part, which are in memory together."""
CACHED_PLANS = 16
"""Runs whose order of questions is cached."""


@dataclass(frozen=True)
class PlannedPart:
    """A part of one lane of a run."""

    expected: Mapping[str, str]
    """Ids of the expected features, each with the id of its response."""
    probes: Mapping[str, Probe] = field(default_factory=dict)
    """Probes by response id; empty for a window of traffic, since users asked."""
    reached: str | None = None
    """Position after this part; None at the end."""


class PlannedParts:
    """Reads the parts of runs, in an order that never changes."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now
        self._plans = LatestResults[str, PlannedProbes](CACHED_PLANS)

    def expected(self, run: Run) -> int:
        """Return the number of expected features; fixes the members of a window."""
        if run.window is None:
            answers = self._plan(run).amount(len(run.targets))
        elif run.monitor_id is None:
            raise PoisonError(f"The run {run.id} reads no window of a monitor.")
        else:
            window = MonitoredWindow(run.id, run.monitor_id, run.window)
            answers = self._store.window_answers.fix(window, self._now())
        return answers * len(run.extractors)

    def read(self, run: Run, lane: str, reached: str) -> PlannedPart:
        """Return the part of a lane after a position."""
        if run.window is not None:
            return self._members(run, reached)
        plan, first = self._plan(run), int(reached or 0)
        targets = [target for target in run.targets if target.lane == lane]
        probes = list(islice(plan.read(self._now(), first=first, targets=targets), PART_ANSWERS))
        end = first + len(probes)
        return PlannedPart(
            expected={id_: response_id_of(p) for id_, p in expected_of(run, probes).items()},
            probes={response_id_of(probe): probe for probe in probes},
            reached=str(end) if end < plan.amount(len(targets)) else None,
        )

    def _members(self, run: Run, reached: str) -> PlannedPart:
        answers = self._store.window_answers.members_after(run.id, reached, PART_ANSWERS)
        if answers is None:
            raise PoisonError(f"The list of the members of the window {run.id} was never fixed.")
        return PlannedPart(
            expected={
                member_features_id(run, answer, pin): answer
                for answer in answers
                for pin in run.extractors
            },
            reached=answers[-1] if len(answers) == PART_ANSWERS else None,
        )

    def _plan(self, run: Run) -> PlannedProbes:
        return self._plans.get(run.id, partial(self._read_plan, run))

    def _read_plan(self, run: Run) -> PlannedProbes:
        outline = self._store.suites.outline(run.suite_hash)
        if outline is None:
            raise PoisonError(
                f"The suite {run.suite} ({run.suite_hash}) is not in the store. Upload it,"
                " then start the run again."
            )
        return PlannedProbes(self._store.suites, outline, run)

    def republished(
        self, run: Run, part: PlannedPart, *, unmeasured: Set[str], unanswered: Set[str]
    ) -> list[Record]:
        """Return the probes without a response, and the responses without features.

        Probes of a paused target already wait for it, so they are not published again.
        """
        paused = {pause.lane for pause in self._store.paused_targets.read()}
        probes = (probe for id_, probe in part.probes.items() if id_ in unanswered)
        answers = {part.expected[id_] for id_ in unmeasured} - unanswered
        return [
            *(probe for probe in probes if probe.lane not in paused),
            *(_for_all_extractors(r, run) for r in self._store.records.get(Response, answers)),
        ]

    def lost(self, run: Run, limit: int) -> list[Record]:
        """Return about `limit` records whose loss keeps arrived features out of the store."""
        records: list[Record] = []
        for part in self._every(run):
            arrived = self._gathers.arrived(run.id, part.expected)
            responses = {part.expected[id_] for id_ in arrived}
            unanswered = self._store.records.missing(Response, responses) & part.probes.keys()
            unmeasured = self._store.records.missing(Features, arrived)
            records += self.republished(run, part, unmeasured=unmeasured, unanswered=unanswered)
            if len(records) >= limit:
                break
        return records

    def _every(self, run: Run) -> Iterator[PlannedPart]:
        """Return the parts of all lanes of a run."""
        for lane in target_lanes(run):
            reached: str | None = ""
            while reached is not None:
                part = self.read(run, lane, reached)
                yield part
                reached = part.reached


class Planning:
    """The passes through the probes of runs; lanes do not wait for one another."""

    def __init__(
        self,
        store: Store,
        parts: PlannedParts,
        *,
        now: Callable[[], datetime],
        on_arrival: Callable[[], None],
        stalled_s: float,
    ) -> None:
        self._store = store
        self._parts = parts
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now
        self._on_arrival = on_arrival
        missing = partial(store.records.missing, Response)
        self._pacing = Pacing(missing, now=now, stalled_s=stalled_s)
        steps = PassSteps(
            self.prepare, self.settle, self._is_open, lambda cursor: cursor.lane, self._may_publish
        )
        self.passes = Passes(store.planning_cursors, steps, stage="planner")

    def prepare(self, cursor: PlanningCursor) -> PreparedPart | None:
        """Expect the next part of a pass; None if the run is closed or cannot be planned."""
        run = next(self._store.records.get(Run, [cursor.run_id]), None)
        if run is None:
            return None
        try:
            part = self._parts.read(run, cursor.lane, cursor.reached)
        except PoisonError as error:
            log("planner").error("a run cannot be planned", run=cursor.run_id, why=str(error))
            return None
        missing = self._store.records.missing(Features, part.expected)
        present = part.expected.keys() - missing
        if not self._gathers.add(run.id, part.expected, already=present, now=self._now()):
            return None
        unanswered = self._store.records.missing(Response, part.probes)
        if cursor.repair:
            records = self._parts.republished(run, part, unmeasured=missing, unanswered=unanswered)
        else:
            records = [probe for id_, probe in part.probes.items() if id_ in unanswered]
        if not any(target.in_batches for target in run.targets):  # batches take all there is
            self._pacing.published(_pass_of(cursor), unanswered)
        return PreparedPart(records, part.reached)

    def settle(self, cursor: PlanningCursor, part: PreparedPart | None) -> None:
        """Move a pass on, or end it."""
        reached = part.reached if part else None
        if reached is None:
            self._pacing.ended(_pass_of(cursor))
        self._store.planning_cursors.settle(cursor, reached)
        self._on_arrival()  # expected features may have arrived already

    def _may_publish(self, cursor: PlanningCursor) -> bool:
        """Return whether a pass may publish its next part, or is to end."""
        return self._pacing.may_publish(_pass_of(cursor)) or not self._is_open(cursor)

    def _is_open(self, cursor: PlanningCursor) -> bool:
        state = self._gathers.state(cursor.run_id)
        return state is not None and state.closed_by is None


def _pass_of(cursor: PlanningCursor) -> tuple[str, str, int]:
    return cursor.run_id, cursor.lane, cursor.publication


def _for_all_extractors(response: Response, run: Run) -> Response:
    """Return a response to publish again, for all extractors of the run.

    A production answer from before its monitor existed names fewer of them.
    """
    measure = tuple(sorted({*response.probe.measure, *(pin.name for pin in run.extractors)}))
    probe = response.probe.model_copy(update={"measure": measure})
    return response.model_copy(update={"probe": probe})


def target_lanes(run: Run) -> Sequence[str]:
    """Return the distinct lanes of a run."""
    return list(dict.fromkeys(target.lane for target in run.targets))
