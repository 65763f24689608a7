"""What the store has of monitors: read in as many queries for all of them as for one."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from biaswatch.shared.contracts import (
    Alarm,
    Evidence,
    Monitor,
    Round,
    RoundEvidence,
    ScheduledMonitor,
    evidence_in,
)
from biaswatch.shared.store import Store


@dataclass(frozen=True)
class StoredMonitor:
    """A monitor, its last closed round, and what is known since then."""

    monitor: Monitor
    last: Round | None
    evidence: Sequence[Evidence]
    """Of the last round, in the order of the comparisons."""
    alarms: Sequence[Alarm]
    """The latest first."""
    scheduled: ScheduledMonitor | None
    """None while the schedule still has another plan of this name."""


def stored_monitors(store: Store, monitors: Sequence[Monitor]) -> list[StoredMonitor]:
    """Read what there is of some monitors, in their order; it blocks."""
    last = store.rounds.last_of(monitors)
    evidence: dict[str, list[RoundEvidence]] = defaultdict(list)
    for part in store.records.of_runs(RoundEvidence, (each.run_id for each in last.values())):
        evidence[part.monitor_id].append(part)
    alarms: dict[str, list[Alarm]] = defaultdict(list)
    for alarm in store.records.of_monitors(Alarm, (each.monitor_id for each in monitors)):
        alarms[alarm.monitor_id].append(alarm)
    entries = store.schedule.monitors()
    scheduled = {(each.monitor.tenant, each.monitor.monitor_id): each for each in entries}
    return [
        StoredMonitor(
            monitor=each,
            last=last.get(each.monitor_id),
            evidence=sorted(
                evidence_in(evidence[each.monitor_id]), key=lambda found: found.comparison_key
            ),
            alarms=sorted(alarms[each.monitor_id], key=_latest_first),
            scheduled=scheduled.get((each.tenant, each.monitor_id)),
        )
        for each in monitors
    ]


def _latest_first(alarm: Alarm) -> tuple[int, str, str]:
    return -alarm.round, alarm.comparison_key, alarm.state
