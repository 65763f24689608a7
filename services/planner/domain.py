"""The next round of a monitor: when it is due, its run, and when there are no more."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import floor

from biaswatch.shared.contracts import (
    ExtractorPin,
    ExtractorStatus,
    Monitor,
    Purpose,
    Run,
    ScheduledMonitor,
    Window,
    next_window,
    window_run,
)


def next_due(due_at: datetime, cadence_s: float, now: datetime) -> datetime:
    """Return the first moment of the cadence after now: rounds that were missed do not pile up."""
    passed = floor((now - due_at).total_seconds() / cadence_s)
    return due_at + timedelta(seconds=cadence_s * (max(passed, 0) + 1))


def rounds_used_up(monitor: Monitor, round_: int) -> str | None:
    """Return why no round is left: all that were requested were run; None otherwise."""
    most = monitor.upkeep.most_rounds
    if most is None or round_ < most:
        return None
    return "its one round was run" if most == 1 else f"all {most} rounds were run"


def sets_used_up(drawn: int, available: int, round_: int) -> str | None:
    """Return why no round is left: the suite has too few new sets; None otherwise."""
    if (round_ + 1) * drawn > available:  # a smaller round could not be compared
        return f"of the suite's {available} sets too few are left that were not asked before"
    return None


def unread_from(scheduled: ScheduledMonitor) -> datetime:
    """Return the beginning of the first window that a monitor of traffic may read now."""
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
    """Return the run that is the next round of a monitor; of one of traffic, it reads a window."""
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


def pins_for(monitor: Monitor, running: Sequence[ExtractorStatus]) -> list[ExtractorPin] | str:
    """Return the extractors of the round at their latest running versions, or what is missing."""
    found = []
    for name in monitor.plan.extractors:
        versions = [each.version for each in running if each.name == name]
        if not versions:
            return f"the extractor {name} is not running"
        found.append(ExtractorPin(name=name, version=versions[0]))
    return found


class IntakeCuts:
    """Decides whether all that a queue had taken when something fell due is handled by now.

    The end of the queue is noted at the first look; what it takes in later is not waited for.
    """

    def __init__(self) -> None:
        self._cuts: dict[str, tuple[str, int]] = {}

    def handled(self, key: str, due: str, *, first: int, last: int) -> bool:
        """Tell whether the queue is past the cut of what is due under a key.

        Parameters
        ----------
        key
            What waits; it waits for one thing at a time.
        due
            What fell due.
        first
            The first sequence that was not handled, at a moment after that.
        last
            The last sequence that the queue had taken, at that moment.
        """
        known, cut = self._cuts.get(key, ("", 0))
        if known != due:
            cut = last
            self._cuts[key] = due, cut
        return first > cut
