"""Starts the rounds of monitors: each once, never two at a time, none for missed moments."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from services.planner.domain import next_due, pins_for, round_of, rounds_used_up, sets_used_up
from shared.bus.port import Publisher
from shared.contracts import (
    RUN_GATHER,
    ExtractorPin,
    Monitor,
    MonitorState,
    Record,
    Run,
    ScheduledMonitor,
    Suite,
    read_at,
)
from shared.errors import TransientError
from shared.runtime.blocking import in_thread
from shared.store import Store
from shared.telemetry import log

MAX_EXTRACTOR_AGE = timedelta(seconds=60)
"""How long ago a running extractor was last seen, by its own clock."""


class RoundScheduler:
    """Schedules rounds; all state is in the store, so that any process may end at any moment.

    A round starts in three steps: the schedule moves on and keeps the run; the run is published;
    the planner waits for its features. A process that dies in between leaves a run that nobody
    waits for, and the next look at the schedule publishes the same run again.
    """

    def __init__(
        self, store: Store, *, now: Callable[[], datetime], wall: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now
        self._wall = wall
        self._logged: dict[str, str] = {}

    def define(self, monitor: Monitor) -> Sequence[Record]:
        """Store a monitor's new definition and schedule it."""
        self._store.records.write([monitor])  # before the diagnoser closes any round
        self._store.schedule.want(monitor)
        return ()

    async def define_forgotten(self, every_s: float) -> None:
        """Schedule the monitors whose message the bus has lost, for ever."""
        while True:
            await asyncio.sleep(every_s)
            try:
                await in_thread(self._define_forgotten)
            except TransientError as error:
                log("planner").warning("lost monitors wait", why=str(error))

    def _define_forgotten(self) -> None:
        known = {
            each.monitor.name: each.monitor.moment_ms for each in self._store.schedule.monitors()
        }
        for monitor in sorted(self._store.records.all(Monitor), key=lambda each: each.moment_ms):
            if monitor.moment_ms > known.get(monitor.name, -1):
                log("planner").warning("a lost monitor is scheduled", monitor=monitor.name)
                self._store.schedule.want(monitor)

    async def publish_due(self, publisher: Publisher, every_s: float) -> None:
        """Publish the rounds that are due, for ever."""
        while True:
            try:
                for run in await in_thread(self.start_due):
                    # Its own publication number, or the bus would drop it as a duplicate.
                    await publisher.publish(run, publication=int(self._wall().timestamp() * 1000))
            except TransientError as error:
                log("planner").warning("the rounds of monitors wait", why=str(error))
            await asyncio.sleep(every_s)

    def start_due(self) -> list[Run]:
        """Start the rounds that are due; return their runs and those not yet waited for."""
        return [run for each in self._store.schedule.monitors() for run in self._runs_of(each)]

    def _runs_of(self, scheduled: ScheduledMonitor) -> Iterator[Run]:
        if scheduled.run is not None:
            gather = self._gathers.look(scheduled.run.id)
            if gather is None:
                yield scheduled.run
                return
            if gather.closed_by is None:
                return  # the round before is under way
        active = scheduled.monitor.state is MonitorState.ACTIVE and not scheduled.ended
        if active and scheduled.due <= self._now():
            yield from self._start(scheduled)

    def _start(self, scheduled: ScheduledMonitor) -> Iterator[Run]:
        monitor = scheduled.monitor
        suite = self._store.suites.get(monitor.plan.suite_hash)
        why = rounds_used_up(monitor, scheduled.next_round)
        if suite and not why:
            why = sets_used_up(monitor, suite, scheduled.next_round)
        if why:  # there will be no more rounds
            self._store.schedule.end(scheduled, why)
            return
        if isinstance(pins := self._pins(monitor, suite), str):
            if self._logged.get(monitor.name) != pins:  # once; it starts as soon as it can
                log("planner").warning("a round cannot start", monitor=monitor.name, why=pins)
            self._logged[monitor.name] = pins
            return
        self._logged.pop(monitor.name, None)
        run = round_of(scheduled, pins, self._now())
        due = (
            next_due(scheduled.due_at, monitor.upkeep.cadence_s, self._now())
            if run.window is None
            else read_at(run.window.next, monitor)
        )
        if self._store.schedule.begin(scheduled, run, due):
            yield run

    def _pins(self, monitor: Monitor, suite: Suite | None) -> list[ExtractorPin] | str:
        """Return the extractors of the round, or what it waits for."""
        if monitor.plan.traffic is None and suite is None:
            return f"the suite {monitor.plan.suite} is not in the store"
        return pins_for(monitor, self._store.extractors.running(self._wall() - MAX_EXTRACTOR_AGE))
