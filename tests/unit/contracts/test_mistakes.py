"""What is wrong with what somebody wrote is said in plain words, and never repeated."""

from typing import Literal

import pytest
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from biaswatch.services.notifier.secrets import SecretReference
from biaswatch.shared.contracts.identity import Token
from biaswatch.shared.contracts.mistakes import ASKS, Mistake, first_mistake


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    words: tuple[str, ...] = Field(default=("a",), min_length=1)
    number: float = Field(default=0.0, allow_inf_nan=False)
    fair: bool = True
    colour: Literal["red", "blue"] = "red"
    at: AwareDatetime | None = None
    name: Token = "x"
    three: tuple[int, ...] = Field(default=(1, 2, 3), min_length=3)
    times: int = Field(default=0, ge=0, lt=10)
    names: dict[str, str] = {}

    @field_validator("times")
    @classmethod
    def _even(cls, times: int) -> int:
        if times % 2:
            raise ValueError("people come in pairs")
        return times


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    inner: list[Inner]


def mistake(fields: object) -> Mistake:
    with pytest.raises(ValidationError) as wrong:
        Outer.model_validate(fields)
    return first_mistake(wrong.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"wrods": 1}, "inner.0.wrods: there is no such field"),
        ({"words": "secret"}, "inner.0.words: this must be a list"),
        ({"words": []}, "inner.0.words: this must not be empty"),
        ({"words": [7]}, "inner.0.words.0: this must be text, in quotes"),
        ({"number": "secret"}, "inner.0.number: this must be a number"),
        ({"times": 1.5}, "inner.0.times: this must be a whole number"),
        ({"times": "secret"}, "inner.0.times: this must be a whole number"),
        ({"times": 3}, "inner.0.times: people come in pairs"),
        ({"times": -2}, "inner.0.times: this must be at least 0"),
        ({"times": 12}, "inner.0.times: this must be below 10"),
        ({"number": float("nan")}, "inner.0.number: this must be a finite number"),
        ({"fair": "secret"}, "inner.0.fair: this must be true or false"),
        ({"colour": "secret"}, "inner.0.colour: this must be 'red' or 'blue'"),
        ({"at": "secret"}, "inner.0.at: this must be a moment, like 2026-11-21T09:14:03Z"),
        ({"name": "a b"}, "inner.0.name: this must be made of letters, digits, _ and - alone"),
        ({"three": [1, 2]}, "inner.0.three: this must have at least 3"),
        ({"names": ["secret"]}, "inner.0.names: this must be a mapping of names to values"),
    ],
)
def test_a_mistake_is_named_by_its_way_and_in_plain_words(
    fields: dict[str, object], message: str
) -> None:
    assert mistake({"inner": [fields]}).in_words("all of it") == message


def test_where_all_is_wrong_the_whole_is_named() -> None:
    assert mistake(["secret"]).in_words("all of it") == (
        "all of it: this must be a mapping of fields to values"
    )
    assert mistake({}).in_words("all of it") == "inner: this is missing"


def test_what_is_missing_is_named_with_what_stands_in_its_place() -> None:
    assert mistake({"iner": []}).in_words("all of it") == (
        "inner: this is missing, and there is no field iner"
    )
    nested = mistake({"inner": [{"wrods": 1}], "other": 1})
    assert nested.in_words("all of it") == "inner.0.wrods: there is no such field"


def test_names_of_kinds_that_nobody_wrote_are_left_out_of_the_way() -> None:
    result = Mistake((ASKS, "features", 1, "low"), "missing", "this is missing")
    assert result.in_words("the monitor") == "features.1.low: this is missing"
    assert Mistake((ASKS,), "model_type", "x").in_words("the monitor") == "the monitor: x"


def test_a_secret_that_is_written_out_is_refused_with_the_two_ways_to_refer_to_it() -> None:
    with pytest.raises(ValidationError) as wrong:
        SecretReference.model_validate("http://127.0.0.1/hook")
    message = first_mistake(wrong.value).in_words("url")
    assert message == "url: write {file: PATH} or {env: NAME} in place of the secret"
