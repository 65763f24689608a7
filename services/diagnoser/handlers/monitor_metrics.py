"""Shows where every monitor stands as metrics, read from the store: the same in each replica."""

import asyncio
from collections.abc import Iterator

from prometheus_client import Gauge

from services.diagnoser.domain.monitors.alarms import standing_of
from shared.bus.port import Publisher
from shared.contracts import Alarm, AlarmKind, Evidence, Monitor, MonitorState, Verdict
from shared.errors import TransientError
from shared.runtime.blocking import in_thread
from shared.store import Store
from shared.telemetry import (
    MONITOR_ALARM,
    MONITOR_EVIDENCE,
    MONITOR_GAP,
    MONITOR_GAP_HIGH,
    MONITOR_GAP_LOW,
    MONITOR_LAST_ROUND,
    MONITOR_MISSED,
    MONITOR_OVERDUE,
    MONITOR_VERDICT,
    log,
)

VERDICTS = {Verdict.DISPARITY: 1, Verdict.NOT_ENOUGH: 0, Verdict.NO_DISPARITY: -1}
Key = tuple[Gauge, tuple[str, ...]]


class MonitorMetrics:
    """Sets the gauges of all monitors, and takes away those of monitors that are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shown: set[Key] = set()

    async def show(self, publisher: Publisher, every_s: float) -> None:
        """Be the service's job: show where the monitors stand, for ever."""
        while True:
            try:
                await in_thread(self.look)
            except TransientError as error:
                log("diagnoser").warning("the monitors cannot be shown", why=str(error))
            await asyncio.sleep(every_s)

    def look(self) -> None:
        """Read the store and set every gauge."""
        found = dict(self._found())
        for gauge, labels in self._shown - found.keys():
            gauge.remove(*labels)
        for (gauge, labels), value in found.items():
            gauge.labels(*labels).set(value)
        self._shown = set(found)

    def _found(self) -> Iterator[tuple[Key, float]]:
        for place in self._store.schedule.monitors():
            if place.monitor.state is MonitorState.DELETED:
                continue
            name = (place.monitor.name,)
            if place.monitor.state is MonitorState.ACTIVE and not place.ended:
                yield (MONITOR_OVERDUE, name), place.due.timestamp()
            yield from self._of(place.monitor)

    def _of(self, monitor: Monitor) -> Iterator[tuple[Key, float]]:
        last = self._store.rounds.last(monitor)
        if last is None:
            return
        yield (MONITOR_LAST_ROUND, (monitor.name,)), last.at.timestamp()
        yield (MONITOR_MISSED, (monitor.name,)), last.expected - last.arrived
        for evidence in self._store.records.read(Evidence, run_id=last.run_id):
            yield from _gauges(monitor, evidence)
        stand = standing_of(list(self._store.records.of_monitor(Alarm, monitor.monitor_id)))
        for comparison in monitor.plan.watched:
            for what in AlarmKind:
                labels = (*labels_of(monitor, comparison.key), what.value)
                yield (MONITOR_ALARM, labels), float((comparison.key, what) in stand)


def labels_of(monitor: Monitor, key: str) -> tuple[str, str, str]:
    """Return the labels of a comparison: all of them declared, none taken from traffic."""
    feature, _, comparison = key.partition(":")
    return monitor.name, feature, comparison


def _gauges(monitor: Monitor, evidence: Evidence) -> Iterator[tuple[Key, float]]:
    labels = labels_of(monitor, evidence.comparison_key)
    ends = {
        MONITOR_GAP: evidence.gap.value,
        MONITOR_GAP_LOW: evidence.gap.low,
        MONITOR_GAP_HIGH: evidence.gap.high,
    }
    for gauge, value in ends.items():
        if value is not None:  # what is undefined is absent, never 0
            yield (gauge, labels), value
    yield (MONITOR_EVIDENCE, labels), evidence.log_e
    yield (MONITOR_VERDICT, labels), VERDICTS[evidence.verdict]
