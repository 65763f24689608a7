"""Starts rounds of monitors: each once, one at a time, and none for missed times."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from biaswatch.services.planner.domain import (
    IntakeCuts,
    next_due,
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
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log

HISTORY_LOOK_S = 0.05
"""Interval of looks at the schedule while windows of the past are read."""
REST_FACTOR = 10
"""Pause after a look at early measurements, as a multiple of the look's duration."""
EMPTY_QUEUE = QueuePosition(first=1, last=0)
"""Position of an empty queue."""


class RoundScheduler:
    """Schedules rounds; all state is in the store, so that any process may end at any time.

    A round starts in three steps: the schedule moves on and keeps the run, the run is published,
    and the planner waits for its features. A crash in between leaves a run without a gather, which
    the next look at the schedule publishes again.
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
        self._next_looks: dict[str, datetime] = {}
        """Time of the next look at early measurements of a window, by run."""

    def define(self, monitor: Monitor) -> Sequence[Record]:
        """Store and schedule a monitor's new definition."""
        self._store.records.write([monitor])  # before the diagnoser closes any round
        self._store.schedule.put(monitor)
        return ()

    def define_forgotten(self) -> None:
        """Schedule the monitors whose message the bus has lost."""
        scheduled = {
            (entry.monitor.tenant, entry.monitor.name): entry.monitor.moment_ms
            for entry in self._store.schedule.monitors()
        }
        for monitor in self._store.monitor_definitions.latest():
            if monitor.moment_ms > scheduled.get((monitor.tenant, monitor.name), -1):
                log("planner").warning("a lost monitor is scheduled", monitor=monitor.name)
                self._store.schedule.put(monitor)

    async def publish_due(self, publisher: Publisher, intake: Queue) -> None:
        """Publish the rounds that are due now.

        A window of traffic is due once everything from before its end is handled, so the position
        of the queue of production answers is read after the clock.
        """
        now = self._now()
        position = await intake.position()
        for run in await in_thread(self.start_due, position, now):
            # Its own publication number, or the bus would drop it as a duplicate.
            await publisher.publish(run, publication=int(self._wall().timestamp() * 1000))
        if await in_thread(self._reads_past):
            await asyncio.sleep(HISTORY_LOOK_S)
            self.more_due.set()

    def start_due(
        self, position: QueuePosition = EMPTY_QUEUE, now: datetime | None = None
    ) -> list[Run]:
        """Start the rounds that are due; return their runs, and those without a gather.

        Parameters
        ----------
        position
            Position of the queue of production answers after `now`.
        now
            Time up to which rounds are due; by default the clock's.
        """
        time = now or self._now()
        monitors = self._store.schedule.monitors()
        gathers = self._gathers.states(entry.run.id for entry in monitors if entry.run is not None)
        runs = (self._next_run(entry, gathers, position, time) for entry in monitors)
        return [run for run in runs if run is not None]

    def _reads_past(self) -> bool:
        return any(
            entry.monitor.history is not None and _continues(entry)
            for entry in self._store.schedule.monitors()
        )

    def _next_run(
        self,
        scheduled: ScheduledMonitor,
        gathers: Mapping[str, GatherState],
        position: QueuePosition,
        now: datetime,
    ) -> Run | None:
        """Return the run to publish for a monitor now, if any."""
        if scheduled.run is not None:
            gather = gathers.get(scheduled.run.id)
            if gather is None:
                return scheduled.run
            if gather.closed_by is None:  # the previous round is in progress
                if scheduled.run.window is not None:
                    self._arrive_recorded(scheduled.run.id)
                return None
            self._next_looks.pop(scheduled.run.id, None)
        is_traffic = scheduled.monitor.plan.traffic is not None
        skew = self._clock_skew if is_traffic else timedelta(0)
        if not _continues(scheduled) or scheduled.due + skew > now:
            return None
        if is_traffic:
            return self._start_window(scheduled, position, now)
        return self._start(scheduled, now)

    def _arrive_recorded(self, run_id: str) -> None:
        """Note early measurements of a window, from before it was planned.

        A look may take seconds if they are in files, so looks take a tenth of the time at most.
        """
        started_at = self._now()
        if started_at < self._next_looks.get(run_id, started_at):
            return
        self._gathers.arrive_recorded(run_id, Features, started_at)
        self._next_looks[run_id] = started_at + REST_FACTOR * (self._now() - started_at)

    def _start_window(
        self, scheduled: ScheduledMonitor, position: QueuePosition, now: datetime
    ) -> Run | None:
        monitor, begins = scheduled.monitor, unread_from(scheduled)
        due = f"{monitor.moment_ms} {begins.isoformat() if monitor.history is None else ''}"
        key = monitor.monitor_id
        first = position.first_of(monitor.tenant)
        if not self._cuts.handled(key, due, first=first, last=position.last):
            return None
        answers = self._store.window_answers
        answers.pass_over(monitor.monitor_id, begins, now)
        traffic = monitor.plan.traffic
        if monitor.history is None:
            window = window_at(begins, traffic.window_s) if traffic else None
            return self._start(scheduled, now, window)
        window = answers.next_unread(monitor.monitor_id, begins)
        if window is None:
            self._store.schedule.end(scheduled, "all that was sent in of the past is read")
            return None
        return self._start(scheduled, now, window)

    def _start(
        self, scheduled: ScheduledMonitor, now: datetime, window: Window | None = None
    ) -> Run | None:
        monitor = scheduled.monitor
        suite = self._store.suites.outline(monitor.plan.suite_hash)
        if why := self._used_up(scheduled, suite):
            if self._store.schedule.end(scheduled, why) and window is not None:
                # Answers for later windows are not read any more.
                end = datetime.max.replace(tzinfo=UTC)
                self._store.window_answers.pass_over(monitor.monitor_id, end, now)
            return None
        if isinstance(pins := self._pins(monitor, suite), str):
            if self._logged.get(monitor.monitor_id) != pins:  # once; it starts when it can
                log("planner").warning("a round cannot start", monitor=monitor.name, why=pins)
            self._logged[monitor.monitor_id] = pins
            return None
        self._logged.pop(monitor.monitor_id, None)
        run = round_of(scheduled, pins, now, window)
        started = self._store.schedule.begin(scheduled, run, _due_after(scheduled, run, now))
        return run if started else None

    def _used_up(self, scheduled: ScheduledMonitor, suite: SuiteOutline | None) -> str | None:
        """Return why there are no more rounds; None otherwise."""
        monitor, round_ = scheduled.monitor, scheduled.next_round
        why = rounds_used_up(monitor, round_)
        if why or not suite or not monitor.plan.sets_per_round:
            return why
        sets = {name for _, name in self._store.suites.sets(suite.hash)}
        return sets_used_up(monitor.plan.sets_per_round, len(sets), round_)

    def _pins(self, monitor: Monitor, suite: SuiteOutline | None) -> list[ExtractorPin] | str:
        """Return the extractors of the round, or what is missing."""
        if monitor.plan.traffic is None and suite is None:
            return f"the suite {monitor.plan.suite} is not in the store"
        names = monitor.plan.extractors
        pins = self._store.extractors.pins(names, self._wall())
        if missing := [name for name in names if name not in pins]:
            return f"the extractor {missing[0]} is not running"
        return [pins[name] for name in names]


def _continues(scheduled: ScheduledMonitor) -> bool:
    return scheduled.monitor.state is MonitorState.ACTIVE and not scheduled.ended


def _due_after(scheduled: ScheduledMonitor, run: Run, now: datetime) -> datetime:
    """Return when the next round after a run is due."""
    monitor = scheduled.monitor
    if run.window is None:
        return next_due(scheduled.due_at, monitor.upkeep.cadence_s, now)
    return now if monitor.history is not None else read_at(run.window.next, monitor)
