"""Closes rounds of monitors: reads a round once, keeps its increments for ever, adds them up."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from services.diagnoser.domain.monitors.alarming import alarms
from services.diagnoser.domain.monitors.answers import Answer, Sorted, sorted_for
from services.diagnoser.domain.monitors.changing import next_change, reference_of
from services.diagnoser.domain.monitors.counting import Place, added, count
from services.diagnoser.domain.monitors.epochs import closed_round, models_of
from services.diagnoser.domain.monitors.reading import read
from shared.contracts import (
    Alarm,
    Change,
    Comparison,
    Completion,
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


class Watch:
    """Adds closed rounds to the evidence of their monitors, each once, in their order.

    All that a round leaves behind is written in one transaction, before anybody hears of it. Who
    closes the round again, after a death or because it came twice, finds it there and tells the
    same; what came late is not read any more.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def __call__(self, completion: Completion, run: Run) -> Sequence[Record]:
        """Give what a closed round leaves behind.

        Raises
        ------
        TransientError
            The round before is not added up yet.
        """
        monitor = self._monitor(run)
        rounds = {each.round: each for each in self._rounds(monitor)}
        if run.round not in rounds:
            before = rounds.get((run.round or 0) - 1)
            if run.round and before is None:
                raise TransientError(
                    f"Round {run.round} of the monitor {monitor.name} waits for the round before.",
                    retry_after_s=SOON_S,
                )
            self._store.records.write(self._closed(completion, run, monitor, before))
        return self._kept(run)

    def _monitor(self, run: Run) -> Monitor:
        found = list(self._store.records.of_monitor(Monitor, run.monitor_id or ""))
        if not found:
            raise PoisonError(f"The monitor of the run {run.id} is not in the store.")
        return max(found, key=lambda monitor: monitor.moment_ms)

    def _rounds(self, monitor: Monitor) -> list[Round]:
        return list(self._store.records.of_monitor(Round, monitor.monitor_id))

    def _kept(self, run: Run) -> list[Record]:
        """Give what the store keeps of a round: the first copy, whoever made it."""
        kinds: tuple[type[Record], ...] = (Round, Increment, Evidence, Alarm)
        return [each for kind in kinds for each in self._store.records.read(kind, run_id=run.id)]

    def _closed(
        self, completion: Completion, run: Run, monitor: Monitor, before: Round | None
    ) -> list[Record]:
        reported = self._store.records.numbers(Response, run_id=run.id)
        models = models_of((each.get("model"), each.get("fingerprint")) for each in reported)
        closed = closed_round(run, monitor, completion, models, before, self._now())
        answers = self._answers(run)
        seen = {each.key: sorted_for(each, answers) for each in monitor.plan.watched}
        place = Place(monitor.plan.claim, closed.round)
        last = self._last(before)
        increments = [_increment(closed, each, seen, place) for each in monitor.plan.watched]
        evidence = [_evidence(each, last, closed, monitor) for each in increments]
        history = list(self._store.records.of_monitor(Alarm, closed.monitor_id))
        told = alarms(monitor, closed, evidence, seen, history)
        return [closed, *increments, *evidence, *told]

    def _last(self, before: Round | None) -> dict[str, Evidence]:
        if before is None:
            return {}
        found = self._store.records.read(Evidence, run_id=before.run_id)
        return {each.comparison_key: each for each in found}

    def _answers(self, run: Run) -> list[Answer]:
        """Give an answer for all that was planned, also where nothing came."""
        suite = self._store.suites.get(run.suite_hash)
        if suite is None:
            raise PoisonError(f"The suite {run.suite} ({run.suite_hash}) is not in the store.")
        found = {each.id: each for each in self._store.records.read(Features, run_id=run.id)}
        return [
            Answer(
                set=probe.set_id or probe.unit_id,
                unit=probe.unit_id,
                groups=probe.groups,
                extractor=pin.name,
                response_id=response_id_of(probe),
                values=_values(found.get(features_id_of(probe, pin.name, pin.version))),
            )
            for probe in probes_of(run, suite, run.at)
            for pin in run.extractors
        ]


def _values(features: Features | None) -> Mapping[str, float | None] | None:
    return None if features is None or features.unscorable else features.values


def _increment(
    closed: Round, comparison: Comparison, seen: Mapping[str, Sorted], place: Place
) -> Increment:
    mine = seen[comparison.key]
    counted = count(comparison, mine, place)
    return Increment(
        tenant=closed.tenant,
        purpose=closed.purpose,
        at=closed.at,
        monitor_id=closed.monitor_id,
        run_id=closed.run_id,
        epoch=closed.epoch,
        round=closed.round,
        comparison=comparison,
        counts=counted.counts,
        missing=counted.missing,
        outside=mine.outside,
    )


def _evidence(
    increment: Increment, last: Mapping[str, Evidence], closed: Round, monitor: Monitor
) -> Evidence:
    plan, comparison = monitor.plan, increment.comparison
    latest = last.get(comparison.key)
    same = latest if latest is not None and latest.epoch == closed.epoch else None
    counts = added(same.counts, increment.counts) if same else increment.counts
    found = read(comparison, counts, plan, same.log_supremum if same else 0.0)
    rounds = (same.rounds if same else 0) + 1
    return Evidence(
        **increment.model_dump(include=CARRIED),
        comparison=comparison,
        rounds=rounds,
        counts=counts,
        missing=(same.missing if same else 0) + increment.missing,
        bound=plan.bound,
        change=_change(same, increment, counts, monitor, rounds),
        level_change=_change(same, increment, counts, monitor, rounds, level=True),
        before=same.before if same else (latest.gap if latest else None),
        **vars(found),
    )


CARRIED = {"tenant", "purpose", "at", "monitor_id", "run_id", "epoch", "round"}


def _change(
    same: Evidence | None,
    increment: Increment,
    counts: dict[str, tuple[int, ...]],
    monitor: Monitor,
    rounds: int,
    *,
    level: bool = False,
) -> Change | None:
    if rounds == monitor.plan.reference_rounds:
        return reference_of(increment.comparison, counts, monitor.plan, level=level)
    last = None if same is None else same.level_change if level else same.change
    return None if last is None else next_change(last, increment.counts, level=level)
