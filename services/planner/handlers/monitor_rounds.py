"""Starts the rounds of monitors: each once, never two at a time, none for missed moments."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from biaswatch.services.planner.domain import (
    IntakeCuts,
    next_due,
    pins_for,
    round_of,
    rounds_used_up,
    sets_used_up,
    unread_from,
)
from biaswatch.shared.bus.port import Publisher, Queue, QueuePosition
from biaswatch.shared.contracts import (
    RUN_GATHER,
    ExtractorPin,
    Features,
    GatherState,
    Monitor,
    MonitorState,
    Record,
    Run,
    ScheduledMonitor,
    SuiteOutline,
    Window,
    read_at,
    window_at,
)
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

MAX_EXTRACTOR_AGE = timedelta(seconds=60)
"""How long ago a running extractor was last seen, by its own clock."""
HISTORY_LOOK_S = 0.05
"""How often the schedule is read while windows of the past are read one after the other."""
LOOKS_REST = 10
"""How many times as long as a look takes until the next."""
ALL_HANDLED = QueuePosition(first=1, last=0)
"""Where an empty queue is."""


class RoundScheduler:
    """Schedules rounds; all state is in the store, so that any process may end at any moment.

    A round starts in three steps: the schedule moves on and keeps the run; the run is published;
    the planner waits for its features. A process that dies in between leaves a run that nobody
    waits for, and the next look at the schedule publishes the same run again.
    """

    def __init__(
        self,
        store: Store,
        *,
        now: Callable[[], datetime],
        wall: Callable[[], datetime],
        clock_skew_s: float = 0.0,
    ) -> None:
        self._store = store
        self._cuts = IntakeCuts()
        self._clock_skew = timedelta(seconds=clock_skew_s)
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now
        self._wall = wall
        self.more_due = asyncio.Event()
        """Set while windows of the past are read one after the other."""
        self._logged: dict[str, str] = {}
        self._looked: dict[str, datetime] = {}
        """When to look next for what of a window was measured early, by its run."""

    def define(self, monitor: Monitor) -> Sequence[Record]:
        """Store a monitor's new definition and schedule it."""
        self._store.records.write([monitor])  # before the diagnoser closes any round
        self._store.schedule.want(monitor)
        return ()

    def define_forgotten(self) -> None:
        """Schedule the monitors whose message the bus has lost."""
        known = {
            (each.monitor.tenant, each.monitor.name): each.monitor.moment_ms
            for each in self._store.schedule.monitors()
        }
        for monitor in self._store.monitor_definitions.latest():
            if monitor.moment_ms > known.get((monitor.tenant, monitor.name), -1):
                log("planner").warning("a lost monitor is scheduled", monitor=monitor.name)
                self._store.schedule.want(monitor)

    async def publish_due(self, publisher: Publisher, intake: Queue) -> None:
        """Publish the rounds that are due now.

        A window of traffic is due once all that was taken in before its end is handled: where the
        queue of production answers is, is looked up after the clock was read.
        """
        now = self._now()
        taken = await intake.position()
        for run in await in_thread(self.start_due, taken, now):
            # Its own publication number, or the bus would drop it as a duplicate.
            await publisher.publish(run, publication=int(self._wall().timestamp() * 1000))
        if await in_thread(self._reads_past):
            await asyncio.sleep(HISTORY_LOOK_S)
            self.more_due.set()

    def start_due(
        self, taken: QueuePosition = ALL_HANDLED, now: datetime | None = None
    ) -> list[Run]:
        """Start the rounds that are due; return their runs and those not yet waited for.

        Parameters
        ----------
        taken
            Where the queue of production answers was after `now`.
        now
            The moment up to which rounds are due; by default the clock's.
        """
        moment = now or self._now()
        found = self._store.schedule.monitors()
        waited_for = self._gathers.looks(each.run.id for each in found if each.run is not None)
        return [run for each in found for run in self._runs_of(each, waited_for, taken, moment)]

    def _reads_past(self) -> bool:
        return any(
            each.monitor.history is not None and _continues(each)
            for each in self._store.schedule.monitors()
        )

    def _runs_of(
        self,
        scheduled: ScheduledMonitor,
        waited_for: Mapping[str, GatherState],
        taken: QueuePosition,
        now: datetime,
    ) -> Iterator[Run]:
        if scheduled.run is not None:
            gather = waited_for.get(scheduled.run.id)
            if gather is None:
                yield scheduled.run
                return
            if gather.closed_by is None:  # the round before is under way
                if scheduled.run.window is not None:
                    self._arrive_recorded(scheduled.run.id)
                return
            self._looked.pop(scheduled.run.id, None)
        if not _continues(scheduled) or scheduled.due + self._skew_of(scheduled) > now:
            return
        if scheduled.monitor.plan.traffic is None:
            yield from self._start(scheduled, now)
        else:
            yield from self._start_window(scheduled, taken, now)

    def _arrive_recorded(self, run_id: str) -> None:
        """Note what of a window was measured before it was waited for.

        Where that is in files, a look may take seconds: looks take a tenth of the time at most.
        """
        began = self._now()
        if began < self._looked.get(run_id, began):
            return
        self._gathers.arrive_recorded(run_id, Features, began)
        took = self._now() - began
        self._looked[run_id] = began + LOOKS_REST * took

    def _skew_of(self, scheduled: ScheduledMonitor) -> timedelta:
        """Return how much longer a window waits for gateways whose clocks are behind."""
        return self._clock_skew if scheduled.monitor.plan.traffic else timedelta(0)

    def _start_window(
        self, scheduled: ScheduledMonitor, taken: QueuePosition, now: datetime
    ) -> Iterator[Run]:
        monitor, begins = scheduled.monitor, unread_from(scheduled)
        due = f"{monitor.moment_ms} {begins.isoformat() if monitor.history is None else ''}"
        if not self._cuts.handled(monitor.monitor_id, due, first=taken.first, last=taken.last):
            return
        answers = self._store.window_answers
        answers.pass_over(monitor.monitor_id, begins, now)
        if monitor.history is not None:
            window = answers.next_unread(monitor.monitor_id, begins)
            if window is None:
                self._store.schedule.end(scheduled, "all that was sent in of the past is read")
                return
        else:
            traffic = monitor.plan.traffic
            window = window_at(begins, traffic.window_s) if traffic else None
        yield from self._start(scheduled, now, window)

    def _start(
        self, scheduled: ScheduledMonitor, now: datetime, window: Window | None = None
    ) -> Iterator[Run]:
        monitor = scheduled.monitor
        suite = self._store.suites.outline(monitor.plan.suite_hash)
        why = rounds_used_up(monitor, scheduled.next_round)
        if suite and monitor.plan.sets_per_round and not why:
            there = len({name for _, name in self._store.suites.sets(suite.hash)})
            why = sets_used_up(monitor.plan.sets_per_round, there, scheduled.next_round)
        if why:  # there will be no more rounds
            if self._store.schedule.end(scheduled, why) and window is not None:
                # What was sent in for later windows is not read any more.
                end = datetime.max.replace(tzinfo=UTC)
                self._store.window_answers.pass_over(monitor.monitor_id, end, now)
            return
        if isinstance(pins := self._pins(monitor, suite), str):
            if self._logged.get(monitor.monitor_id) != pins:  # once; it starts as soon as it can
                log("planner").warning("a round cannot start", monitor=monitor.name, why=pins)
            self._logged[monitor.monitor_id] = pins
            return
        self._logged.pop(monitor.monitor_id, None)
        run = round_of(scheduled, pins, now, window)
        if self._store.schedule.begin(scheduled, run, _due_after(scheduled, run, now)):
            yield run

    def _pins(self, monitor: Monitor, suite: SuiteOutline | None) -> list[ExtractorPin] | str:
        """Return the extractors of the round, or what it waits for."""
        if monitor.plan.traffic is None and suite is None:
            return f"the suite {monitor.plan.suite} is not in the store"
        return pins_for(monitor, self._store.extractors.running(self._wall() - MAX_EXTRACTOR_AGE))


def _continues(scheduled: ScheduledMonitor) -> bool:
    return scheduled.monitor.state is MonitorState.ACTIVE and not scheduled.ended


def _due_after(scheduled: ScheduledMonitor, run: Run, now: datetime) -> datetime:
    """Return when the round after a run is due."""
    monitor = scheduled.monitor
    if run.window is None:
        return next_due(scheduled.due_at, monitor.upkeep.cadence_s, now)
    return now if monitor.history is not None else read_at(run.window.next, monitor)
