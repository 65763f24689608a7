"""Passes through long lists in parts, with back-pressure; all state is in the store."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import (
    BackPressureError,
    ConfigurationError,
    PoisonError,
    TransientError,
)
from biaswatch.shared.runtime.jobs import Job, WakeEvent
from biaswatch.shared.runtime.outbox import BACK_PRESSURE_S
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import PlanningCursor, PlanningCursors
from biaswatch.shared.telemetry import RepeatedWarning, log

LOOK_S = 1.0
"""Interval at which passes of other or dead processes are looked for."""
PACE_S = 0.2
"""Interval of looks where no pass may publish."""
FAULT_PAUSE_S = 10.0
"""Pause after an unexpected error."""
PUBLISHED_AT_ONCE = 64


@dataclass(frozen=True)
class PreparedPart:
    """A part of a list whose results are expected, with the records to publish."""

    records: Sequence[Record]
    reached: str | None
    """Position after the part; None at the end of the list."""


@dataclass(frozen=True)
class PassSteps:
    """The steps of a pass of a service; all but `turn_of` block."""

    prepare: Callable[[PlanningCursor], PreparedPart | None]
    """Expects the next part; returns None once the run is closed."""
    settle: Callable[[PlanningCursor, PreparedPart | None], None]
    """Advances or ends the pass."""
    wanted: Callable[[PlanningCursor], bool]
    """Tells whether the run is still open."""
    turn_of: Callable[[PlanningCursor], str]
    """Passes with the same turn alternate, one part each; others run concurrently."""
    may_publish: Callable[[PlanningCursor], bool] = lambda _: True
    """Tells whether the pass may publish its next part now."""


class Passes:
    """Advances the passes of a service; all state is in the store, so any process may end.

    A part is expected in the store before it is published, and the pass is advanced afterwards. A
    crash in between repeats the part under the same number, which the bus drops; records that the
    bus no longer remembers have the same ids and count once.
    """

    def __init__(self, cursors: PlanningCursors, steps: PassSteps, *, stage: str) -> None:
        self._cursors = cursors
        self._steps = steps
        self._stage = stage
        self._begun = WakeEvent()
        self._working: dict[str, asyncio.Task[None]] = {}
        """The task of each turn."""
        self._waits = RepeatedWarning(stage, "passes wait")

    def wake(self) -> None:
        """Let the job look for passes at once."""
        self._begun.set()

    @property
    def job(self) -> Job[Publisher]:
        """The job that advances every pass."""
        return Job(
            self.run_once, "advance passes", every_s=LOOK_S, wake=self._begun, close=self.close
        )

    async def run_once(self, publisher: Publisher) -> None:
        """Start a task for every turn with unfinished passes."""
        unfinished = await in_thread(self._cursors.unfinished)
        for turn in dict.fromkeys(self._steps.turn_of(cursor) for cursor in unfinished):
            if turn not in self._working:
                self._working[turn] = asyncio.create_task(self._advance(turn, publisher))
        for turn in [turn for turn, task in self._working.items() if task.done()]:
            self._working.pop(turn).result()

    async def close(self) -> None:
        """Cancel the tasks; another process continues the passes."""
        for task in self._working.values():
            task.cancel()
        await asyncio.gather(*self._working.values(), return_exceptions=True)

    async def _advance(self, turn: str, publisher: Publisher) -> None:
        """Advance the passes of a turn in rotation, until all have ended."""
        try:
            while cursors := await in_thread(self._unfinished, turn):
                ready = [c for c in cursors if await in_thread(self._steps.may_publish, c)]
                for cursor in ready:
                    part = await in_thread(self._steps.prepare, cursor)
                    if part is not None:
                        await self._publish(part.records, cursor, publisher)
                    await in_thread(self._steps.settle, cursor, part)
                if not ready:
                    await asyncio.sleep(PACE_S)
        except TransientError as error:  # the next look continues
            self._waits.warn(error, turn=turn)
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - other runs must not wait
            self._waits.warn(error, turn=turn, exc_info=error)
            await asyncio.sleep(FAULT_PAUSE_S)

    def _unfinished(self, turn: str) -> list[PlanningCursor]:
        cursors = self._cursors.unfinished()
        return [cursor for cursor in cursors if self._steps.turn_of(cursor) == turn]

    async def _publish(
        self, records: Sequence[Record], cursor: PlanningCursor, publisher: Publisher
    ) -> None:
        """Publish all records, waiting for room while the run is open."""
        unsent = list(records)
        while unsent:
            batch, rest = unsent[:PUBLISHED_AT_ONCE], unsent[PUBLISHED_AT_ONCE:]
            results = await publisher.publish_all(batch, publication=cursor.publication)
            refused = []
            for record, result in zip(batch, results, strict=True):
                if isinstance(result, BackPressureError):
                    refused.append(record)
                elif isinstance(result, PoisonError):  # it concerns this record only
                    log(self._stage).error("a record cannot be published", why=str(result))
                elif result is not None:
                    raise result
            unsent = [*refused, *rest]
            if refused:
                await asyncio.sleep(BACK_PRESSURE_S)
                if not await in_thread(self._steps.wanted, cursor):
                    return


SOON_S = 0.2
LONGEST_S = 60.0
MAX_KEYS = 64
"""Keys whose last check is remembered."""


class ArrivalForecast:
    """Estimates when missing records will have arrived, from the rate of arrival.

    A run of 200,000 answers closes a minute before the recorder has written all of it. Doubling
    delays would find it complete up to another minute late.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._looks: OrderedDict[str, tuple[datetime, int]] = OrderedDict()

    def wait_s(self, key: str, missing: int) -> float:
        """Return the delay until the next check, given the number of missing records.

        It is short at the first check and if nothing has arrived since the last one, as the delays
        of redelivery then double anyway.
        """
        now = self._now()
        at, before = self._looks.pop(key, (now, missing))
        self._looks[key] = (now, missing)
        if len(self._looks) > MAX_KEYS:
            self._looks.popitem(last=False)
        passed_s = (now - at).total_seconds()
        if missing >= before or passed_s <= 0:
            return SOON_S
        return min(max(missing * passed_s / (before - missing), SOON_S), LONGEST_S)
