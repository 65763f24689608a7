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
LONGEST_NAME = 96
LEAST_DEADLINE_S = 24 * 3600.0
"""A month of answers takes its time to be measured; no window of it is closed without them."""


@dataclass(frozen=True)
class HistoryCommands:
    """Begins and reads histories; it blocks, so call it in a thread."""

    store: Store
    queries: MonitorQueries
    now: Callable[[], datetime]

    def check_watched(self, source: str) -> None:
        """Raise NotFoundError where no monitor watches a live system of this name."""
        if not self._watching(source):
            raise NotFoundError(
                f"No monitor watches the traffic {source}. Apply one with the target"
                f" traffic:{source}; what came before it is its past."
            )

    def begin(self, source: str) -> list[Monitor]:
        """Return the monitors that read the past of a live system, one for each that watches it.

        Those that are there and read the past of the same plan are left as they are.
        """
        self.check_watched(source)
        latest = self.queries.latest()
        found = []
        for live, traffic in self._watching(source):
            wanted = self._wanted(live, traffic)
            last = latest.get(wanted.name)
            if last is not None and last.state is not MonitorState.DELETED:
                if last.history is None:
                    raise UsageError(
                        f"The past of {live.name} would be read by a monitor {wanted.name}, and"
                        " another monitor has this name. Apply that one under another name."
                    )
                if (last.plan, last.upkeep, last.history) == (
                    *(wanted.plan, wanted.upkeep, wanted.history),
                ):
                    found.append(last)
                    continue
            found.append(self._keep(wanted, last))
        return found

    def read(self, source: str) -> list[Monitor]:
        """Let all that was sent in of the past be read; return the monitors that read it."""
        return [
            self._keep(_in_state(each, MonitorState.ACTIVE), each) for each in self._pasts(source)
        ]

    def show(self, source: str) -> list[HistoryView]:
        """Return how far the past of a live system is read."""
        return [self._view(each) for each in self._pasts(source)]

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

    def _pasts(self, source: str) -> list[Monitor]:
        found = [each for each, _ in self._of(source) if each.history is not None]
        if not found:
            raise NotFoundError(
                f"Nobody reads the past of {source}. `biaswatch ingest {source} FILE --history`"
                " sends it in."
            )
        return found

    def _watching(self, source: str) -> list[tuple[Monitor, Traffic]]:
        return [(each, traffic) for each, traffic in self._of(source) if each.history is None]

    def _of(self, source: str) -> list[tuple[Monitor, Traffic]]:
        latest = self.queries.latest().values()
        watched = [(each, traffic_watched(each, (each.tenant, source))) for each in latest]
        return [
            (each, traffic)
            for each, traffic in watched
            if traffic is not None and each.state is not MonitorState.DELETED
        ]

    def _wanted(self, live: Monitor, traffic: Traffic) -> Monitor:
        if len(name := f"{live.name}{SUFFIX}") > LONGEST_NAME:
            raise UsageError(
                f"The name {live.name} is too long for a monitor whose past is read: at most"
                f" {LONGEST_NAME - len(SUFFIX)} characters."
            )
        definitions = self.store.records.of_monitor(Monitor, live.monitor_id)
        first = min(each.since for each in definitions)
        # What happened a month ago is nobody's alarm now; whoever reads the past looks at it.
        upkeep = live.upkeep.model_copy(
            update={
                "webhook": None,
                "channels": (),
                "most_rounds": None,
                "deadline_s": max(live.upkeep.deadline_s, LEAST_DEADLINE_S),
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

    def _keep(self, wanted: Monitor, last: Monitor | None) -> Monitor:
        """Store a definition, later than the last one."""
        now = moment_after(last, self.now())
        fields = {"at": now, "since": now, "moment_ms": later_moment_ms(last, now)}
        monitor = Monitor.model_validate({**wanted.model_dump(exclude={"id"}), **fields})
        self.store.records.write([monitor])
        return monitor


def _in_state(monitor: Monitor, state: MonitorState) -> Monitor:
    return monitor.model_copy(update={"state": state})
