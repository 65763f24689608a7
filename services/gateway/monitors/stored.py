"""The stored state of monitors: last round, evidence, alarms, schedule."""

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
)
from biaswatch.shared.contracts.evidence_rows import evidence_in
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.lookup import grouped
from biaswatch.shared.store import Store


@dataclass(frozen=True)
class StoredMonitor:
    """A monitor, its last closed round, and its current state."""

    monitor: Monitor
    last: Round | None
    evidence: Sequence[Evidence]
    """Evidence of the last round, in the order of the comparisons."""
    alarms: Sequence[Alarm]
    """All alarms, the latest first."""
    scheduled: ScheduledMonitor | None
    """None while the schedule still has another plan of this name."""


def stored_monitors(store: Store, monitors: Sequence[Monitor]) -> list[StoredMonitor]:
    """Read the state of some monitors, in their order, with four queries; it blocks."""
    last = store.rounds.last_of(monitors)
    evidence: dict[str, list[RoundEvidence]] = defaultdict(list)
    run_ids = (round_.run_id for round_ in last.values())
    for part in store.records.of_runs(RoundEvidence, run_ids):
        evidence[part.monitor_id].append(part)
    alarms = grouped(
        (alarm.monitor_id, alarm)
        for alarm in store.records.by_key(
            Alarm, "monitor_id", (monitor.monitor_id for monitor in monitors)
        )
    )
    scheduled = {
        (entry.monitor.tenant, entry.monitor.monitor_id): entry
        for entry in store.schedule.monitors()
    }
    return [
        StoredMonitor(
            monitor=monitor,
            last=last.get(monitor.monitor_id),
            evidence=sorted(
                evidence_in(evidence[monitor.monitor_id]), key=lambda part: part.comparison_key
            ),
            alarms=sorted(
                alarms.get(monitor.monitor_id, ()),
                key=lambda alarm: (-alarm.round, alarm.comparison_key, alarm.state),
            ),
            scheduled=scheduled.get((monitor.tenant, monitor.monitor_id)),
        )
        for monitor in monitors
    ]


def no_monitor(name: str) -> NotFoundError:
    """Return the error for a monitor that does not exist in the caller's scope."""
    return NotFoundError(f"There is no monitor {name}. `biaswatch monitor list` lists them.")
