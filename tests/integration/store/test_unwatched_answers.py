"""Counts of what nobody watches: they add up, by tenant, and a sender cannot make them many."""

from datetime import UTC, datetime, timedelta

import pytest

from biaswatch.shared.store import Store, answer_parts
from biaswatch.shared.store.answer_parts import WaitingPart
from biaswatch.shared.store.database import Scope

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


def counts(store: Store, tenant: str | None = None) -> dict[str, int]:
    content = store.scoped(lambda: Scope(tenant=tenant)).unwatched_answers.read()
    return {item.source: item.answers for item in content}


def test_counts_add_up_and_remember_the_first_and_the_last_moment(store: Store) -> None:
    store.unwatched_answers.count("ours", {"bot": 2, "": 1}, NOON)
    store.unwatched_answers.count("ours", {"bot": 3}, LATER)
    first = {item.source: item for item in store.unwatched_answers.read()}["bot"]
    assert (first.answers, first.first_at, first.last_at) == (5, NOON, LATER)
    assert counts(store) == {"bot": 5, "(no name)": 1}


def test_each_tenant_sees_its_own(store: Store) -> None:
    store.unwatched_answers.count("ours", {"bot": 2}, NOON)
    store.unwatched_answers.count("theirs", {"bot": 40, "desk": 1}, NOON)
    assert counts(store, "ours") == {"bot": 2}
    assert counts(store, "theirs") == {"bot": 40, "desk": 1}


def test_names_beyond_the_most_are_counted_together(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_parts, "MAX_SOURCES", 3)
    store.unwatched_answers.count("ours", {f"s{n}": 1 for n in range(5)}, NOON)
    store.unwatched_answers.count("ours", {"s0": 1, "s9": 1}, NOON)
    assert counts(store) == {"s0": 2, "s1": 1, "s2": 1, "(others)": 3}


def test_whoever_removes_the_parts_of_an_answer_counts_it(store: Store) -> None:
    part = WaitingPart("ours", "bot", "k", "p", NOON, is_span=True, answered=True, body="{}")
    store.answer_parts.keep([part])
    for _ in range(2):
        store.answer_parts.remove([part], {part.operation: 1})
    assert counts(store) == {"bot": 1}
