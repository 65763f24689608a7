"""Begins the rounds of monitors: each once, never two at a time, none for what was missed."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from services.planner.domain import all_run, next_due, pins_for, round_of, too_few_left
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

HEARD_WITHIN = timedelta(seconds=60)
"""How long ago an extractor may last have said that it runs, on its own clock."""


class Rounds:
    """The schedule; all of it is in the store, so that any process may end at any moment.

    A round is begun in three steps: the place in the schedule moves on and holds the run; the run
    is published; the planner begins to wait for it. Who dies in between leaves a run nobody waits
    for, and whoever looks next publishes it again: the same run, with the same probes.
    """

    def __init__(
        self,
        store: Store,
        *,
        now: Callable[[], datetime],
        wall: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now
        self._wall = wall
        self._told: dict[str, str] = {}

    def want(self, monitor: Monitor) -> Sequence[Record]:
        """Note what is wanted of a monitor from now on."""
        self._store.records.write([monitor])  # before any round that the diagnoser closes
        self._store.schedule.want(monitor)
        return ()

    async def watch(self, publisher: Publisher, every_s: float) -> None:
        """Be the service's job: publish the rounds that are due, for ever."""
        while True:
            try:
                for run in await in_thread(self.due):
                    # Another look is another publication, or the bus would take it for the first.
                    await publisher.publish(run, publication=int(self._wall().timestamp() * 1000))
            except TransientError as error:
                log("planner").warning("the rounds of monitors wait", why=str(error))
            await asyncio.sleep(every_s)

    def due(self) -> list[Run]:
        """Begin the rounds that are due; give their runs, and those nobody has heard of yet."""
        return [run for place in self._store.schedule.monitors() for run in self._of(place)]

    def _of(self, place: ScheduledMonitor) -> Iterator[Run]:
        if place.run is not None:
            waiting = self._gathers.look(place.run.id)
            if waiting is None:
                yield place.run
                return
            if waiting.closed_by is None:
                return  # the round before is under way: the next one waits for its turn
        wanted = place.monitor.state is MonitorState.ACTIVE and not place.ended
        if wanted and place.due <= self._now():
            yield from self._begun(place)

    def _begun(self, place: ScheduledMonitor) -> Iterator[Run]:
        monitor = place.monitor
        if why := self._over(place):
            self._store.schedule.end(place, why)
            return
        if isinstance(pins := self._pins(monitor), str):
            self._tell(monitor, pins)
            return
        self._told.pop(monitor.name, None)
        run = round_of(place, pins, self._now())
        if self._store.schedule.begin(place, run, self._due_after(place, run)):
            yield run

    def _due_after(self, place: ScheduledMonitor, run: Run) -> datetime:
        if run.window is not None:
            return read_at(run.window.next, place.monitor)
        return next_due(place.due_at, place.monitor.upkeep.cadence_s, self._now())

    def _over(self, place: ScheduledMonitor) -> str | None:
        """Say why there will be no more rounds, or nothing where there will."""
        why = all_run(place.monitor, place.next_round)
        suite = self._suite(place.monitor)
        return why or (too_few_left(place.monitor, suite, place.next_round) if suite else None)

    def _pins(self, monitor: Monitor) -> list[ExtractorPin] | str:
        """Return what measures the round, or say what a round waits for."""
        if monitor.plan.traffic is None and self._suite(monitor) is None:
            return f"the suite {monitor.plan.suite} is not in the store"
        return pins_for(monitor, self._store.extractors.running(self._wall() - HEARD_WITHIN))

    def _suite(self, monitor: Monitor) -> Suite | None:
        return self._store.suites.get(monitor.plan.suite_hash)

    def _tell(self, monitor: Monitor, why: str) -> None:
        """Say once why a round cannot begin; it begins as soon as it can."""
        if self._told.get(monitor.name) != why:
            log("planner").warning("a round cannot begin", monitor=monitor.name, why=why)
        self._told[monitor.name] = why
