"""Many rows at once, on both databases: what is new is written, what is there stays."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import select

from biaswatch.shared.contracts import Features
from biaswatch.shared.store import Store
from biaswatch.shared.store.engine import read_transaction, write_transaction
from biaswatch.shared.store.statements import (
    MAX_BYTES,
    MAX_ROWS,
    ROWS_PER_STATEMENT,
    insert_missing,
    insert_records,
)
from biaswatch.shared.store.tables import RECORDS, TEXTS
from tests.support.records import make_features, make_response

FEATURES = RECORDS[Features.kind]
AT = datetime(2026, 3, 4, 5, 6, 7, 890123, tzinfo=timezone(timedelta(hours=2)))


def row(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "record_id": f"{number:032x}", "field": "text", "tenant": "default", "kind": "response",
        "run_id": None, "unit_id": "ü'\"%s\\", "at": AT, "body": '"a"', "unit_part": 3,
        **fields,
    }  # fmt: skip


def bodies(store: Store) -> dict[str, str]:
    with read_transaction(store.engine) as connection:
        query = select(TEXTS.c.record_id, TEXTS.c.body).order_by(TEXTS.c.record_id)
        return {item.record_id: item.body for item in connection.execute(query)}


def test_rows_are_kept_as_they_are(store: Store) -> None:
    body = '"\\u0000 \\ud83d \U0001f648 {}[]:,% \\n"'
    with write_transaction(store.engine) as connection:
        insert_missing(connection, TEXTS, [row(1, body=body), row(2, run_id="r")])
    with read_transaction(store.engine) as connection:
        first, second = (
            dict(mapping)
            for mapping in connection.execute(select(TEXTS).order_by(TEXTS.c.record_id)).mappings()
        )
    assert first == row(1, body=body) | {"at": AT.astimezone(UTC)}
    assert second == row(2, run_id="r") | {"at": AT.astimezone(UTC)}


@pytest.mark.parametrize(
    "rows",
    [1, ROWS_PER_STATEMENT - 1, ROWS_PER_STATEMENT, ROWS_PER_STATEMENT + 1, 3 * ROWS_PER_STATEMENT],
)
def test_every_row_is_there_however_many_a_statement_takes(store: Store, rows: int) -> None:
    given = [row(n, body=f'"{n}"') for n in range(rows)]
    with write_transaction(store.engine) as connection:
        insert_missing(connection, TEXTS, given[: rows // 2 + 1])
        insert_missing(connection, TEXTS, [*given, row(0, body='"later"')])
    assert bodies(store) == {item["record_id"]: item["body"] for item in given}


@pytest.mark.parametrize("at", [AT, AT.replace(microsecond=0), datetime.min.replace(tzinfo=UTC)])
def test_a_moment_is_found_again_as_it_was_written(store: Store, at: datetime) -> None:
    with write_transaction(store.engine) as connection:
        insert_missing(connection, TEXTS, [row(1, at=at)])
    with read_transaction(store.engine) as connection:
        assert connection.scalar(select(TEXTS.c.at).where(TEXTS.c.at == at)) == at


def test_what_is_there_stays_and_only_what_is_new_is_named(store: Store) -> None:
    store.records.write([make_features(1), make_features(3)])
    rows = [
        {
            "id": make_features(n).id, "tenant": "default", "purpose": "study", "lane": "words",
            "run_id": make_features(n).run_id, "unit_id": "u", "at": AT, "probe_id": "p",
            "response_id": "r", "extractor": "words", "extractor_version": "1", "body": "{}",
        }
        for n in range(5)
    ]  # fmt: skip
    with write_transaction(store.engine) as connection:
        new = insert_records(connection, FEATURES, rows)
    assert new == [make_features(n).id for n in (0, 2, 4)]
    assert next(store.records.get(Features, [make_features(3).id])) == make_features(3)


@pytest.mark.parametrize("rows", [0, 1, MAX_ROWS, MAX_ROWS + 1])
def test_any_number_of_rows_is_written(store: Store, rows: int) -> None:
    with write_transaction(store.engine) as connection:
        insert_missing(connection, TEXTS, [row(n) for n in range(rows)])
    assert len(bodies(store)) == rows


def test_texts_larger_than_a_statement_are_written_whole(store: Store) -> None:
    large = ["x" * size for size in (10, MAX_BYTES + 5, MAX_BYTES - 1, 3, MAX_BYTES // 2)]
    with write_transaction(store.engine) as connection:
        insert_missing(connection, TEXTS, [row(n, body=body) for n, body in enumerate(large)])
    assert list(bodies(store).values()) == large


def test_a_moment_without_a_zone_is_refused(store: Store) -> None:
    naive = row(1, at=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
    with (
        pytest.raises(ValueError, match="without a zone"),
        write_transaction(store.engine) as connection,
    ):
        insert_missing(connection, TEXTS, [naive])
    assert not bodies(store)


def test_texts_are_read_back_whatever_they_hold(store: Store) -> None:
    response = make_response(text='"\\ \u2028 \x01 \x00 \U0001f648 %s ? :a', reason=None)
    store.records.write([response])
    assert next(store.records.get(type(response), [response.id])) == response
