"""Values of a reply become bounded ones, or none; nothing becomes another value in silence."""

import json
import math

import pytest

from biaswatch.shared.llm.port import CallFailed, Failure
from biaswatch.shared.llm.replies import (
    MAX_LABEL_CHARACTERS,
    MAX_TOKENS,
    at,
    count_of,
    json_of,
    label_of,
    shortened,
    storable,
)


@pytest.mark.parametrize("value", [0, 3, 3.0, MAX_TOKENS])
def test_a_number_of_tokens_is_taken_as_it_is(value: float) -> None:
    assert count_of(value) == value


@pytest.mark.parametrize(
    "value", [-1, 1.5, math.nan, math.inf, 10**30, MAX_TOKENS + 1, "3", True, None, [3], {"n": 3}]
)
def test_what_is_no_number_of_tokens_is_unknown(value: object) -> None:
    assert count_of(value) is None


def test_half_a_pair_of_characters_becomes_a_mark_and_a_whole_pair_stays() -> None:
    assert storable("a\ud800b\U0001f600") == "a\ufffdb\U0001f600"
    json.dumps(storable("\udfff"), ensure_ascii=False).encode()


def test_names_are_one_line_of_bounded_length_or_none() -> None:
    assert label_of("gpt-5") == "gpt-5"
    assert label_of("m\r\n\x1b[31m") == "m\ufffd\ufffd\ufffd[31m"
    long = label_of("x" * 2**21)
    assert long is not None
    assert len(long) == MAX_LABEL_CHARACTERS + 1
    none: list[object] = [None, "", 7, ["stop"], {}]
    assert [label_of(value) for value in none] == [None] * 5


def test_a_long_refusal_says_how_long_it_was() -> None:
    assert shortened("No.") == "No."
    assert shortened("x" * 3000).endswith("… (3,000 characters in all)")


def test_a_place_that_is_not_there_is_none() -> None:
    document = {"choices": [{"message": {"content": "Yes."}}]}
    assert at(document, "choices", 0, "message", "content") == "Yes."
    for path in (("choices", 1), ("choices", "x"), ("choices", 0, 0), ("x", "y"), (0,)):
        assert at(document, *path) is None


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 200_000, b"\xff", b"1" * 5000])
def test_what_is_no_json_is_garbage_that_was_paid_for(body: bytes) -> None:
    with pytest.raises(CallFailed) as failed:
        json_of(body, "The provider's")
    assert (failed.value.why, failed.value.tokens) == (Failure.GARBAGE, (None, None))
