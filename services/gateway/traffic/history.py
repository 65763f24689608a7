"""Import the past answers of a live system."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from biaswatch.services.gateway.monitors.commands import later_moment_ms, moment_after
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.shared.contracts import Monitor, MonitorState, PastTraffic, Traffic, window_at
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.traffic import HistoryView, traffic_watched
from biaswatch.shared.store import Store

SUFFIX = "-history"
MAX_NAME_LENGTH = 96
MIN_DEADLINE_S = 24 * 3600.0
"""Time to measure a window of the past: a month of answers is measured at once."""


@dataclass(frozen=True)
class HistoryCommands:
    """Begins and reads histories; it blocks, so call it in a thread."""

    store: Store
    queries: MonitorQueries
    now: Callable[[], datetime]

    def check_watched(self, source: str) -> None:
        """Raise NotFoundError if no monitor watches a live system of this name."""
        if not self._live(source):
            raise NotFoundError(
                f"No monitor watches the traffic {source}. Apply one with the target"
                f" traffic:{source}; what came before it is its past."
            )

    def begin(self, source: str) -> list[Monitor]:
        """Store and return the monitors of the past of a live system, one per live monitor.

        Existing ones with the same plan are left as they are.
        """
        self.check_watched(source)
        latest = self.queries.latest()
        monitors = []
        for live, traffic in self._live(source):
            monitor = self._past_monitor(live, traffic)
            last = latest.get(monitor.name)
            if last is None or last.state is MonitorState.DELETED:
                monitors.append(self._store(monitor, last))
            elif last.history is None:
                raise UsageError(
                    f"The past of {live.name} would be read by a monitor {monitor.name}, and"
                    " another monitor has this name. Apply that one under another name."
                )
            elif _definition(last) == _definition(monitor):
                monitors.append(last)
            else:
                monitors.append(self._store(monitor, last))
        return monitors

    def read(self, source: str) -> list[Monitor]:
        """Activate the monitors of the past of a live system, and return them."""
        active = {"state": MonitorState.ACTIVE}
        return [
            self._store(monitor.model_copy(update=active), monitor)
            for monitor in self._past(source)
        ]

    def show(self, source: str) -> list[HistoryView]:
        """Return how far the past of a live system is read."""
        return [self._view(monitor) for monitor in self._past(source)]

    def _view(self, monitor: Monitor) -> HistoryView:
        entry = self.store.schedule.get(monitor.name, monitor.tenant)
        current = entry is not None and entry.monitor.moment_ms == monitor.moment_ms
        accounts = self.store.window_answers.accounts(monitor.monitor_id)
        if (past := monitor.history) is None:
            raise ValueError(f"The monitor {monitor.name} reads no past.")
        return HistoryView(
            monitor=monitor.name,
            of=past.of,
            before=past.before,
            read=bool(current and entry and entry.ended and not accounts.waiting),
            sent=accounts.sent,
            accounts=accounts,
        )

    def _past(self, source: str) -> list[Monitor]:
        monitors = [m for m, _ in self._watching(source) if m.history is not None]
        if not monitors:
            raise NotFoundError(
                f"No monitor reads the past of {source}. `biaswatch ingest {source} FILE --history`"
                " sends it in."
            )
        return monitors

    def _live(self, source: str) -> list[tuple[Monitor, Traffic]]:
        return [(m, traffic) for m, traffic in self._watching(source) if m.history is None]

    def _watching(self, source: str) -> list[tuple[Monitor, Traffic]]:
        return [
            (monitor, traffic)
            for monitor in self.queries.latest().values()
            if (traffic := traffic_watched(monitor, (monitor.tenant, source))) is not None
            and monitor.state is not MonitorState.DELETED
        ]

    def _past_monitor(self, live: Monitor, traffic: Traffic) -> Monitor:
        """Return the paused monitor that reads the past of a live one."""
        if len(name := f"{live.name}{SUFFIX}") > MAX_NAME_LENGTH:
            raise UsageError(
                f"The name {live.name} is too long for a monitor whose past is read: at most"
                f" {MAX_NAME_LENGTH - len(SUFFIX)} characters."
            )
        definitions = self.store.records.of_monitor(Monitor, live.monitor_id)
        first = min(definition.since for definition in definitions)
        # Alarms about the past alert no one.
        upkeep = live.upkeep.model_copy(
            update={
                "webhook": None,
                "channels": (),
                "most_rounds": None,
                "deadline_s": max(live.upkeep.deadline_s, MIN_DEADLINE_S),
            }
        )
        now = self.now()
        return Monitor(
            tenant=live.tenant,
            purpose=live.purpose,
            at=now,
            name=name,
            moment_ms=int(now.timestamp() * 1000),
            state=MonitorState.PAUSED,
            plan=live.plan,
            upkeep=upkeep,
            since=now,
            history=PastTraffic(of=live.name, before=window_at(first, traffic.window_s).begins),
        )

    def _store(self, monitor: Monitor, last: Monitor | None) -> Monitor:
        """Store a definition with a later moment than the last one."""
        now = moment_after(last, self.now())
        fields = {"at": now, "since": now, "moment_ms": later_moment_ms(last, now)}
        monitor = Monitor.model_validate({**monitor.model_dump(exclude={"id"}), **fields})
        self.store.records.write([monitor])
        return monitor


def _definition(monitor: Monitor) -> tuple[object, ...]:
    return monitor.plan, monitor.upkeep, monitor.history
