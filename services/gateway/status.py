"""The platform at a glance: alarms, changes, overdue and waiting work."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from fastapi import APIRouter, Depends

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.channels import ChannelQueries
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Alarm, MonitorState, Purpose, Run, standing_of
from biaswatch.shared.requests.platform import (
    AlarmLine,
    DaySpending,
    OverdueMonitor,
    PlatformStatus,
    PlatformTrouble,
)
from biaswatch.shared.store import Store

DAY = timedelta(days=1)
OVERDUE_AFTER = timedelta(hours=1)
"""The alert BiasMonitorOverdue waits as long."""
SILENT_AFTER = timedelta(minutes=10)
"""An extractor that was not heard of for so long is not running."""
MOST_CHANGES = 8
MOST_RUNS = 1000


class StatusQueries:
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

    def status(self) -> PlatformStatus:
        """Return what whoever opens the platform in the morning has to know, of the last day."""
        at = self._now()
        monitors = self._monitors.statuses()
        active = [each for each in monitors if each.state == MonitorState.ACTIVE]
        runs = self._runs.latest(MOST_RUNS)
        return PlatformStatus(
            at=at,
            alarms=[alarm_line(each) for each in self.standing()],
            changes=[alarm_line(each) for each in self._changed_since(at - DAY)],
            overdue=[
                OverdueMonitor(name=each.name, due_at=each.next_round_at)
                for each in active
                if each.next_round_at and at - each.next_round_at > OVERDUE_AFTER
            ],
            troubles=self.troubles(),
            monitors=len(active),
            under_way=[each for each in runs if not each.ended],
            ended=[each for each in runs if each.ended and each.at >= at - DAY],
            spending=self._spent_since(at - DAY),
            unwatched={
                each.source: each.answers
                for each in self._store.unwatched_answers.read()
                if each.last_at >= at - DAY
            },
        )

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
        return _latest_first(found)

    def changes(self) -> list[Alarm]:
        """Return the last alarms that were raised or cleared."""
        latest = self._store.records.latest
        watching = (Purpose.MONITOR, Purpose.PRODUCTION)
        found = [each for of in watching for each in latest(Alarm, MOST_CHANGES, purpose=of)]
        return _latest_first(found)[:MOST_CHANGES]

    def troubles(self) -> list[PlatformTrouble]:
        """Return what needs somebody: paused targets, extractors and channels in trouble."""
        paused = [
            PlatformTrouble(what="target paused", said=each.in_words())
            for each in self._runs.paused_targets()
        ]
        extractors = [
            PlatformTrouble(what="extractor", said=f"{each.name} {each.version}: {each.refused}.")
            for each in self._store.extractors.ever()
            if each.refused
        ]
        if self._silent():
            silence = (
                "No extractor was heard of for ten minutes: nothing is measured until one runs."
            )
            extractors.insert(0, PlatformTrouble(what="extractors", said=silence))
        channels = [
            PlatformTrouble(what="channel", said=f"{each.name}: {each.status.trouble}")
            for each in self._channels.channels()
            if each.status is not None and each.status.trouble
        ]
        return [*paused, *extractors, *channels]

    def _silent(self) -> bool:
        known = self._store.extractors.ever()
        return bool(known) and all(self._now() - each.seen_at > SILENT_AFTER for each in known)

    def _changed_since(self, moment: datetime) -> list[Alarm]:
        since = self._store.records.since
        watching = (Purpose.MONITOR, Purpose.PRODUCTION)
        return _latest_first(each for of in watching for each in since(Alarm, moment, purpose=of))

    def _spent_since(self, moment: datetime) -> DaySpending:
        since = self._store.records.since
        runs = [each.id for purpose in Purpose for each in since(Run, moment, purpose=purpose)]
        spent = self._store.calls.spending(runs).values()
        unpriced = sum(each.unknown_cost for each in spent)
        cost = sum(each.cost for each in spent)
        return DaySpending(
            runs=len(runs),
            tokens=sum(each.tokens for each in spent),
            cost=None if unpriced and not cost else cost,
            unpriced_calls=unpriced,
        )


def alarm_line(alarm: Alarm) -> AlarmLine:
    """Return an alarm in one line."""
    return AlarmLine(
        alarm_id=alarm.id,
        monitor=alarm.monitor,
        comparison=alarm.comparison_key,
        what=alarm.what,
        state=alarm.state,
        at=alarm.at,
        words=alarm.words or alarm.reason,
    )


def _latest_first(alarms: Iterable[Alarm]) -> list[Alarm]:
    return sorted(alarms, key=lambda alarm: alarm.at, reverse=True)


def status_routes(queries: StatusQueries, tokens: Tokens) -> APIRouter:
    """Return the route that says what alarms, what changed and what waits for a person."""
    router = APIRouter(prefix="/v1", dependencies=[Depends(tokens.may_read)])
    router.add_api_route("/status", queries.status)
    return router
