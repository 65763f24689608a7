"""What the store knows of calls that begin, and of targets that are paused; on both databases."""

from datetime import timedelta

from biaswatch.shared.contracts.completion import PausedTarget
from biaswatch.shared.store import Store
from tests.support.records import AT, RUN_ID

ONE, TWO = "1" * 32, "2" * 32


def paused(lane: str = "a", **fields: object) -> PausedTarget:
    given = {
        "lane": lane,
        "target": f"openai:{lane}",
        "why": "The target refused the key.",
        "since": AT,
        "refusals": 1,
        "next_try_at": AT + timedelta(seconds=5),
        **fields,
    }
    return PausedTarget.model_validate(given)


def test_a_call_that_begins_again_is_counted_on(store: Store) -> None:
    assert store.calls.begin({ONE: RUN_ID}, AT) == {ONE: 1}
    assert store.calls.begin({ONE: RUN_ID, TWO: RUN_ID}, AT) == {ONE: 2, TWO: 1}
    store.calls.take_back([ONE])
    assert store.calls.begin({ONE: RUN_ID}, AT) == {ONE: 2}


def test_what_was_begun_long_ago_is_forgotten(store: Store) -> None:
    store.calls.begin({ONE: RUN_ID}, AT)
    store.calls.forget(AT + timedelta(days=1))
    assert store.calls.begin({ONE: RUN_ID}, AT) == {ONE: 1}


def test_a_paused_target_is_read_until_it_is_resumed(store: Store) -> None:
    store.paused_targets.keep(paused("a"))
    store.paused_targets.keep(paused("b", since=AT - timedelta(hours=1)))
    later = paused("a", refusals=2)
    store.paused_targets.keep(later)
    assert [item.lane for item in store.paused_targets.read()] == ["b", "a"]
    assert store.paused_targets.read({"a"}) == [later]
    assert store.paused_targets.resume(["a", "nobody"]) == 1
    assert [item.lane for item in store.paused_targets.read()] == ["b"]
