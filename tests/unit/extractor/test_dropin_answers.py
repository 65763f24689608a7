"""What a drop-in extractor answers counts for the texts it was asked about, each once."""

import json
from typing import Any

import pytest

from biaswatch.services.extractor.domain.dropin_protocol import outcomes_of, spec_of
from biaswatch.shared.contracts.dropin import CONTRACT

SPEC = spec_of(
    json.dumps(
        {"contract": CONTRACT, "name": "letters", "version": "1.0.0", "features": ["letters"],
         "max_batch": 8, "about": "Counts letters.", "instrument": "code"}
    ).encode()
)  # fmt: skip
GOOD = {"id": "0", "values": {"letters": 3}}


def reasons(*results: Any, texts: int = 2) -> list[str | None]:
    answer = json.dumps({"version": "1.0.0", "results": list(results)})
    return [reason for _, reason in outcomes_of(answer.encode(), SPEC, texts)]


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ({"id": "0", "values": {"letters": 4}}, "the extractor gave two results"),
        ({"id": 0, "unscorable": "no text"}, "the extractor gave two results"),
        ({"id": "2", "values": {"letters": 4}}, None),
        ({"id": "-1", "values": {"letters": 4}}, None),
        ({"id": "0\n", "values": {"letters": 4}}, None),
        ({"id": ["0"], "values": {"letters": 4}}, None),
        ("0", None),
    ],
)
def test_two_results_are_none_and_those_of_other_texts_are_nobodys(
    second: Any, why: str | None
) -> None:
    assert reasons(GOOD, second) == [why, "the extractor gave no result"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, "3", True, [3], {}])
def test_what_is_no_finite_number_costs_its_text_alone(value: Any) -> None:
    result = reasons({"id": "1", "values": {"letters": value}}, GOOD)
    assert result[0] is None
    assert result[1]


def test_more_results_than_texts_are_not_kept() -> None:
    many = ({"id": str(number), "values": {"letters": 1}} for number in range(20_000))
    assert reasons(*many, texts=1) == [None]
