"""What followed from a closing is published again once the store stops getting it."""

from datetime import UTC, datetime

from biaswatch.shared.contracts import ClosedBy, Record
from biaswatch.shared.runtime.follow_up import FollowUp
from biaswatch.shared.store import Closing
from tests.support.records import make_probe

AT = datetime(2026, 3, 4, tzinfo=UTC)
CLOSING = Closing("features", "run", {}, 9, 9, ClosedBy.ARRIVAL, AT, 0)


class Gathers:
    """One closing, until the store is noted to have all that follows from it."""

    def __init__(self) -> None:
        self.left = [CLOSING]

    def unrecorded(self) -> list[Closing]:
        return list(self.left)

    def recorded(self, key: str, opening: int, now: datetime) -> None:
        self.left = []


def published(*lacking: int) -> tuple[list[int], int, Gathers]:
    """Look as often as numbers are given; return what each look publishes, and what was sought."""
    gathers, left, sought = Gathers(), list(lacking), []

    def absent(_: Closing) -> list[Record]:
        sought.append(1)
        return [make_probe()]

    job = FollowUp(
        gathers,  # type: ignore[arg-type]
        lambda _: left.pop(0),
        absent,
        now=lambda: AT,
        stage="planner",
    )
    return [len(job.lost()) for _ in lacking], len(sought), gathers


def test_what_the_store_stops_getting_is_published_at_looks_farther_and_farther_apart() -> None:
    assert published(5, 5, 5, 5, 5, 5, 5, 5)[0] == [0, 1, 0, 1, 0, 0, 0, 1]


def test_nothing_is_sought_or_published_while_the_store_still_gets_it() -> None:
    assert published(90, 60, 30, 1)[:2] == ([0, 0, 0, 0], 0)


def test_what_stops_half_way_is_published_after_one_look_at_which_nothing_came() -> None:
    assert published(90, 60, 60, 60)[0] == [0, 0, 1, 0]


def test_a_closing_of_which_the_store_has_everything_is_looked_at_no_more() -> None:
    gathers = published(3, 0)[2]
    assert gathers.left == []
