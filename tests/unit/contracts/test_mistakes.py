"""What is wrong with what somebody wrote is said in plain words, and never repeated."""

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from shared.contracts.mistakes import Mistake, first_mistake


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    words: tuple[str, ...] = Field(default=("a",), min_length=1)
    number: float = 0.0
    times: int = 0
    names: dict[str, str] = {}

    @field_validator("times")
    @classmethod
    def _even(cls, times: int) -> int:
        if times % 2:
            raise ValueError("people come in pairs")
        return times


class Outer(BaseModel):
    inner: list[Inner]


def mistake(fields: object) -> Mistake:
    with pytest.raises(ValidationError) as wrong:
        Outer.model_validate(fields)
    return first_mistake(wrong.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"wrods": 1}, "inner.0.wrods: there is no such field"),
        ({"words": "secret"}, "inner.0.words: this must be a list"),
        ({"words": []}, "inner.0.words: this must not be empty"),
        ({"words": [7]}, "inner.0.words.0: this must be text; in YAML, put it into quotes"),
        ({"number": "secret"}, "inner.0.number: this must be a number"),
        ({"times": 1.5}, "inner.0.times: this must be a whole number"),
        ({"times": "secret"}, "inner.0.times: this must be a whole number"),
        ({"times": 3}, "inner.0.times: people come in pairs"),
        ({"names": ["secret"]}, "inner.0.names: this must be a mapping of names to values"),
    ],
)
def test_a_mistake_is_named_by_its_way_and_in_plain_words(
    fields: dict[str, object], said: str
) -> None:
    assert mistake({"inner": [fields]}).in_words("all of it") == said


def test_where_all_is_wrong_the_whole_is_named() -> None:
    assert mistake(["secret"]).in_words("all of it") == (
        "all of it: this must be a mapping of fields to values"
    )
    assert mistake({}).in_words("all of it") == "inner: this is missing"


def test_names_of_kinds_that_nobody_wrote_are_left_out_of_the_way() -> None:
    found = Mistake(("sources", 1, "wikipedia", "page"), "missing", "this is missing")
    written = {"sources": [{}, {"kind": "wikipedia", "title": "x"}]}
    assert found.within(written).field == "sources.1.page"
    assert found.within("nothing of the kind").field == "page"
