"""The next round of a monitor: when it is due, what it asks, and when there are no more."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import floor

from shared.contracts import (
    ExtractorPin,
    ExtractorStatus,
    Monitor,
    Purpose,
    Run,
    ScheduledMonitor,
    Suite,
    next_window,
    shuffled_sets,
    window_run,
)


def next_due(due_at: datetime, cadence_s: float, now: datetime) -> datetime:
    """Return the first moment of the cadence after now: rounds that were missed do not pile up."""
    passed = floor((now - due_at).total_seconds() / cadence_s)
    return due_at + timedelta(seconds=cadence_s * (max(passed, 0) + 1))


def all_run(monitor: Monitor, round_: int) -> str | None:
    """Say that all rounds were run that were asked for."""
    most = monitor.upkeep.most_rounds
    if most is None or round_ < most:
        return None
    return "its one round was run" if most == 1 else f"all {most} rounds were run"


def too_few_left(monitor: Monitor, suite: Suite, round_: int) -> str | None:
    """Say that the suite has not enough sets for another round."""
    drawn = monitor.plan.sets_per_round
    there = len(shuffled_sets(suite, monitor.monitor_id)) if drawn else 0
    if drawn and (round_ + 1) * drawn > there:  # a smaller round would be another one
        return f"of the suite's {there} sets too few are left that were not asked before"
    return None


def round_of(place: ScheduledMonitor, pins: Sequence[ExtractorPin], at: datetime) -> Run:
    """Return the run that is the next round of a monitor."""
    monitor, round_ = place.monitor, place.next_round
    plan, before = monitor.plan, place.run.id if place.run else None
    if plan.traffic is not None:
        window = next_window(plan.traffic, monitor, place.run)
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
    )


def pins_for(monitor: Monitor, running: Sequence[ExtractorStatus]) -> list[ExtractorPin] | str:
    """Return what measures the round, at the latest version running; or what is not running."""
    found = []
    for name in monitor.plan.extractors:
        versions = [each.version for each in running if each.name == name]
        if not versions:
            return f"the extractor {name} is not running"
        found.append(ExtractorPin(name=name, version=versions[0]))
    return found
