"""Closes rounds of monitors: reads a round once, keeps its increments for ever, adds them up."""

from collections.abc import Callable, Sequence
from datetime import datetime

from services.diagnoser.domain.monitors.alarms import alarms
from services.diagnoser.domain.monitors.evidence import (
    closed_round,
    evidence_of,
    increment_of,
    models_of,
)
from services.diagnoser.domain.monitors.method import method_of
from services.diagnoser.domain.monitors.round_answers import (
    MeasuredAnswer,
    RoundData,
    RoundScope,
    compared_sets,
)
from services.diagnoser.handlers.alarm_postings import AlarmPostings
from services.diagnoser.handlers.traffic_windows import TrafficWindows
from shared.contracts import (
    Alarm,
    Completion,
    Description,
    Evidence,
    Features,
    Increment,
    Monitor,
    Record,
    Response,
    Round,
    Run,
    features_id_of,
    probes_of,
    response_id_of,
)
from shared.errors import PoisonError, TransientError
from shared.store import Store

SOON_S = 0.2
KINDS: tuple[type[Record], ...] = (Round, Increment, Evidence, Alarm, Description)
"""What a round leaves behind."""


class CloseRounds:
    """Adds closed rounds to the evidence of their monitors, each once, in their order.

    All that a round leaves behind is written in one transaction, before anybody hears of it. Who
    closes the round again, after a death or because it came twice, finds it there and tells the
    same; what came late is not read any more.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._windows = TrafficWindows(store)
        self._postings = AlarmPostings(store, now=now)
        self._now = now

    def __call__(self, completion: Completion, run: Run) -> Sequence[Record]:
        """Return what a closed round leaves behind, and those before it that nobody has closed.

        The completion of an earlier round may lie among the dead letters, or come later. Rounds
        are added up in their order, so this one closes the earlier ones first.

        Raises
        ------
        TransientError
            A round before is not over yet, or not all of it is in the store.
        """
        monitor = self._monitor(run)
        waiting = self._not_closed(run, monitor)
        for each in waiting:
            ended = completion if each.id == run.id else self._completion(each, monitor)
            before = self._store.rounds.get(monitor, (each.round or 0) - 1)
            reported = self._store.records.numbers(Response, run_id=each.id)
            models = models_of((some.get("model"), some.get("fingerprint")) for some in reported)
            closed = closed_round(each, monitor, ended, models, before, self._now())
            self._store.records.write([closed, *self._left(closed, each, monitor, before)])
        # The store keeps the first copy, whoever made it.
        left = [
            record
            for each in waiting or [run]
            for kind in KINDS
            for record in self._store.records.read(kind, run_id=each.id)
        ]
        self._postings.expect([each for each in left if isinstance(each, Alarm)])
        return left

    def _not_closed(self, run: Run, monitor: Monitor) -> list[Run]:
        """Return this round's run and those right before it that are not closed, in their order."""
        closed = self._store.rounds.closed(monitor)
        found: list[Run] = []
        current: Run | None = run
        while current is not None and (current.round or 0) >= closed:
            found.append(current)
            current = next(self._store.records.get(Run, filter(None, [current.before])), None)
        first = found[-1] if found else run
        if (first.round or 0) > closed:
            raise TransientError(
                f"Round {run.round} of the monitor {run.monitor_id} waits for the round before"
                f" round {first.round}, whose run is not in the store.",
                retry_after_s=SOON_S,
            )
        return found[::-1]

    def _completion(self, run: Run, monitor: Monitor) -> Completion:
        """Return how an earlier round ended, once all that came of it is in the store."""
        ended = list(self._store.records.read(Completion, run_id=run.id))
        last = max(ended, key=lambda each: each.opening) if ended else None
        if last is None or self._store.records.count(Features, run_id=run.id) < last.arrived:
            raise TransientError(
                f"Round {run.round} of the monitor {monitor.name} has to be closed first, and is"
                " not in the store whole.",
                retry_after_s=SOON_S,
            )
        return last

    def _monitor(self, run: Run) -> Monitor:
        found = list(self._store.records.of_monitor(Monitor, run.monitor_id or ""))
        if not found:
            raise PoisonError(f"The monitor of the run {run.id} is not in the store.")
        return max(found, key=lambda monitor: monitor.moment_ms)

    def _left(
        self, closed: Round, run: Run, monitor: Monitor, before: Round | None
    ) -> list[Record]:
        seen = self._seen(run, monitor, closed)
        found = self._store.records.read(Evidence, run_id=before.run_id) if before else ()
        last = {each.comparison_key: each for each in found}
        increments = [increment_of(closed, each, seen) for each in monitor.plan.watched]
        evidence = [evidence_of(each, last, closed, monitor) for each in increments]
        history = list(self._store.records.of_monitor(Alarm, closed.monitor_id))
        told = alarms(monitor, closed, evidence, seen.sets, history)
        return [*increments, *evidence, *told, *seen.described]

    def _seen(self, run: Run, monitor: Monitor, closed: Round) -> RoundData:
        if run.window is not None:
            return self._windows.read(run, monitor, closed)
        answers = self._answers(run)
        sets = {each.key: compared_sets(each, answers) for each in monitor.plan.watched}
        scope = RoundScope(monitor.plan.claim, closed.round)
        counted = {
            each.key: method_of(each.watched.method).count(each, sets[each.key], scope)
            for each in monitor.plan.watched
        }
        return RoundData(counted, {key: each.outside for key, each in sets.items()}, sets)

    def _answers(self, run: Run) -> list[MeasuredAnswer]:
        """Return an answer for all that was planned, also where nothing came."""
        suite = self._store.suites.get(run.suite_hash)
        if suite is None:
            raise PoisonError(f"The suite {run.suite} ({run.suite_hash}) is not in the store.")
        measured = self._store.records.read(Features, run_id=run.id)
        values = {each.id: each.values for each in measured if not each.unscorable}
        return [
            MeasuredAnswer(
                set=probe.set_id or probe.unit_id,
                unit=probe.unit_id,
                groups=probe.groups,
                extractor=pin.name,
                response_id=response_id_of(probe),
                values=values.get(features_id_of(probe, pin.name, pin.version)),
            )
            for probe in probes_of(run, suite, run.at)
            for pin in run.extractors
        ]
