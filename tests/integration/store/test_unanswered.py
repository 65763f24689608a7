"""Why prompts of a run have no answer, as the store tells it, on both databases."""

from typing import Any

from biaswatch.shared.contracts import Ending, Purpose, Response
from biaswatch.shared.store import Store
from biaswatch.shared.store.database import Scope
from tests.support.records import RUN_ID, make_probe, make_response, make_target


def failed(number: int, detail: str, **fields: Any) -> Response:
    given = {"ending": Ending.FAILED, "reason": "bad_request", "text": None, "detail": detail}
    return make_response(**{**given, "probe": make_probe(number), **fields})


def counted(store: Store, purpose: Purpose = Purpose.STUDY) -> list[tuple[str | None, int]]:
    return [(reason.detail, prompts) for reason, prompts in store.unanswered.of(RUN_ID, purpose)]


def test_each_sentence_is_there_once_the_most_frequent_first(store: Store) -> None:
    store.records.write([failed(n, "No such model.") for n in range(5)])
    store.records.write([failed(n, "Too long.") for n in range(5, 7)])
    store.records.write([make_response(probe=make_probe(7))])
    assert counted(store) == [("No such model.", 5), ("Too long.", 2)]


def test_targets_are_told_apart(store: Store) -> None:
    other = make_target(name="openai:other", model="other")
    store.records.write([failed(1, "No such model.")])
    store.records.write([failed(2, "No such model.", probe=make_probe(2, target=other))])
    assert counted(store) == [("No such model.", 1), ("No such model.", 1)]


def test_answers_of_judges_are_not_those_of_the_run(store: Store) -> None:
    store.records.write([failed(1, "No such judge.", purpose=Purpose.JUDGE)])
    assert counted(store) == []


def test_who_may_not_read_texts_reads_no_sentence(store: Store) -> None:
    store.records.write([failed(1, "No such model.")])
    assert counted(store.scoped(lambda: Scope(texts=False))) == []


def test_another_tenant_reads_no_sentence(store: Store) -> None:
    store.records.write([failed(1, "No such model.")])
    assert counted(store.scoped(lambda: Scope(tenant="other"))) == []
