"""When the next round of a monitor is due, which window of traffic it is, and what is too late."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from biaswatch.shared.contracts.monitor import Monitor
from biaswatch.shared.contracts.record import Purpose
from biaswatch.shared.contracts.run import ExtractorPin, Run
from biaswatch.shared.contracts.traffic import Traffic, Window, window_at


@dataclass(frozen=True)
class ScheduledMonitor:
    """How one monitor stands."""

    monitor: Monitor
    next_round: int
    due_at: datetime
    run: Run | None
    """The run of the round before; None before the first."""
    ended: str | None
    """Why there will be no more rounds."""

    @property
    def due(self) -> datetime:
        """When the next round is due; a window of traffic is when it is over."""
        traffic = self.monitor.plan.traffic
        if traffic is None or self.monitor.history is not None:
            return self.due_at
        return read_at(next_window(traffic, self.monitor, self.run), self.monitor)


def next_window(traffic: Traffic, monitor: Monitor, last: Run | None) -> Window:
    """Return the window that is read next: after the last one, and none from before a pause.

    Missed windows are read one after the other: their answers are stored.
    """
    first = window_at(monitor.since, traffic.window_s)
    if last is None or last.window is None or last.window.ends <= first.begins:
        return first
    return last.window.next


def read_at(window: Window, monitor: Monitor) -> datetime:
    """Return when a window is read: what is taken in later is not added."""
    return window.ends + timedelta(seconds=monitor.upkeep.lateness_s)


def taken_late(window: Window, taken_at: datetime, monitor: Monitor) -> bool:
    """Return whether an answer was taken in too late for its window, by the moment of its intake.

    What lies before the first window that a monitor watches is late; so is, for a history, what
    is watched live.
    """
    if monitor.history is not None:
        return window.ends > monitor.history.before
    first = window_at(monitor.since, int((window.ends - window.begins).total_seconds()))
    return taken_at > read_at(window, monitor) or window.begins < first.begins


def window_run(
    monitor: Monitor,
    window: Window,
    at: datetime,
    *,
    round_: int | None = None,
    pins: Sequence[ExtractorPin] = (),
    before: str | None = None,
) -> Run:
    """Return the run of a window; its id depends on the monitor and the window alone."""
    return Run(
        tenant=monitor.tenant,
        purpose=Purpose.PRODUCTION,
        at=at,
        suite=monitor.plan.target.model,
        targets=(monitor.plan.target,),
        extractors=tuple(pins),
        monitor_id=monitor.monitor_id,
        round=round_,
        window=window,
        before=before,
        deadline_s=monitor.upkeep.deadline_s,
    )


def window_run_id(monitor: Monitor, window: Window) -> str:
    """Return the id of the run of a window, which is known where an answer of it came before."""
    return _run_id(_WatchedWindow(monitor.monitor_id, window, monitor))


@dataclass(frozen=True)
class _WatchedWindow:
    monitor_id: str
    window: Window
    monitor: Monitor = field(compare=False)


@lru_cache(maxsize=4096)
def _run_id(of: _WatchedWindow) -> str:
    return window_run(of.monitor, of.window, of.window.begins).id
