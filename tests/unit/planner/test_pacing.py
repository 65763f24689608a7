"""A run leaves room for others at its target, and goes on where nothing arrives."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from biaswatch.services.planner.handlers.pacing import MAX_PARTS_AHEAD, Pacing
from biaswatch.shared.runtime.passes import Passes, PassSteps, PreparedPart
from biaswatch.shared.store import PlanningCursor
from tests.support.records import make_probe

PART = 500


class SlowTarget:
    """A target that answers questions in their order, so many a second."""

    def __init__(self, per_s: float) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)
        self.waiting: list[str] = []
        self._per_s = per_s
        self._owed = 0.0

    def now(self) -> datetime:
        return self.time

    def wait(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
        self._owed += seconds * self._per_s
        answered = int(self._owed)
        self._owed -= answered
        del self.waiting[:answered]

    def missing(self, ids: Collection[str]) -> set[str]:
        return set(ids) & set(self.waiting)

    def pacing(self) -> Pacing:
        return Pacing(self.missing, now=self.now, stalled_s=30)

    def publish(self, pacing: Pacing, run: str, part: int) -> None:
        ids = [f"{run}-{part}-{number}" for number in range(PART)]
        self.waiting += ids
        pacing.published(run, ids)


def longest_queue(per_s: float, seconds: float) -> tuple[int, int]:
    """Return the most questions that ever waited, and how often none did, in a long run."""
    target = SlowTarget(per_s)
    pacing, part, longest, empty = target.pacing(), 0, 0, 0
    for _ in range(int(seconds / 0.2)):
        while pacing.may_publish("large"):
            target.publish(pacing, "large", part)
            part += 1
        longest = max(longest, len(target.waiting))
        target.wait(0.2)
        empty += not target.waiting
    return longest, empty


def test_the_queue_of_a_target_has_seconds_of_answers_and_is_never_empty_for_long() -> None:
    for per_s in (5, 50, 500, 2000):
        longest, empty = longest_queue(per_s, 60)
        assert longest <= max(1.5 * PART, 10 * per_s), per_s
        assert empty <= 3, per_s  # until it knows how fast the target is


def test_a_target_that_answers_at_once_is_bounded_too() -> None:
    longest, _ = longest_queue(1e6, 60)
    assert longest <= (MAX_PARTS_AHEAD + 1) * PART


def test_a_run_goes_on_where_its_questions_were_lost() -> None:
    target = SlowTarget(0)
    pacing = target.pacing()
    target.publish(pacing, "large", 0)
    assert not pacing.may_publish("large")
    target.wait(29)
    assert not pacing.may_publish("large")
    target.wait(2)
    assert pacing.may_publish("large")
    target.publish(pacing, "large", 1)
    assert not pacing.may_publish("large")
    pacing.ended("large")
    assert pacing.may_publish("large")


LARGE, SMALL = "a" * 32, "b" * 32


class Cursors:
    """Passes of two runs in memory."""

    def __init__(self) -> None:
        self.left = {LARGE: 20}

    def unfinished(self) -> list[PlanningCursor]:
        return [PlanningCursor(run, "lane", 1, reached=str(n)) for run, n in self.left.items()]


class Bus:
    """Publishes nothing, and notes of which run each record was."""

    def __init__(self) -> None:
        self.published: list[str] = []

    async def publish_all(self, records: Sequence[Any], *, publication: int) -> list[None]:
        self.published += [record.run_id for record in records]
        return [None] * len(records)


async def test_a_small_run_is_published_while_a_large_one_has_no_room() -> None:
    cursors, bus = Cursors(), Bus()
    room = {LARGE: 3, SMALL: 1}

    def prepare(cursor: PlanningCursor) -> PreparedPart:
        room[cursor.run_id] -= 1
        return PreparedPart([make_probe(run_id=cursor.run_id)], "more")

    def settle(cursor: PlanningCursor, _: PreparedPart | None) -> None:
        cursors.left[cursor.run_id] -= 1
        if cursor.run_id == SMALL or not cursors.left[cursor.run_id]:
            del cursors.left[cursor.run_id]
            room[LARGE] = 20
        elif not room[LARGE]:
            cursors.left[SMALL] = 1

    steps = PassSteps(
        prepare, settle, lambda _: True, lambda cursor: cursor.lane, lambda c: room[c.run_id] > 0
    )
    passes = Passes(cursors, steps, stage="planner")  # type: ignore[arg-type]
    await passes.run_once(bus)  # type: ignore[arg-type]
    async with asyncio.timeout(60):
        while cursors.left:
            await asyncio.sleep(0.01)
    await passes.close()
    assert bus.published.index(SMALL) == 3
    assert bus.published.count(LARGE) == 20
