"""Gathers on both databases: everything counted once, closed once, emitted once."""

import threading
from datetime import UTC, datetime, timedelta

from biaswatch.shared.contracts import ClosedBy
from biaswatch.shared.store import Gathers, Store

NOW = datetime(2026, 2, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
IDS = ("a", "b", "c")


def gathers(store: Store) -> Gathers:
    return store.gathers("planner-run")


def expecting(store: Store, key: str = "run-1", ids: tuple[str, ...] = IDS) -> Gathers:
    made = gathers(store)
    made.expect(key, ids, deadline=LATER, now=NOW, context={"suite": "countries"})
    return made


def test_it_closes_when_the_last_record_arrives_and_not_before(store: Store) -> None:
    waiting = expecting(store)
    waiting.arrive(["a", "b"], NOW)
    assert waiting.due() == []
    waiting.arrive(["c"], NOW)
    [closing] = waiting.due()
    assert (closing.key, closing.expected, closing.arrived) == ("run-1", 3, 3)
    assert closing.closed_by is ClosedBy.ARRIVAL
    assert closing.context == {"suite": "countries"}


def test_a_record_that_arrives_often_counts_once(store: Store) -> None:
    waiting = expecting(store)
    for _ in range(5):
        waiting.arrive(["a", "a", "b"], NOW)
    assert waiting.due() == []
    assert waiting.waiting_for("run-1") == ["c"]


def test_a_closing_is_due_until_it_is_emitted_and_never_again(store: Store) -> None:
    waiting = expecting(store)
    waiting.arrive(IDS, NOW)
    assert len(waiting.due()) == 1
    assert len(waiting.due()) == 1  # the process that was to emit it has died
    waiting.emitted("run-1", NOW)
    assert waiting.due() == []
    waiting.arrive(IDS, NOW)
    assert waiting.due() == []


def test_a_deadline_closes_it_with_what_is_there_and_later_records_are_only_counted(
    store: Store,
) -> None:
    waiting = expecting(store)
    waiting.arrive(["a"], NOW)
    assert waiting.expire(LATER - timedelta(seconds=1)) == 0
    assert waiting.expire(LATER) == 1
    assert waiting.expire(LATER) == 0
    waiting.arrive(["b", "b", "c"], LATER)
    waiting.arrive(["b"], LATER)
    [closing] = waiting.due()
    assert (closing.arrived, closing.closed_by) == (1, ClosedBy.DEADLINE)
    assert waiting.late("run-1") == 2


def test_expecting_again_changes_nothing(store: Store) -> None:
    waiting = expecting(store)
    waiting.arrive(["a"], NOW)
    assert not waiting.expect("run-1", ["x"], deadline=LATER, now=NOW)
    assert waiting.waiting_for("run-1") == ["b", "c"]


def test_what_is_already_there_is_not_waited_for(store: Store) -> None:
    waiting = gathers(store)
    waiting.expect("run-1", IDS, deadline=LATER, now=NOW, already=["a", "b", "z"])
    waiting.arrive(["c"], NOW)
    assert [c.arrived for c in waiting.due()] == [3]


def test_nothing_to_wait_for_closes_at_once(store: Store) -> None:
    waiting = gathers(store)
    waiting.expect("run-1", [], deadline=LATER, now=NOW)
    waiting.expect("run-2", ["a"], deadline=LATER, now=NOW, already=["a"])
    assert {c.key for c in waiting.due()} == {"run-1", "run-2"}


def test_one_record_may_be_waited_for_by_several(store: Store) -> None:
    waiting = expecting(store, "pair-1", ("a", "b"))
    expecting(store, "pair-2", ("b", "c"))
    waiting.arrive(["a", "b"], NOW)
    assert [c.key for c in waiting.due()] == ["pair-1"]
    waiting.arrive(["c"], NOW)
    assert [c.key for c in waiting.due()] == ["pair-1", "pair-2"]


def test_an_arrival_nobody_waits_for_is_reported_and_stages_do_not_see_one_another(
    store: Store,
) -> None:
    waiting = expecting(store)
    assert waiting.arrive(["a", "stranger"], NOW) == 1
    assert store.gathers("oracle-pair").arrive(["b"], NOW) == 1
    assert waiting.waiting_for("run-1") == ["b", "c"]


def test_a_cancelled_gather_closes_as_cancelled_once(store: Store) -> None:
    waiting = expecting(store)
    waiting.arrive(["a"], NOW)
    assert waiting.cancel("run-1", NOW)
    assert not waiting.cancel("run-1", NOW)
    assert not waiting.cancel("unknown", NOW)
    assert [c.closed_by for c in waiting.due()] == [ClosedBy.CANCELLATION]


def test_a_reopened_gather_counts_what_came_late_and_waits_for_the_rest(store: Store) -> None:
    waiting = expecting(store)
    waiting.arrive(["a"], NOW)
    assert not waiting.reopen("run-1", deadline=LATER, now=NOW)
    waiting.expire(LATER)
    waiting.emitted("run-1", LATER)
    waiting.arrive(["b"], LATER)
    assert waiting.reopen("run-1", deadline=LATER + timedelta(hours=1), now=LATER)
    assert waiting.open_keys() == ["run-1"]
    waiting.arrive(["c"], LATER)
    [closing] = waiting.due()
    assert (closing.arrived, closing.closed_by) == (3, ClosedBy.ARRIVAL)
    waiting.emitted("run-1", LATER)
    assert not waiting.reopen("run-1", deadline=LATER, now=LATER)


def test_a_gather_reopened_after_all_came_late_closes_at_once(store: Store) -> None:
    waiting = expecting(store)
    waiting.expire(LATER)
    waiting.emitted("run-1", LATER)
    waiting.arrive(IDS, LATER)
    assert waiting.reopen("run-1", deadline=LATER, now=LATER)
    assert [c.arrived for c in waiting.due()] == [3]


def test_thirty_thousand_expected_records_arrive_in_batches(store: Store) -> None:
    ids = tuple(f"{n:05}" for n in range(30_000))
    waiting = expecting(store, ids=ids)
    for start in range(0, len(ids), 1000):
        waiting.arrive(ids[start : start + 1000], NOW)
    [closing] = waiting.due()
    assert closing.arrived == 30_000


def test_racing_arrivals_close_it_exactly_once_and_never_miss(store: Store) -> None:
    for round_ in range(15):
        key = f"run-{round_}"
        ids = tuple(f"{key}-{n}" for n in range(8))
        waiting = expecting(store, key, ids)
        start = threading.Barrier(4)

        def bring(some: tuple[str, ...], start: threading.Barrier = start) -> None:
            start.wait()
            gathers(store).arrive(some, NOW)

        threads = [threading.Thread(target=bring, args=(ids[n * 2 : n * 2 + 2],)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [closing] = waiting.due()
        assert (closing.key, closing.arrived) == (key, 8)
        waiting.emitted(key, NOW)


def test_racing_expectations_of_one_plan_make_one_gather(store: Store) -> None:
    results: list[bool] = []
    start = threading.Barrier(4)

    def expect() -> None:
        start.wait()
        results.append(gathers(store).expect("run-1", IDS, deadline=LATER, now=NOW))

    threads = [threading.Thread(target=expect) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, False, False, True]
