"""Calls that begin, calls in batches, and paused targets in the store; on both databases."""

from datetime import timedelta

from biaswatch.shared.contracts.waiting_calls import PausedTarget
from biaswatch.shared.store import Store
from biaswatch.shared.store.batches import BatchedCall, CallBatch
from tests.support.records import AT, RUN_ID, make_probe

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


def test_an_outcome_in_a_batch_is_kept_until_it_was_used(store: Store) -> None:
    probe = make_probe()
    store.batches.add([BatchedCall(ONE, probe, "answer", "{}")], AT)
    batch = CallBatch("b", probe.run_id, probe.lane, probe.target, 1, 1, AT)
    assert store.batches.begin(batch, [ONE]) == [ONE]
    store.batches.settle("b", {ONE: {"answer": "yes"}})
    later = AT + timedelta(days=30)
    store.batches.forget(later)
    assert [call.id for call in store.batches.answered(10)] == [ONE]
    store.batches.use([ONE])
    store.batches.forget(later)
    assert store.batches.outcomes([ONE]) == {}
