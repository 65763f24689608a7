"""Purging on both databases: texts go, numbers stay, and nothing comes back."""

from datetime import UTC, datetime, timedelta

from shared.contracts import Features, Response
from shared.store import Store
from tests.support.records import AT, RUN_ID, make_features, make_probe, make_response

NOW = datetime(2026, 2, 1, tzinfo=UTC)


def test_a_purged_run_keeps_its_numbers_and_loses_its_texts(store: Store) -> None:
    other = make_probe(2, run_id="f" * 32)
    store.records.write([make_response(1), make_features(1), make_response(2, probe=other)])
    assert store.purges.run(RUN_ID, NOW) == 3  # the answer, the question, the baseline
    [read] = store.records.read(Response, run_id=RUN_ID)
    assert (read.text, read.probe.messages, read.probe.baseline) == (None, (), None)
    assert read.id == make_response(1).id
    assert read.usage == make_response(1).usage
    assert list(store.records.read(Features, run_id=RUN_ID)) == [make_features(1)]
    [kept] = store.records.read(Response, run_id="f" * 32)
    assert kept.text == make_response(2).text


def test_a_late_copy_brings_no_purged_text_back(store: Store) -> None:
    store.records.write([make_response(1)])
    store.purges.run(RUN_ID, NOW)
    store.records.write([make_response(1), make_response(2)])
    assert [r.text for r in store.records.read(Response, run_id=RUN_ID)] == [None, None]


def test_a_unit_can_be_purged_by_itself(store: Store) -> None:
    store.records.write([make_response(1), make_response(2)])
    assert store.purges.unit("prompt-1", NOW) == 3
    texts = {r.probe.unit_id: r.text for r in store.records.read(Response, run_id=RUN_ID)}
    assert texts == {"prompt-1": None, "prompt-2": make_response(2).text}


def test_texts_before_a_date_can_be_purged(store: Store) -> None:
    later = AT + timedelta(days=2)
    store.records.write(
        [make_response(1), make_response(2, at=later, probe=make_probe(2, at=later))]
    )
    assert store.purges.before(AT + timedelta(days=1), NOW) == 3
    assert store.purges.before(AT + timedelta(days=1), NOW) == 0
    texts = {r.probe.key: r.text for r in store.records.read(Response, run_id=RUN_ID)}
    assert texts == {"probe-1": None, "probe-2": make_response(2).text}


def test_purging_what_is_not_there_is_not_an_error(store: Store) -> None:
    assert store.purges.run("e" * 32, NOW) == 0
