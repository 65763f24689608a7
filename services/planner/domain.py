"""When and with what a monitor's next round starts."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import floor

from biaswatch.shared.contracts import (
    ExtractorPin,
    Monitor,
    Purpose,
    Run,
    ScheduledMonitor,
    Window,
    next_window,
    window_run,
)


def next_due(due_at: datetime, cadence_s: float, now: datetime) -> datetime:
    """Return the first time of the cadence after now; missed rounds do not pile up."""
    passed = floor((now - due_at).total_seconds() / cadence_s)
    return due_at + timedelta(seconds=cadence_s * (max(passed, 0) + 1))


def rounds_used_up(monitor: Monitor, round_: int) -> str | None:
    """Return why no round is left if all requested ones were run; None otherwise."""
    limit = monitor.upkeep.most_rounds
    if limit is None or round_ < limit:
        return None
    return "its one round was run" if limit == 1 else f"all {limit} rounds were run"


def sets_used_up(drawn: int, available: int, round_: int) -> str | None:
    """Return why no round is left if the suite has too few new sets; None otherwise."""
    if (round_ + 1) * drawn > available:  # a smaller round would not be comparable
        return f"of the suite's {available} sets too few are left that were not asked before"
    return None


def unread_from(scheduled: ScheduledMonitor) -> datetime:
    """Return the start of the first window that a traffic monitor may read now."""
    last = scheduled.run.window if scheduled.run else None
    if scheduled.monitor.history is not None:
        return last.ends if last is not None else datetime.min.replace(tzinfo=UTC)
    if (traffic := scheduled.monitor.plan.traffic) is None:
        raise ValueError(f"The monitor {scheduled.monitor.name} watches no traffic.")
    return next_window(traffic, scheduled.monitor, scheduled.run).begins


def round_of(
    scheduled: ScheduledMonitor,
    pins: Sequence[ExtractorPin],
    at: datetime,
    window: Window | None = None,
) -> Run:
    """Return the run of a monitor's next round, which reads a window of traffic if given."""
    monitor, round_ = scheduled.monitor, scheduled.next_round
    plan, before = monitor.plan, scheduled.run.id if scheduled.run else None
    if window is not None:
        return window_run(monitor, window, at, round_=round_, pins=pins, before=before)
    return Run(
        tenant=monitor.tenant,
        purpose=Purpose.MONITOR,
        at=at,
        suite=plan.suite or "",
        suite_hash=plan.suite_hash,
        targets=(plan.target,),
        scaffolds=(plan.scaffold,),
        repeats=plan.repeats,
        extractors=tuple(pins),
        monitor_id=monitor.monitor_id,
        round=round_,
        before=before,
        sets=plan.sets_per_round,
        budget=monitor.upkeep.budget,
        deadline_s=monitor.upkeep.deadline_s,
        ids_in_order=True,
    )


class IntakeCuts:
    """Decides whether a queue has handled everything that was in it at a due time.

    The end of the queue is stored at the first call for a due time; later messages are not waited
    for.
    """

    def __init__(self) -> None:
        self._cuts: dict[str, tuple[str, int]] = {}

    def handled(self, key: str, due: str, *, first: int, last: int) -> bool:
        """Return whether the queue is past the cut of a key.

        Parameters
        ----------
        key
            The waiting monitor; it waits for one thing at a time.
        due
            The due round or window that it waits for.
        first
            The sequence number of the first unhandled message, read after the due time.
        last
            The sequence number of the last message in the queue, read at the same time.
        """
        known_due, cut = self._cuts.get(key, ("", 0))
        if known_due != due:
            cut = last
            self._cuts[key] = due, cut
        return first > cut
