"""On which answers people differ: about the same number, the widest apart first."""

from typing import Any

from biaswatch.cli.labels import disagreements
from biaswatch.shared.requests.labels import StoredLabel
from tests.support.records import AT

ONE, OTHER = "a" * 32, "b" * 32


def label(id_: str, person: str, value: float | None, feature: str = "own_a") -> StoredLabel:
    common: dict[str, Any] = {"extractor": "oracle", "instructions": "1", "note": "", "at": AT}
    return StoredLabel(
        response_id=id_, person=person, value=value, feature=feature, probability=None, **common
    )


def test_people_differ_on_the_same_number_of_the_same_answer() -> None:
    labels = [
        *(label(ONE, "anna", 0.5), label(ONE, "ben", 0.25)),
        *(label(OTHER, "anna", 1.0), label(OTHER, "ben", 0.0), label(OTHER, "eve", None)),
    ]
    assert disagreements(labels) == {OTHER: ["ben 0", "anna 1"], ONE: ["ben 0.25", "anna 0.5"]}
    assert list(disagreements(labels)) == [OTHER, ONE]


def test_what_one_person_says_of_two_statements_about_a_pair_is_no_disagreement() -> None:
    assert disagreements([label(ONE, "anna", 1.0), label(ONE, "anna", 0.0, "own_b")]) == {}
