"""The platform at a glance: alarms, changes, overdue and waiting work."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from fastapi import APIRouter

from biaswatch.services.gateway.channels import ChannelQueries
from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.monitors.groupless import groupless_monitors
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import (
    Alarm,
    AuditEntry,
    MonitorState,
    Purpose,
    Response,
    Right,
    Run,
    open_alarms_of,
)
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.alarm_items import AlarmItem, alarm_item
from biaswatch.shared.requests.platform import (
    AlarmLine,
    DaySpending,
    OverdueMonitor,
    PlatformStatus,
    PlatformTrouble,
)
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store

DAY = timedelta(days=1)
OVERDUE_AFTER = timedelta(hours=1)
"""Delay of a round that counts as overdue, as in the alert BiasMonitorOverdue."""
EXTRACTOR_TTL = timedelta(minutes=10)
"""Age of an extractor's last announcement beyond which it is not running."""
MAX_CHANGES = 8
MAX_NOTES = 20
"""The latest steps with an alarm that are read."""
MAX_RUNS = 1000
WATCHING = (Purpose.MONITOR, Purpose.PRODUCTION)
WAITS_FOR_BUS = "Runs, rounds and answers wait until it works; what was accepted is kept."
WAITS_FOR_STORE = "Everything waits until it works; what was accepted is kept."
NO_EXTRACTOR = "No extractor was heard of for ten minutes: nothing is measured until one runs."


@dataclass(frozen=True)
class StatusQueries:
    """Blocking queries about the platform as a whole; call them in a thread."""

    store: Store
    runs: RunQueries
    monitors: MonitorQueries
    channels: ChannelQueries
    now: Callable[[], datetime]
    own_troubles: Callable[[], list[PlatformTrouble]] = list
    """Returns what the gateway itself lacks."""

    def status(self) -> PlatformStatus:
        """Return the state of the platform and the events of the last day."""
        at = self.now()
        since = at - DAY
        active = [m for m in self.monitors.statuses() if m.state == MonitorState.ACTIVE]
        runs = self.runs.latest(MAX_RUNS)
        raised, changes = self.raised(), self._changes_since(since)
        items = alarm_items(self.store, (alarm.id for alarm in (*raised, *changes)))
        return PlatformStatus(
            at=at,
            alarms=[alarm_line(alarm, items[alarm.id].in_words(at)) for alarm in raised],
            changes=[alarm_line(alarm, items[alarm.id].in_words(at)) for alarm in changes],
            overdue=[
                OverdueMonitor(name=monitor.name, due_at=monitor.next_round_at)
                for monitor in active
                if monitor.next_round_at and at - monitor.next_round_at > OVERDUE_AFTER
            ],
            troubles=self.troubles(),
            monitors=len(active),
            under_way=[run for run in runs if not run.ended],
            ended=[run for run in runs if run.ended and run.at >= since],
            spending=self.spending_since(since),
            unwatched={
                source.source: source.answers
                for source in self.store.unwatched_answers.read()
                if source.last_at >= since
            },
        )

    def raised(self) -> list[Alarm]:
        """Return every raised alarm, the latest first."""
        ids = [
            monitor.monitor_id
            for monitor in self.monitors.latest().values()
            if monitor.state is not MonitorState.DELETED
        ]
        by_monitor = grouped(
            (alarm.monitor_id, alarm)
            for alarm in self.store.records.by_key(Alarm, "monitor_id", ids)
        )
        raised = [open_alarms_of(alarms).values() for alarms in by_monitor.values()]
        return _latest_first(chain.from_iterable(raised))

    def changes(self) -> list[Alarm]:
        """Return the last alarms that were raised or cleared."""
        latest = self.store.records.latest
        alarms = (latest(Alarm, MAX_CHANGES, purpose=purpose) for purpose in WATCHING)
        return _latest_first(chain.from_iterable(alarms))[:MAX_CHANGES]

    def _changes_since(self, moment: datetime) -> list[Alarm]:
        since = self.store.records.since
        alarms = (since(Alarm, moment, purpose=purpose) for purpose in WATCHING)
        return _latest_first(chain.from_iterable(alarms))

    def troubles(self) -> list[PlatformTrouble]:
        """Return what needs a person: the bus, targets, monitors, extractors and channels."""
        extractors = self.store.extractors.ever()
        troubles = self.own_troubles()
        troubles += [
            PlatformTrouble(what="target paused", said=target.in_words())
            for target in self.runs.paused_targets()
        ]
        troubles += groupless_monitors(self.store, self.monitors.latest().values())
        oldest = self.now() - EXTRACTOR_TTL
        if extractors and all(extractor.seen_at < oldest for extractor in extractors):
            troubles.append(PlatformTrouble(what="extractors", said=NO_EXTRACTOR))
        troubles += [
            PlatformTrouble(
                what="extractor", said=f"{extractor.name} {extractor.version}: {extractor.refused}."
            )
            for extractor in extractors
            if extractor.refused
        ]
        channels = self.channels.channels()
        troubles += [
            PlatformTrouble(what="channel", said=f"{channel.name}: {channel.status.trouble}")
            for channel in channels
            if channel.status is not None and channel.status.trouble
        ]
        return troubles + [
            PlatformTrouble(what="alarms not delivered", said=sentence)
            for channel in channels
            if (sentence := channel.undelivered())
        ]

    def spending_since(self, moment: datetime) -> DaySpending:
        """Return the answers and spending of the runs that began after a moment."""
        runs = self.store.records.ids_since(Run, moment)
        spending = self.store.calls.spending(runs).values()
        unpriced = sum(spent.unknown_cost for spent in spending)
        cost = sum(spent.cost for spent in spending)
        return DaySpending(
            runs=len(runs),
            answers=sum(self.store.records.count_by(Response, "run_id", runs).values()),
            tokens=sum(spent.tokens for spent in spending),
            cost=None if unpriced and not cost else cost,
            unpriced_calls=unpriced,
        )


