"""Reads what the overview and the platform's own pages show."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.gateway.channels.queries import ChannelQueries
from services.gateway.dashboard.operation_tables import RunSpent, TrafficSource
from services.gateway.monitors.queries import MonitorQueries
from services.gateway.runs.queries import RunQueries
from services.gateway.runs.views import RunProgress
from shared.contracts import (
    Alarm,
    AuditAction,
    AuditEntry,
    ExtractorStatus,
    MonitorState,
    OwnGap,
    Purpose,
    standing_of,
)
from shared.store import Store
from shared.store.audit import AuditFilter

MOST_CHANGES = 8
MOST_WINDOWS = 24
MOST_ENTRIES = 200
MOST_NOTES = 20
ACKNOWLEDGED = AuditAction.ALARM_ACKNOWLEDGE.value
SILENT_AFTER = timedelta(minutes=10)
"""An extractor that was not heard of for so long is not running."""


@dataclass(frozen=True)
class PlatformTrouble:
    """Something that keeps the platform from its work, in a sentence."""

    what: str
    said: str


class OverviewQueries:
    """Reads the platform as a whole; it blocks, so call it in a thread."""

    def __init__(
        self,
        store: Store,
        runs: RunQueries,
        monitors: MonitorQueries,
        channels: ChannelQueries,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._runs = runs
        self._monitors = monitors
        self._channels = channels
        self._now = now

    def standing(self) -> list[Alarm]:
        """Return every alarm that stands, the latest first."""
        found = [
            alarm
            for each in self._monitors.latest().values()
            if each.state is not MonitorState.DELETED
            for alarm in standing_of(
                self._store.records.of_monitor(Alarm, each.monitor_id)
            ).values()
        ]
        return sorted(found, key=lambda alarm: alarm.at, reverse=True)

    def changes(self) -> list[Alarm]:
        """Return the last alarms that were raised or cleared."""
        latest = self._store.records.latest
        found = [
            alarm
            for purpose in (Purpose.MONITOR, Purpose.PRODUCTION)
            for alarm in latest(Alarm, MOST_CHANGES, purpose=purpose)
        ]
        return sorted(found, key=lambda alarm: alarm.at, reverse=True)[:MOST_CHANGES]

    def spent(self, runs: Iterable[RunProgress]) -> dict[str, RunSpent]:
        """Return what runs have spent."""
        found = self._store.calls.spending(each.run_id for each in runs)
        return {run_id: RunSpent(each.tokens, each.cost) for run_id, each in found.items()}

    def troubles(self) -> list[PlatformTrouble]:
        """Return what needs somebody: paused targets, extractors and channels in trouble."""
        paused = [
            PlatformTrouble("target paused", each.in_words())
            for each in self._runs.paused_targets()
        ]
        extractors = [
            PlatformTrouble("extractor", f"{each.name} {each.version}: {each.refused}.")
            for each in self._store.extractors.ever()
            if each.refused
        ]
        channels = [
            PlatformTrouble("channel", f"{each.name}: {each.status.trouble}")
            for each in self._channels.channels()
            if each.status is not None and each.status.trouble
        ]
        return [*paused, *extractors, *channels]

    def silent(self) -> bool:
        """Tell whether no extractor was heard of lately: then nothing is measured."""
        known = self._store.extractors.ever()
        return bool(known) and all(self._now() - each.seen_at > SILENT_AFTER for each in known)

    def extractors(self) -> list[ExtractorStatus]:
        """Return every extractor and version."""
        return self._store.extractors.ever()

    def own_gaps(self, statuses: Iterable[ExtractorStatus]) -> list[tuple[ExtractorStatus, OwnGap]]:
        """Return what extractors make of groups' names by themselves."""
        find = self._store.calibrations.find
        return [(each, own) for each in statuses for own in find(each.name, each.version)]

    def sources(self) -> list[TrafficSource]:
        """Return the live systems that are watched."""
        found = []
        for each in self._monitors.statuses():
            monitor = self._monitors.monitor(each.name)
            if monitor.plan.traffic is not None:
                accounts = self._store.window_answers.accounts(monitor.monitor_id)
                windows = self._monitors.windows(each.name, MOST_WINDOWS)
                found.append(TrafficSource(each.name, each.target, each.state, accounts, windows))
        return found

    def audit(self, wanted: AuditFilter) -> list[AuditEntry]:
        """Return the latest entries of the caller's tenant."""
        return self._store.audit.latest(MOST_ENTRIES, wanted)

    def acknowledgements(self, alarm_ids: Iterable[str]) -> dict[str, list[AuditEntry]]:
        """Return who has acknowledged alarms, the latest first; the audit trail keeps it."""
        return {
            id_: [each for each in found if each.failure is None]
            for id_ in alarm_ids
            for found in [
                self._store.audit.latest(MOST_NOTES, AuditFilter(id_, None, ACKNOWLEDGED))
            ]
            if found
        }
