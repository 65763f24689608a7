"""Conditions over many values, on both databases."""

import gc
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from biaswatch.shared.contracts import Response
from biaswatch.shared.store import Store
from biaswatch.shared.store.engine import read_transaction
from biaswatch.shared.store.statements import is_in
from biaswatch.shared.store.tables import RECORDS
from tests.support.records import make_response

UNITS = [
    '"quoted"',
    "it's",
    "back\\slash",
    "{braces, commas}",
    "naïve 試験 🙂",
    "NULL",
    "%s ? :p",
    "",
]


def units_among(store: Store, values: list[str]) -> list[str]:
    table = RECORDS["response"]
    query = select(table.c.unit_id).where(is_in(table.c.unit_id, values)).order_by(table.c.id)
    with read_transaction(store.engine) as connection:
        return [str(unit) for unit in connection.scalars(query)]


def test_exactly_the_rows_with_one_of_the_values_are_found_whatever_these_hold(
    store: Store,
) -> None:
    units = [unit for unit in UNITS if unit]
    responses = [make_response(n) for n, _ in enumerate(units)]
    store.records.write(
        response.model_copy(
            update={"probe": response.probe.model_copy(update={"unit_id": unit, "key": f"k{n}"})}
        )
        for n, (response, unit) in enumerate(zip(responses, units, strict=True))
    )
    assert sorted(units_among(store, UNITS)) == sorted(units)
    for unit in units:
        assert units_among(store, [unit]) == [unit]
    assert units_among(store, ["another", unit[:-1]]) == []


def test_nothing_is_among_no_values(store: Store) -> None:
    store.records.write([make_response(1)])
    assert units_among(store, []) == []


def test_a_thousand_values_are_one_parameter(store: Store) -> None:
    store.records.write([make_response(n) for n in range(5)])
    unit = make_response(3).unit
    assert units_among(store, [*(f"other-{n}" for n in range(5000)), unit]) == [unit]


@pytest.mark.parametrize("times", [1, 2])
def test_records_of_ids_that_fill_a_query_exactly_all_come(store: Store, times: int) -> None:
    records = [make_response(n) for n in range(500 * times)]
    store.records.write(records)
    ids = [record.id for record in records]
    response = store.records.get(type(records[0]), ids)
    assert [item.id for item in response] == sorted(ids)
    plain = store.records.bodies_of(type(records[0]), ids)
    assert set(plain) == set(ids)


READINGS: dict[str, Callable[[Store, list[str]], Any]] = {
    "get": lambda store, ids: list(store.records.get(Response, ids)),
    "bodies_of": lambda store, ids: store.records.bodies_of(Response, ids),
    "bodies_with_probes": lambda store, ids: store.records.bodies_with_probes(ids),
}


@pytest.mark.parametrize("reading", READINGS)
def test_what_was_asked_is_let_go_of_before_garbage_is_collected(
    store: Store, reading: str
) -> None:
    """Of a run of a million questions it took 150 MiB: garbage of few objects waits long."""
    records = [make_response(n) for n in range(3)]
    store.records.write(records)
    ids = [record.id for record in records]
    read = READINGS[reading]
    read(store, ids)  # what SQLAlchemy keeps of the statement itself
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            read(store, ids)
        assert gc.collect() < 20
    finally:
        gc.enable()
