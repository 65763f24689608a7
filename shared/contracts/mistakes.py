"""The first mistake in a file, request or setting: where it is, in plain words."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from biaswatch.shared.contracts.identity import ID_PATTERN, TOKEN_PATTERN
from biaswatch.shared.errors import UsageError

PLAIN_WORDS = {
    "missing": "this is missing",
    "extra_forbidden": "there is no such field",
    "string_type": "this must be text, in quotes",
    "string_unicode": "this must be text that UTF-8 can hold",
    "tuple_type": "this must be a list",
    "list_type": "this must be a list",
    "dict_type": "this must be a mapping of names to values",
    "model_type": "this must be a mapping of fields to values",
    "model_attributes_type": "this must be a mapping of fields to values",
    "int_type": "this must be a whole number",
    "int_parsing": "this must be a whole number",
    "int_from_float": "this must be a whole number",
    "float_type": "this must be a number",
    "float_parsing": "this must be a number",
    "finite_number": "this must be a finite number",
    "bool_type": "this must be true or false",
    "bool_parsing": "this must be true or false",
    "datetime_type": "this must be a moment, like 2026-11-21T09:14:03Z",
    "datetime_parsing": "this must be a moment, like 2026-11-21T09:14:03Z",
    "datetime_from_date_parsing": "this must be a moment, like 2026-11-21T09:14:03Z",
    "timezone_aware": "this moment must have its zone, like 2026-11-21T09:14:03Z",
    "greater_than": "this must be above {gt}",
    "greater_than_equal": "this must be at least {ge}",
    "less_than": "this must be below {lt}",
    "less_than_equal": "this must be at most {le}",
    "enum": "this must be one of {expected}",
    "literal_error": "this must be {expected}",
    "too_long": "this must have at most {max_length} of them",
    "string_too_long": "this must have at most {max_length} characters",
    "string_pattern_mismatch": "this must be written like {pattern}",
    "json_invalid": "this is not JSON",
}
"""Plain words for pydantic's error types, with the limits it reports."""

FEW_LETTERS = "this must be made of letters, digits, _ and - alone"
AN_ID = "this must be an id: 32 digits and letters from a to f"
ASKS, LISTENS = "<asks>", "<listens>"
KINDS = {ASKS, LISTENS}
"""Tags of a union, which pydantic adds to the location."""

OURS = "Value error, "
"""Pydantic's prefix of the messages of our own validators."""


@dataclass(frozen=True)
class Mistake:
    """One mistake; the value that was written is never repeated."""

    loc: tuple[int | str, ...]
    """Its location: fields, and list positions counted from 0."""
    kind: str
    """Pydantic's error type."""
    sentence: str
    """The mistake, to follow a colon."""

    @property
    def field(self) -> str:
        """Its location with dots; empty where the whole value is wrong."""
        return ".".join(str(part) for part in self.loc if part not in KINDS)

    def in_words(self, whole: str) -> str:
        """Return location and mistake; `whole` names the value as a whole."""
        return f"{self.field or whole}: {self.sentence}"


def first_mistake(error: ValidationError) -> Mistake:
    """Return the first mistake of a validation error."""
    return first_of(error.errors(include_url=False, include_input=False))


@contextmanager
def as_usage_error(whole: str) -> Iterator[None]:
    """Turn a contradiction of a record into a mistake of the user; `whole` names the input."""
    try:
        yield
    except ValidationError as error:
        mistake = first_mistake(error)
        field = f", {mistake.field}" if mistake.field else ""
        raise UsageError(f"{whole}{field}: {mistake.sentence}.") from None


def first_of(errors: Sequence[Mapping[str, Any]]) -> Mistake:
    """Return the first of pydantic's errors; a missing field may only be misspelt."""
    loc, kind = tuple(errors[0]["loc"]), str(errors[0]["type"])
    words = _words(kind, errors[0].get("ctx", {}), str(errors[0]["msg"]))
    unknown = [error["loc"] for error in errors if error["type"] == "extra_forbidden"]
    neighbours = [other[-1] for other in unknown if tuple(other[:-1]) == loc[:-1]]
    if kind == "missing" and neighbours:
        words += f", and there is no field {neighbours[0]}"
    return Mistake(loc, kind, words)


def _words(kind: str, limits: Mapping[str, Any], words: str) -> str:
    if kind in {"too_short", "string_too_short"}:
        least = limits.get("min_length", 1)
        return "this must not be empty" if least == 1 else f"this must have at least {least}"
    if kind == "string_pattern_mismatch" and limits.get("pattern") == TOKEN_PATTERN:
        return FEW_LETTERS
    if kind == "string_pattern_mismatch" and limits.get("pattern") == ID_PATTERN:
        return AN_ID
    if plain := PLAIN_WORDS.get(kind):
        return plain.format_map(limits)
    return words.removeprefix(OURS)
