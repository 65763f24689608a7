"""What is lost is published again; what still comes, or cannot be looked at, is left alone."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import BackPressureError, BiaswatchError, TransientError
from biaswatch.shared.runtime.gather import Reconciliation
from tests.support.jobs import repeated
from tests.support.records import make_probe, make_target


class Bus:
    """A bus that is full for a while."""

    def __init__(self, full: int = 0) -> None:
        self.full = full
        self.taken: list[tuple[Record, int]] = []
        self.came = asyncio.Event()

    async def publish(self, record: Record, *, publication: int = 0) -> None:
        if self.full:
            self.full -= 1
            raise BackPressureError("full")
        self.taken.append((record, publication))
        self.came.set()

    async def publish_all(
        self, records: Sequence[Record], *, publication: int | Sequence[int] = 0
    ) -> Sequence[BiaswatchError | None]:
        raise AssertionError("each is published alone")

    async def publish_copy(self, subject: str, data: bytes, headers: Mapping[str, str]) -> None:
        raise AssertionError("nothing is copied")


def reconciliation(*looks: Mapping[str, set[str]] | Exception) -> Reconciliation:
    """Return one that sees these, one after the other, and the last for ever."""
    left = list(looks)

    def waiting() -> Mapping[str, set[str]]:
        seen = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(seen, Exception):
            raise seen
        return seen

    return Reconciliation(waiting, lambda _, ids: [make_probe(int(id_)) for id_ in ids], now=now)


def now() -> datetime:
    return datetime.fromtimestamp(1234.5, UTC)


def test_only_runs_of_which_nothing_came_since_the_last_look_are_stuck() -> None:
    looks = reconciliation({"a": {"1", "2"}, "b": {"3"}}, {"a": {"2"}, "b": {"3"}, "c": {"4"}})
    assert looks.stuck() == []
    assert looks.stuck() == [make_probe(3)]


async def test_what_is_stuck_is_published_under_another_number_once_there_is_room() -> None:
    bus = Bus(full=2)
    job = repeated(reconciliation({"a": {"7"}}).job(0.01), bus)
    await bus.came.wait()
    job.cancel()
    assert bus.taken[0] == (make_probe(7), 1_234_500)


async def test_a_lane_without_room_keeps_nothing_from_the_others() -> None:
    full, free = make_probe(1), make_probe(2, target=make_target(name="openai:other"))

    class OneLaneFull(Bus):
        async def publish(self, record: Record, *, publication: int = 0) -> None:
            if record.lane == full.lane:
                raise BackPressureError("full")
            await super().publish(record, publication=publication)

    bus, both = OneLaneFull(), {"1": full, "2": free}
    stuck = Reconciliation(
        lambda: {"a": {"1", "2"}}, lambda _, ids: [both["1"], both["2"]], now=now
    )
    job = repeated(stuck.job(0.01), bus)
    await bus.came.wait()
    job.cancel()
    assert {record.id for record, _ in bus.taken} == {free.id}


async def test_a_store_that_is_away_for_a_while_ends_nothing() -> None:
    bus = Bus()
    away = TransientError("The store is not available.")
    job = repeated(reconciliation(away, away, {"a": {"1"}}).job(0.01), bus)
    await bus.came.wait()
    job.cancel()
    assert bus.taken[0][0] == make_probe(1)
