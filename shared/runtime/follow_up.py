"""What followed from a closing is published again until the store has it."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import BackPressureError, PoisonError
from biaswatch.shared.lookup import first
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.store import Closing, Gathers
from biaswatch.shared.telemetry import log

BACK_PRESSURE_S = 0.5


class Republication:
    """Looks at times for what is to be published again, and publishes it as lanes have room."""

    def __init__(
        self, find: Callable[[], Sequence[Record]], *, now: Callable[[], datetime], every_s: float
    ) -> None:
        self._find = find
        self._now = now
        self._every_s = every_s
        self._look_at: float | None = None
        self._unsent: dict[str, dict[str, Record]] = {}
        """What waits for room, by lane and id."""

    def job(self, name: str) -> Job[Publisher]:
        """Return the job that looks, and publishes as lanes have room."""
        every_s = min(self._every_s, BACK_PRESSURE_S)
        return Job(self.look, name, every_s=every_s, first_after_s=self._every_s)

    async def look(self, publisher: Publisher) -> None:
        """Look once it is time, and publish what lanes have room for."""
        clock = asyncio.get_running_loop().time
        if self._look_at is None or clock() >= self._look_at:
            for record in await in_thread(self._find):
                self._unsent.setdefault(record.lane, {})[record.id] = record
            self._look_at = clock() + self._every_s
        for lane in list(self._unsent):
            await self._publish(publisher, lane)

    async def _publish(self, publisher: Publisher, lane: str) -> None:
        """Publish what waits in one lane until it is full: no lane waits for another."""
        unsent = self._unsent[lane]
        while unsent:
            id_, record = first(unsent.items(), "Nothing is unsent.")
            try:
                # A new publication number: under its old one it would be dropped as a duplicate.
                await publisher.publish(record, publication=int(self._now().timestamp() * 1000))
            except BackPressureError:
                return
            except PoisonError as error:  # it is one record's trouble, and not the service's
                log("reconciliation").error("a record cannot be published", why=str(error))
            unsent.pop(id_)
        del self._unsent[lane]


Lacking = Callable[[Closing], int]
"""Return how much the store lacks of what follows from a closing; it blocks, and is cheap."""
Absent = Callable[[Closing], Sequence[Record]]
"""Return what to publish so that the store gets what it lacks of a closing; it blocks."""


class FollowUp:
    """Looks whether the store has what closings led to, and publishes again where it has not.

    The bus has acknowledged those records, and may have lost them before somebody read them. A
    closing of which the store lacks no less than at the look before is told again, then after
    twice as many looks each time: a recorder that is only slow must not be flooded.
    """

    def __init__(
        self,
        gathers: Gathers,
        lacking: Lacking,
        absent: Absent,
        *,
        now: Callable[[], datetime],
        stage: str,
    ) -> None:
        self._gathers = gathers
        self._lacking = lacking
        self._absent = absent
        self._now = now
        self._stage = stage
        self._looks: dict[tuple[str, int], tuple[int, int]] = {}
        """By closing: what the store lacked, and at how many looks it did not get any of it."""

    def job(self, every_s: float) -> Job[Publisher]:
        """Return the job that looks and publishes again."""
        looking = Republication(self.lost, now=self._now, every_s=every_s)
        return looking.job("publish again what followed from closings")

    def lost(self) -> list[Record]:
        """Return what to publish again now; note the closings of which the store has everything."""
        found: list[Record] = []
        before, self._looks = self._looks, {}
        for closing in self._gathers.unrecorded():
            lacking = self._lacking(closing)
            if not lacking:
                self._gathers.recorded(closing.key, closing.opening, self._now())
                continue
            same = (closing.key, closing.opening)
            lacked, looks = before.get(same, (lacking, 0))
            looks = looks + 1 if lacking >= lacked else 1
            self._looks[same] = (lacking, looks)
            if looks > 1 and looks & (looks - 1) == 0:  # at the looks 2, 4, 8, ...
                found += self._again(closing)
        return found

    def _again(self, closing: Closing) -> Sequence[Record]:
        absent = self._absent(closing)
        if absent:
            log(self._stage).warning(
                "the store lacks what followed: publishing again",
                closing=closing.key,
                records=len(absent),
            )
        return absent
