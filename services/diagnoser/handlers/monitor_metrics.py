"""Metrics of monitors, read from the store, so that every replica exports the same values."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import Gauge

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    Correction,
    Evidence,
    Monitor,
    MonitorState,
    Round,
    RoundEvidence,
    Verdict,
    latest_over_rounds,
    open_alarms_of,
)
from biaswatch.shared.contracts.evidence_rows import evidence_in
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import (
    MONITOR_ALARM,
    MONITOR_ALPHA,
    MONITOR_ALPHA_LEFT,
    MONITOR_ANSWERS,
    MONITOR_EVIDENCE,
    MONITOR_GAP,
    MONITOR_GAP_HIGH,
    MONITOR_GAP_LOW,
    MONITOR_LABELLED_EVIDENCE,
    MONITOR_LABELLED_GAP,
    MONITOR_LABELLED_GAP_HIGH,
    MONITOR_LABELLED_GAP_LOW,
    MONITOR_LAST_ROUND,
    MONITOR_MISSED,
    MONITOR_OVERDUE,
    MONITOR_SMALLEST_CHANGE,
    MONITOR_VERDICT,
    UNWATCHED_ANSWERS,
)

VERDICTS = {Verdict.DISPARITY: 1, Verdict.INCONCLUSIVE: 0, Verdict.NO_DISPARITY: -1}
Key = tuple[Gauge, tuple[str, ...]]
Value = tuple[Key, float]


class MonitorMetrics:
    """Sets the gauges of all monitors, and removes those of deleted monitors."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shown: set[Key] = set()
        self._known: dict[tuple[str, int], Sequence[Value]] = {}
        """Gauges of the last round of each monitor, by round and number of alarms."""

    async def show(self, _: Publisher) -> None:
        """Update the gauges."""
        await in_thread(self.run_once)

    def run_once(self) -> None:
        """Read the store and set every gauge."""
        values = dict(self._current())
        for gauge, labels in self._shown - values.keys():
            gauge.remove(*labels)
        for (gauge, labels), value in values.items():
            gauge.labels(*labels).set(value)
        self._shown = set(values)

    def _current(self) -> Iterator[Value]:
        for source in self._store.unwatched_answers.read():
            yield (UNWATCHED_ANSWERS, (source.tenant, source.source)), source.answers
        labelled = self._store.labelled_runs.of_monitors()
        scheduled = self._store.schedule.monitors()
        of_rounds = self._of_last_rounds([place.monitor for place in scheduled])
        for place in scheduled:
            if place.monitor.state is MonitorState.DELETED:
                continue
            name = (place.monitor.tenant, place.monitor.name)
            if place.monitor.state is MonitorState.ACTIVE and not place.ended:
                yield (MONITOR_OVERDUE, name), place.due.timestamp()
            if place.monitor.plan.traffic is not None:
                yield from self._answers(place.monitor)
            yield from of_rounds.get(place.monitor.monitor_id, ())
            if runs := labelled.get(place.monitor.monitor_id):
                yield from self._labelled(place.monitor, runs)

    def _of_last_rounds(self, monitors: Sequence[Monitor]) -> dict[str, Sequence[Value]]:
        """Return the gauges of each monitor's last round, which is read again for a new alarm.

        Labels may raise an alarm later, too.
        """
        last = self._store.rounds.last_of(monitors)
        alarms = self._store.records.count_by(Alarm, "monitor_id", last)
        known, self._known, values = self._known, {}, {}
        for monitor in monitors:
            if round_ := last.get(monitor.monitor_id):
                key = (round_.id, alarms.get(monitor.monitor_id, 0))
                self._known[key] = known.get(key) or list(self._of(monitor, round_))
                values[monitor.monitor_id] = self._known[key]
        return values

    def _answers(self, monitor: Monitor) -> Iterator[Value]:
        accounts = self._store.window_answers.accounts(monitor.monitor_id)
        for account, count in accounts:
            yield (MONITOR_ANSWERS, (monitor.tenant, monitor.name, account)), count

    def _labelled(self, monitor: Monitor, runs: Sequence[str]) -> Iterator[Value]:
        """Yield the gauges of label-corrected gaps, for the latest labelled epoch."""
        rounds = list(self._store.records.of_runs(Round, runs))
        epoch = max((round_.epoch for round_ in rounds), default=0)
        latest = [round_.run_id for round_ in rounds if round_.epoch == epoch]
        ids = self._store.labelled_runs.last_corrections(latest)
        corrections = latest_over_rounds(self._store.records.get(Correction, ids))
        for key, (part, _) in corrections.items():
            labels, gap = labels_of(monitor, key), part.running
            ends = {
                MONITOR_LABELLED_GAP: gap.value,
                MONITOR_LABELLED_GAP_LOW: gap.low,
                MONITOR_LABELLED_GAP_HIGH: gap.high,
                MONITOR_LABELLED_EVIDENCE: gap.log_e,
            }
            for gauge, value in ends.items():
                if value is not None:
                    yield (gauge, labels), value

    def _of(self, monitor: Monitor, last: Round) -> Iterator[Value]:
        yield (MONITOR_LAST_ROUND, (monitor.tenant, monitor.name)), last.at.timestamp()
        yield (MONITOR_MISSED, (monitor.tenant, monitor.name)), last.expected - last.arrived
        current = list(evidence_in(self._store.records.read(RoundEvidence, run_id=last.run_id)))
        for evidence in current:
            yield from _gauges(monitor, evidence)
        yield from _promised(monitor, current)
        open_alarms = open_alarms_of(self._store.records.of_monitor(Alarm, monitor.monitor_id))
        for comparison in monitor.plan.all_comparisons:
            for what in AlarmKind:
                labels = (*labels_of(monitor, comparison.key), what.value)
                yield (MONITOR_ALARM, labels), float((comparison.key, what) in open_alarms)


def labels_of(monitor: Monitor, key: str) -> tuple[str, str, str, str]:
    """Return the metric labels of a comparison, all from declarations, none from traffic."""
    feature, _, comparison = key.partition(":")
    return monitor.tenant, monitor.name, feature, comparison


def _gauges(monitor: Monitor, evidence: Evidence) -> Iterator[Value]:
    labels = labels_of(monitor, evidence.comparison_key)
    ends = {
        MONITOR_GAP: evidence.gap.value,
        MONITOR_GAP_LOW: evidence.gap.low,
        MONITOR_GAP_HIGH: evidence.gap.high,
    }
    for gauge, value in ends.items():
        if value is not None:  # an undefined value is absent, never 0
            yield (gauge, labels), value
    yield (MONITOR_EVIDENCE, labels), evidence.log_e
    yield (MONITOR_VERDICT, labels), VERDICTS[evidence.verdict]
    if evidence.change is not None and evidence.change.smallest is not None:
        yield (MONITOR_SMALLEST_CHANGE, (*labels, AlarmKind.CHANGE.value)), evidence.change.smallest
    level = evidence.level_change
    if level is not None and level.smallest is not None:
        # A level is searched by the sum of both groups, which changes by twice their mean.
        yield (MONITOR_SMALLEST_CHANGE, (*labels, AlarmKind.LEVEL.value)), level.smallest / 2


def _promised(monitor: Monitor, evidence: Iterable[Evidence]) -> Iterator[Value]:
    yield (MONITOR_ALPHA, (monitor.tenant, monitor.name)), monitor.plan.alpha
    left = [state.share_left for state in evidence if state.share_left is not None]
    if left:
        yield (MONITOR_ALPHA_LEFT, (monitor.tenant, monitor.name)), monitor.plan.alpha * min(left)