def alarm_items(store: Store, alarm_ids: Iterable[str]) -> dict[str, AlarmItem]:
    """Return what people did with alarms, from the audit trail, in one query."""
    steps: dict[str, list[AuditEntry]] = {id_: [] for id_ in alarm_ids}
    if steps:
        for entry in store.audit.of_subjects(steps, "alarm."):
            steps[entry.subject].append(entry)
    return {id_: alarm_item(entries[:MAX_NOTES]) for id_, entries in steps.items()}


def alarm_line(alarm: Alarm, handled: str) -> AlarmLine:
    """Return an alarm in one line."""
    return AlarmLine(
        alarm_id=alarm.id,
        monitor=alarm.monitor,
        comparison=alarm.comparison_key,
        what=alarm.what,
        state=alarm.state,
        at=alarm.at,
        words=alarm.words or alarm.reason,
        handled=handled,
    )


def _latest_first(alarms: Iterable[Alarm]) -> list[Alarm]:
    return sorted(alarms, key=lambda alarm: alarm.at, reverse=True)


def status_queries(ctx: GatewayContext) -> StatusQueries:
    """Return the queries of a gateway."""
    return StatusQueries(
        ctx.store,
        ctx.queries(RunQueries),
        ctx.queries(MonitorQueries),
        ChannelQueries(ctx.store, now),
        now,
        own_troubles=ctx.troubles,
    )


def service_troubles(service: Service) -> list[PlatformTrouble]:
    """Return what a gateway lacks: the store, the bus, or what its background jobs wait for."""
    state = service.state()
    if state.store_trouble:
        return [PlatformTrouble(what="store", said=f"{state.store_trouble} {WAITS_FOR_STORE}")]
    if state.bus_trouble:
        return [PlatformTrouble(what="bus", said=f"{state.bus_trouble} {WAITS_FOR_BUS}")]
    return [PlatformTrouble(what=job.job, said=job.trouble) for job in state.jobs]


def router(ctx: GatewayContext) -> APIRouter:
    """Return the route of the platform as a whole."""
    router = APIRouter(prefix="/v1", dependencies=[ctx.tokens.require(Right.READ)])
    router.add_api_route("/status", status_queries(ctx).status)
    return router
