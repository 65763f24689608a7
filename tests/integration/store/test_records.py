"""Records in the store, on both databases."""

import json
import multiprocessing
from datetime import datetime, timedelta
from multiprocessing.synchronize import Event

import pytest
from sqlalchemy import select

from biaswatch.shared.contracts import (
    ROUTES,
    Completion,
    Diagnosis,
    Ending,
    Features,
    Message,
    Probe,
    Purpose,
    Record,
    Response,
    Role,
    Run,
)
from biaswatch.shared.store import Store
from biaswatch.shared.store.tables import RECORDS, metadata
from tests.support.records import (
    AT,
    RUN_ID,
    make_assessment,
    make_completion,
    make_diagnosis,
    make_features,
    make_probe,
    make_response,
    make_run,
)


def every_kind() -> list[Record]:
    return [
        make_run(),
        make_probe(9),
        make_response(1),
        make_features(1),
        make_completion(),
        make_diagnosis(),
        make_assessment(),
    ]


def test_every_record_comes_back_as_it_was_written(store: Store) -> None:
    store.records.write(every_kind())
    assert list(store.records.get(Run, [make_run().id])) == [make_run()]
    assert list(store.records.get(Probe, [make_probe(9).id])) == [make_probe(9)]
    assert list(store.records.read(Response, run_id=RUN_ID)) == [make_response(1)]
    assert list(store.records.read(Features, run_id=RUN_ID)) == [make_features(1)]
    assert list(store.records.read(Completion, run_id=RUN_ID)) == [make_completion()]
    assert list(store.records.read(Diagnosis, run_id=RUN_ID)) == [make_diagnosis()]


def test_the_latest_records_of_a_purpose_are_given_the_latest_first(store: Store) -> None:
    moments = [AT + timedelta(minutes=minute) for minute in (3, 1, 2, 0)]
    asked = [make_run(at=at, nonce=str(n)) for n, at in enumerate(moments)]
    store.records.write([*asked, make_run(purpose=Purpose.MONITOR, at=AT + timedelta(days=1))])
    result = store.records.latest(Run, 3, purpose=Purpose.STUDY)
    assert [run.nonce for run in result] == ["0", "2", "1"]


def test_a_null_feature_stays_null_and_does_not_become_nothing_or_zero(store: Store) -> None:
    store.records.write([make_features(1, values={"a": None, "b": 0.0})])
    [read] = store.records.read(Features, run_id=RUN_ID)
    assert read.values == {"a": None, "b": 0.0}


def test_writing_again_changes_nothing_and_is_counted(store: Store) -> None:
    first = store.records.write([make_response(1), make_response(1)])
    again = store.records.write([make_response(1, text="Another answer.")])
    assert first.new == {"probe": 1, "response": 1}
    assert again.new.total() == 0
    assert again.known == {"probe": 1, "response": 1}
    [read] = store.records.read(Response, run_id=RUN_ID)
    assert read.text == make_response(1).text


def test_the_probe_inside_a_response_is_a_row_of_its_own_and_stands_once(store: Store) -> None:
    store.records.write([make_response(1)])
    assert store.records.count(Probe, run_id=RUN_ID) == 1
    assert list(store.records.get(Probe, [make_probe(1).id])) == [make_probe(1)]


def test_pages_are_read_whole_and_in_order(store: Store) -> None:
    written = [make_response(n) for n in range(1203)]
    store.records.write(written)
    read = list(store.records.read(Response, run_id=RUN_ID))
    assert [r.id for r in read] == sorted(r.id for r in written)
    assert {r.text for r in read} == {r.text for r in written}


def test_missing_names_the_ids_that_are_not_there(store: Store) -> None:
    store.records.write([make_response(n) for n in range(700)])
    wanted = [make_response(n).id for n in range(1400)]
    assert store.records.missing(Response, wanted) == {
        make_response(n).id for n in range(700, 1400)
    }


def test_hostile_text_is_only_text(store: Store) -> None:
    hostile = "'); DROP TABLE text; -- \x00 \ud7ff 🙈 \u202e {{7*7}} %s :x ?"
    store.records.write([make_response(1, text=hostile)])
    [read] = store.records.read(Response, run_id=RUN_ID)
    assert read.text == hostile


def test_no_text_stands_anywhere_but_among_the_texts(store: Store) -> None:
    secret = "zebra-crossing-at-dawn"
    probe = make_probe(
        1,
        messages=(Message(role=Role.USER, content=secret),),
        variables={"cv": secret},
        baseline=secret,
        expected=secret,
    )
    response = make_response(
        1, probe=probe, text=secret, detail=secret, ending=Ending.REFUSED, reason="policy"
    )
    store.records.write([response])
    with store.engine.connect() as connection:
        holding = {
            table.name
            for table in metadata.sorted_tables
            for row in connection.execute(select(table))
            if secret in str(row)
        }
    assert holding == {"text"}


def test_a_time_without_a_zone_is_refused(store: Store) -> None:
    with pytest.raises(Exception, match="zone"):
        store.purges.before(datetime(2026, 1, 1), datetime(2026, 1, 1))  # noqa: DTZ001


def test_every_kind_of_record_that_is_kept_has_its_table() -> None:
    recorded = {route.record.kind for route in ROUTES if "recorder" in route.consumers}
    assert recorded | {Probe.kind} == set(RECORDS)


def test_a_body_is_json_that_any_tool_can_read(store: Store) -> None:
    store.records.write([make_response(1)])
    with store.engine.connect() as connection:
        body = connection.exec_driver_sql("SELECT body FROM response").scalar_one()
    assert json.loads(body)["finish_reason"] == "stop"


def _write_until_killed(url: str, ready: Event) -> None:
    with Store.open(url) as store:
        for start in range(0, 100_000, 50):
            store.records.write([make_response(n) for n in range(start, start + 50)])
            ready.set()


def test_a_writer_killed_at_any_moment_leaves_whole_records_that_can_be_written_again(
    store_url: str,
) -> None:
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    writer = context.Process(target=_write_until_killed, args=(store_url, ready))
    writer.start()
    assert ready.wait(30)
    writer.kill()
    writer.join()
    with Store.open(store_url) as store:
        before = store.records.count(Response)
        assert before >= 50
        assert store.records.count(Probe) == before
        assert all(r.text for r in store.records.read(Response, run_id=RUN_ID))
        store.records.write([make_response(n) for n in range(before + 100)])
        assert store.records.count(Response) == before + 100


def _write_all(url: str, reverse: bool) -> None:
    numbers = range(300, -1, -1) if reverse else range(301)
    with Store.open(url) as store:
        for n in numbers:
            store.records.write([make_response(n), make_response(300 - n)])


def test_two_writers_of_the_same_records_neither_double_nor_block_one_another(
    store_url: str,
) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_all, args=(store_url, r)) for r in (False, True)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    with Store.open(store_url) as store:
        assert store.records.count(Response) == 301
