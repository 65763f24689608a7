"""Who watches a live system: by the store, or by what was known of it a moment ago."""

import time
from collections.abc import Callable
from typing import NamedTuple

from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.shared.contracts import Monitor, MonitorState, Traffic
from biaswatch.shared.lookup import first
from biaswatch.shared.requests.traffic import LiveSystem, traffic_watched
from biaswatch.shared.store import Store

MOST_KNOWN = 1000
"""Live systems that are known at the same time."""


class Watcher(NamedTuple):
    """A monitor that is not deleted, and how it watches a live system."""

    monitor: Monitor
    traffic: Traffic
    ended: bool
    """Whether it will read no more windows."""

    @property
    def takes(self) -> bool:
        """Tell whether answers are taken in for it; a history takes them before it is read."""
        if self.monitor.history is not None:
            return True
        return self.monitor.state is MonitorState.ACTIVE and not self.ended


class KnownWatchers:
    """The monitors of live systems.

    Only what takes answers in is known for a while: whoever has just begun to watch is found.
    """

    def __init__(
        self, store: Store, *, fresh_s: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._monitors = MonitorQueries(store)
        self._fresh_s, self._clock = fresh_s, clock
        self._known: dict[tuple[LiveSystem, bool], tuple[float, list[Watcher]]] = {}

    def knows(self, system: LiveSystem, history: bool) -> bool:
        """Tell whether the monitors of a system are known without the store."""
        return self._fresh(system, history) is not None

    def of(self, system: LiveSystem, *, history: bool) -> list[Watcher]:
        """Return the monitors of a live system that are not deleted, or those of its past."""
        if (known := self._fresh(system, history)) is not None:
            return known
        began, found = self._clock(), self._read(system, history=history)
        self._known.pop((system, history), None)
        if self._fresh_s and any(each.takes for each in found):
            while len(self._known) >= MOST_KNOWN:
                self._known.pop(first(self._known, "No source is known."), None)
            self._known[system, history] = began, found
        return found

    def _fresh(self, system: LiveSystem, history: bool) -> list[Watcher] | None:
        began, found = self._known.get((system, history), (float("-inf"), []))
        return found if self._clock() - began < self._fresh_s else None

    def _read(self, system: LiveSystem, *, history: bool) -> list[Watcher]:
        found = [(each, traffic_watched(each, system)) for each in self._monitors.definitions()]
        ended = {each.monitor.monitor_id for each in self._store.schedule.monitors() if each.ended}
        return [
            Watcher(monitor, traffic, monitor.monitor_id in ended)
            for monitor, traffic in found
            if traffic is not None
            and monitor.state is not MonitorState.DELETED
            and (monitor.history is not None) is history
        ]
