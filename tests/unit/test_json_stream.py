"""A JSON object that is read as it comes gives what reading it whole gives."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.json_stream import MAX_VALUE_CHARACTERS, ListInObject

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


def read(data: bytes, *, piece: int) -> tuple[list[Any], dict[str, Any]]:
    reader = ListInObject("items", json.JSONDecoder())
    items: list[Any] = []
    starts = range(0, max(1, len(data)), piece)
    for start in starts:
        items += reader.read(data[start : start + piece], last=start == starts[-1])
    return items, reader.fields


@given(
    st.dictionaries(st.text(max_size=6), values, max_size=4),
    st.lists(values, max_size=6),
    st.integers(1, 40),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_it_gives_the_same_items_and_fields_in_whatever_pieces_it_comes(
    fields: dict[str, Any], items: list[Any], piece: int, indent: int | None, first: bool
) -> None:
    fields.pop("items", None)
    whole = {"items": items, **fields} if first else {**fields, "items": items}
    text = json.dumps(whole, indent=indent, ensure_ascii=first)
    assert read(text.encode(), piece=piece) == (items, fields)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "{", "[]", "7", '{"items": [1, 2', '{"items": [1,]}', '{"items": [1 2]}'),
        *('{"a": 1,}', '{"a" 1}', "{1: 2}", '{"a": nothing}', "{} {}", '{"items": []]', '{"a": "'),
    ],
)
@pytest.mark.parametrize("piece", [1, 100])
def test_what_is_no_such_object_is_refused(text: str, piece: int) -> None:
    with pytest.raises(json.JSONDecodeError):
        read(text.encode(), piece=piece)


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        read(b'{"a": "\xff"}', piece=3)
    with pytest.raises(UnicodeDecodeError):
        read(b'{"a": "\xc3', piece=100)


def test_a_list_that_is_no_list_is_a_field_and_a_second_one_is_refused() -> None:
    assert read(b'{"items": 5}', piece=2) == ([], {"items": 5})
    with pytest.raises(UsageError, match="two lists items"):
        read(b'{"items": [1], "items": [2]}', piece=5)


def test_a_value_that_never_ends_is_not_waited_for() -> None:
    endless = b'{"items": ["' + b"x" * (MAX_VALUE_CHARACTERS + 10)
    reader = ListInObject("items", json.JSONDecoder())
    with pytest.raises(UsageError, match="more than 2 MiB"):
        list(reader.read(endless, last=False))
