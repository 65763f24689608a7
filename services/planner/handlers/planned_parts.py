"""Parts of a run: what each expects, publishes and republishes."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

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

PART = 500
"""How many answers a part is about: they are in memory together."""
MOST_KNOWN = 16
"""Runs whose order of questions is kept at the same time."""


@dataclass(frozen=True)
class PlannedPart:
    """Some of what one lane of a run leads to."""

    expected: Mapping[str, str]
    """The features that are waited for, and the response of each."""
    probes: Mapping[str, Probe] = field(default_factory=dict)
    """The probes by their responses; a window of traffic has none: users asked."""
    reached: str | None = None
    """How far the list has been gone through with it; None at its end."""


class PlannedParts:
    """Reads the lists of runs; each has an order that never changes."""

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._known: OrderedDict[str, PlannedProbes] = OrderedDict()

    def expected(self, run: Run) -> int:
        """Return how many features a run waits for; the members of a window are fixed by this."""
        if run.window is None:
            answers = self._probes(run).amount(len(run.targets))
        elif run.monitor_id is None:
            raise PoisonError(f"The run {run.id} reads no window of a monitor.")
        else:
            window = MonitoredWindow(run.id, run.monitor_id, run.window)
            answers = self._store.window_answers.fix(window, self._now())
        return answers * len(run.extractors)

    def every(self, run: Run) -> Iterator[PlannedPart]:
        """Return the parts of all lanes of a run."""
        for lane in lanes_of(run):
            reached: str | None = ""
            while reached is not None:
                part = self.read(run, lane, reached)
                yield part
                reached = part.reached

    def read(self, run: Run, lane: str, reached: str) -> PlannedPart:
        """Return the part of a lane after what was reached."""
        if run.window is not None:
            return self._members(run, reached)
        planned, first = self._probes(run), int(reached or 0)
        targets = [target for target in run.targets if target.lane == lane]
        probes = list(islice(planned.read(self._now(), first=first, targets=targets), PART))
        end = first + len(probes)
        return PlannedPart(
            expected={id_: response_id_of(each) for id_, each in expected_of(run, probes).items()},
            probes={response_id_of(probe): probe for probe in probes},
            reached=str(end) if end < planned.amount(len(targets)) else None,
        )

    def _members(self, run: Run, reached: str) -> PlannedPart:
        answers = self._store.window_answers.members_after(run.id, reached, PART)
        if answers is None:
            raise PoisonError(f"The list of the members of the window {run.id} was never fixed.")
        return PlannedPart(
            expected={
                member_features_id(run, answer, pin): answer
                for answer in answers
                for pin in run.extractors
            },
            reached=answers[-1] if len(answers) == PART else None,
        )

    def _probes(self, run: Run) -> PlannedProbes:
        if (planned := self._known.get(run.id)) is None:
            outline = self._store.suites.outline(run.suite_hash)
            if outline is None:
                raise PoisonError(
                    f"The suite {run.suite} ({run.suite_hash}) is not in the store. Upload it,"
                    " then start the run again."
                )
            planned = self._known[run.id] = PlannedProbes(self._store.suites, outline, run)
            if len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return planned


def lanes_of(run: Run) -> Sequence[str]:
    """Return the lanes of a run, each once."""
    return list(dict.fromkeys(target.lane for target in run.targets))


class Republished:
    """Finds, in the store, what leads to the records that are missing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._gathers = store.gathers(RUN_GATHER)

    def of(
        self, run: Run, part: PlannedPart, *, unmeasured: Set[str], unanswered: Set[str]
    ) -> list[Record]:
        """Return the probes that have no response, and the responses whose features are missing.

        Probes of a paused target wait for it; another copy of them would wait as well.
        """
        paused = {each.lane for each in self._store.paused_targets.read()}
        asked = (probe for id_, probe in part.probes.items() if id_ in unanswered)
        answers = {part.expected[id_] for id_ in unmeasured} - unanswered
        return [
            *(probe for probe in asked if probe.lane not in paused),
            *(measured_by_all(each, run) for each in self._store.records.get(Response, answers)),
        ]

    def lost(self, run: Run, part: PlannedPart) -> list[Record]:
        """Return what leads to what arrived of a part and is not in the store."""
        arrived = self._gathers.arrived(run.id, part.expected)
        responses = {part.expected[id_] for id_ in arrived}
        unanswered = self._store.records.missing(Response, responses) & part.probes.keys()
        unmeasured = self._store.records.missing(Features, arrived)
        return self.of(run, part, unmeasured=unmeasured, unanswered=unanswered)

    def unstored(self, run: Run) -> int:
        """Count the features of a run that arrived, and their responses, that the store lacks."""
        without = self._store.results.without_response(run.id)
        return self._gathers.unstored(run.id, Features) + without


def first_of(records: Iterator[list[Record]], most: int) -> list[Record]:
    """Return the first records of some lists, about so many; the others are not looked for."""
    found: list[Record] = []
    for some in records:
        found += some
        if len(found) >= most:
            break
    return found


def measured_by_all(response: Response, run: Run) -> Response:
    """Return a response to publish again, for all extractors of the run.

    A production answer that came before a monitor watched it was for fewer of them.
    """
    measure = tuple(sorted({*response.probe.measure, *(pin.name for pin in run.extractors)}))
    probe = response.probe.model_copy(update={"measure": measure})
    return response.model_copy(update={"probe": probe})


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
