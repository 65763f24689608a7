"""Missing records are published again once no more of them arrive."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from biaswatch.shared.contracts import ClosedBy, Record
from biaswatch.shared.errors import BackPressureError, BiaswatchError, TransientError
from biaswatch.shared.runtime.outbox import Backlog, Outbox, StalledKeys, closing_backlogs
from biaswatch.shared.store import Closing
from tests.support.jobs import repeated
from tests.support.records import make_probe, make_target

AT = datetime.fromtimestamp(1234.5, UTC)
CLOSING = Closing("features", "run", {}, 9, 9, ClosedBy.ARRIVAL, AT, 0)


class Bus:
    """A bus that is full for a while, in all lanes or in one."""

    def __init__(self, full: int = 0, full_lane: str | None = None) -> None:
        self.full, self.full_lane = full, full_lane
        self.taken: list[tuple[Record, int]] = []
        self.came = asyncio.Event()

    async def publish(self, record: Record, *, publication: int = 0) -> None:
        if self.full or record.lane == self.full_lane:
            self.full -= self.full > 0
            raise BackPressureError("full")
        self.taken.append((record, publication))
        self.came.set()

    async def publish_all(
        self, records: Sequence[Record], *, publication: int | Sequence[int] = 0
    ) -> Sequence[BiaswatchError | None]:
        raise AssertionError("each is published alone")

    async def publish_copy(self, subject: str, data: bytes, headers: Mapping[str, str]) -> None:
        raise AssertionError("nothing is copied")


def outbox(*checks: dict[str, list[Record]] | Exception) -> Outbox:
    """Return an outbox that sees these backlogs, one after the other, and the last for ever."""
    left = list(checks)

    def find() -> list[Backlog]:
        check = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(check, Exception):
            raise check
        return [Backlog(key, len(rows), partial(list, rows)) for key, rows in check.items()]

    return Outbox(find, now=lambda: AT, stage="planner")


async def published_by(box: Outbox, bus: Bus) -> None:
    job = repeated(box.job("publish again", 0.01), bus)
    await bus.came.wait()
    job.cancel()


def test_a_key_is_due_at_checks_farther_and_farther_apart() -> None:
    stalled = StalledKeys()
    due = [bool(stalled.due({"run": 5})) for _ in range(50)]
    assert [check for check, is_due in enumerate(due) if is_due] == [1, 2, 4, 8, 16, 32, 48]


def test_a_key_is_not_due_while_its_missing_records_arrive() -> None:
    stalled = StalledKeys()
    assert [stalled.due({"run": missing}) for missing in (90, 60, 30, 1)] == [[], [], [], []]
    assert stalled.due({"run": 1}) == ["run"]


def test_only_keys_without_progress_are_published() -> None:
    one, two, three, four = map(make_probe, range(4))
    box = outbox({"a": [one, two], "b": [three]}, {"a": [two], "b": [three], "c": [four]})
    assert box.due() == []
    assert box.due() == [three]


async def test_a_record_is_published_under_a_new_number_once_there_is_room() -> None:
    bus = Bus(full=2)
    await published_by(outbox({"a": [make_probe(7)]}), bus)
    assert bus.taken[0] == (make_probe(7), 1_234_500)


async def test_a_full_lane_does_not_delay_the_others() -> None:
    full, free = make_probe(1), make_probe(2, target=make_target(name="openai:other"))
    bus = Bus(full_lane=full.lane)
    await published_by(outbox({"a": [full, free]}), bus)
    assert {record.id for record, _ in bus.taken} == {free.id}


async def test_an_outage_of_the_store_ends_nothing() -> None:
    away = TransientError("The store is not available.")
    bus = Bus()
    await published_by(outbox(away, away, {"a": [make_probe(1)]}), bus)
    assert bus.taken[0][0] == make_probe(1)


def test_a_closing_whose_results_are_stored_is_checked_no_more() -> None:
    class Gathers:
        left = [CLOSING]  # noqa: RUF012

        def unrecorded(self) -> list[Closing]:
            return list(self.left)

        def recorded(self, key: str, opening: int, now: datetime) -> None:
            self.left = []

    gathers, missing = Gathers(), [3, 0]

    def backlogs() -> list[Backlog]:
        return list(
            closing_backlogs(gathers, lambda _: missing.pop(0), lambda _: [], lambda: AT)  # type: ignore[arg-type]
        )

    assert [backlog.missing for backlog in backlogs()] == [3]
    assert backlogs() == []
    assert gathers.left == []
