"""Publishes records again that the store still misses.

Every service writes what it produces before it publishes it, and the ids of records make repeats
harmless. So one loop compares what the store has with what must follow, and publishes what is
missing. It covers messages that the bus acknowledged and lost, and services that were killed
between a write and its message.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import BackPressureError, PoisonError
from biaswatch.shared.lookup import first
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Closing, Gathers
from biaswatch.shared.telemetry import log

BACK_PRESSURE_S = 0.5
MAX_CHECKS_APART = 16
"""Longest distance between two attempts for one key, in checks."""


class StalledKeys:
    """Finds keys whose number of missing records no longer falls.

    What is missing may just be slow. A key is due at its first check without progress, then after
    2, 4, 8 and 16 such checks, and after every 16 from then on.
    """

    def __init__(self) -> None:
        self._checks: dict[str, tuple[int, int]] = {}
        """By key: records missing at the last check, and checks in a row without progress."""

    def due(self, missing: Mapping[str, int]) -> list[str]:
        """Return the keys to repair now, given the missing records of every open key."""
        before, self._checks = self._checks, {}
        for key, count in missing.items():
            last, stalled = before.get(key, (count + 1, 0))
            self._checks[key] = (count, stalled + 1 if count >= last else 0)
        return [key for key, (_, stalled) in self._checks.items() if _is_due(stalled)]


def _is_due(stalled: int) -> bool:
    power_of_two = stalled & (stalled - 1) == 0
    return stalled > 0 and (power_of_two or stalled % MAX_CHECKS_APART == 0)


@dataclass(frozen=True)
class Backlog:
    """Records that the store still misses for one key."""

    key: str
    missing: int
    records: Callable[[], Sequence[Record]]
    """Returns the records to publish, so that the store gets what it misses; blocks."""


class Outbox:
    """Checks backlogs at intervals, and publishes the stalled ones as their lanes have room."""

    def __init__(
        self, find: Callable[[], Iterable[Backlog]], *, now: Callable[[], datetime], stage: str
    ) -> None:
        self._find = find
        self._now = now
        self._stage = stage
        self._stalled = StalledKeys()
        self._check_at: float | None = None
        self._unsent: dict[str, dict[str, Record]] = {}
        """Records that wait for room, by lane and id."""

    def job(self, name: str, every_s: float) -> Job[Publisher]:
        """Return the job that checks every `every_s`, and publishes as lanes have room."""

        async def work(publisher: Publisher) -> None:
            clock = asyncio.get_running_loop().time
            if self._check_at is None or clock() >= self._check_at:
                for record in await in_thread(self.due):
                    self._unsent.setdefault(record.lane, {})[record.id] = record
                self._check_at = clock() + every_s
            for lane in list(self._unsent):
                await self._publish(publisher, lane)

        return Job(work, name, every_s=min(every_s, BACK_PRESSURE_S), first_after_s=every_s)

    def due(self) -> list[Record]:
        """Return the records to publish again now; blocks."""
        backlogs = {backlog.key: backlog for backlog in self._find()}
        stalled = self._stalled.due({key: backlog.missing for key, backlog in backlogs.items()})
        records: list[Record] = []
        for key in stalled:
            missing = backlogs[key].records()
            if missing:
                log(self._stage).warning(
                    "the store misses records: publishing again", key=key, records=len(missing)
                )
            records += missing
        return records

    async def _publish(self, publisher: Publisher, lane: str) -> None:
        """Publish what waits in one lane until it is full; lanes do not wait for one another."""
        unsent = self._unsent[lane]
        while unsent:
            id_, record = first(unsent.items(), "Nothing is unsent.")
            try:
                # A new publication number, as the bus would drop the old one as a duplicate.
                await publisher.publish(record, publication=int(self._now().timestamp() * 1000))
            except BackPressureError:
                return
            except PoisonError as error:  # it concerns this record only
                log(self._stage).error("a record cannot be published", why=str(error))
            unsent.pop(id_)
        del self._unsent[lane]


def closing_backlogs(
    gathers: Gathers,
    missing: Callable[[Closing], int],
    records: Callable[[Closing], Sequence[Record]],
    now: Callable[[], datetime],
) -> Iterator[Backlog]:
    """Yield the backlogs of closings; mark the closings whose results are all in the store.

    Parameters
    ----------
    missing
        Returns the number of records that the store misses of a closing's results; cheap.
    records
        Returns the records to publish for a closing.
    """
    for closing in gathers.unrecorded():
        count = missing(closing)
        if count:
            key = f"{closing.key}/{closing.opening}"
            yield Backlog(key, count, partial(records, closing))
        else:
            gathers.recorded(closing.key, closing.opening, now())
