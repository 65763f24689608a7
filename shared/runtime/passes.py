"""Goes through long lists part by part, each turn by itself, waiting where the bus is full."""

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
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.store import PlanningCursor, PlanningCursors
from biaswatch.shared.telemetry import RepeatedWarning, log

LOOK_S = 1.0
"""How often passes are looked for that another process has begun, or left when it died."""
BACK_PRESSURE_S = 0.5
FAULT_PAUSE_S = 10.0
"""After an unexpected error, until the runs of a turn are gone through again."""
PUBLISHED_AT_ONCE = 64


@dataclass(frozen=True)
class PreparedPart:
    """A part of a list that is waited for, and what of it is to be published."""

    records: Sequence[Record]
    reached: str | None
    """How far the pass is after it; None at its end."""


@dataclass(frozen=True)
class PassSteps:
    """What a service does with a pass; all but `turn_of` block."""

    prepare: Callable[[PlanningCursor], PreparedPart | None]
    """Wait for the next part; None where nobody waits for the run any more."""
    settle: Callable[[PlanningCursor, PreparedPart | None], None]
    """Move the pass on, or end it."""
    wanted: Callable[[PlanningCursor], bool]
    """True if somebody still waits for the run."""
    turn_of: Callable[[PlanningCursor], str]
    """Passes with the same turn take turns, a part each; others do not wait for them."""


class Passes:
    """Moves the passes of a service on; all state is in the store, so any process may end.

    A part is waited for in the store before any of it is on the bus, and the pass is moved on
    after. A death in between repeats the part under the same number, which the bus drops; what the
    bus has forgotten by then has the same ids, and counts once.
    """

    def __init__(self, cursors: PlanningCursors, steps: PassSteps, *, stage: str) -> None:
        self._cursors = cursors
        self._steps = steps
        self._stage = stage
        self._begun = asyncio.Event()
        self._working: dict[str, asyncio.Task[None]] = {}
        """What goes through the passes of a turn, by turn."""
        self._waits = RepeatedWarning(stage, "runs wait to be gone through")

    def wake(self) -> None:
        """Have the job look for passes at once."""
        self._begun.set()

    @property
    def job(self) -> Job[Publisher]:
        """The job that moves every pass on."""
        return Job(self.look, "go through runs", every_s=LOOK_S, wake=self._begun, close=self.close)

    async def look(self, publisher: Publisher) -> None:
        """Go on with every pass that nothing goes through yet."""
        unfinished = await in_thread(self._cursors.unfinished)
        for turn in dict.fromkeys(self._steps.turn_of(cursor) for cursor in unfinished):
            if turn not in self._working:
                self._working[turn] = asyncio.create_task(self._go_through(turn, publisher))
        for turn in [turn for turn, task in self._working.items() if task.done()]:
            self._working.pop(turn).result()

    async def close(self) -> None:
        """End what is gone through: another process goes on with it."""
        for task in self._working.values():
            task.cancel()
        await asyncio.gather(*self._working.values(), return_exceptions=True)

    async def _go_through(self, turn: str, publisher: Publisher) -> None:
        """Move the passes of a turn on, one after the other, until all are at their end."""
        try:
            while mine := await in_thread(self._unfinished, turn):
                for cursor in mine:
                    part = await in_thread(self._steps.prepare, cursor)
                    if part is not None:
                        await self._publish(part.records, cursor, publisher)
                    await in_thread(self._steps.settle, cursor, part)
        except TransientError as error:  # the next look goes on, and other turns meanwhile
            self._waits.warn(error, turn=turn)
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - one run's fault keeps no other waiting
            self._waits.warn(error, turn=turn, exc_info=error)
            await asyncio.sleep(FAULT_PAUSE_S)

    def _unfinished(self, turn: str) -> list[PlanningCursor]:
        return [each for each in self._cursors.unfinished() if self._steps.turn_of(each) == turn]

    async def _publish(
        self, records: Sequence[Record], cursor: PlanningCursor, publisher: Publisher
    ) -> None:
        """Publish all, waiting for room as long as somebody waits for the run."""
        unsent = list(records)
        while unsent:
            some, rest = unsent[:PUBLISHED_AT_ONCE], unsent[PUBLISHED_AT_ONCE:]
            results = await publisher.publish_all(some, publication=cursor.publication)
            refused = []
            for record, result in zip(some, results, strict=True):
                if isinstance(result, BackPressureError):
                    refused.append(record)
                elif isinstance(result, PoisonError):  # it is one record's trouble
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
MOST_KNOWN = 64
"""How many looks are remembered, the latest ones; the next look at others is a first one."""


class ArrivalForecast:
    """Tells when to look again, so that what is there is neither asked for often nor left waiting.

    A run of 200,000 answers closes while the recorder is still writing it for a minute. Looks with
    doubled waits would find it up to another minute too late.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._looks: OrderedDict[str, tuple[datetime, int]] = OrderedDict()

    def wait_s(self, key: str, missing: int) -> float:
        """Return when to look again, in seconds, where so much is missing now.

        It is short at the first look, and where nothing came since the one before: then the waits
        of redelivery double by themselves.
        """
        now = self._now()
        at, before = self._looks.pop(key, (now, missing))
        self._looks[key] = (now, missing)
        if len(self._looks) > MOST_KNOWN:
            self._looks.popitem(last=False)
        passed_s = (now - at).total_seconds()
        if missing >= before or passed_s <= 0:
            return SOON_S
        return min(max(missing * passed_s / (before - missing), SOON_S), LONGEST_S)
