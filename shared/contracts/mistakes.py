"""The first thing that is wrong with what somebody wrote or sent: where it is, in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from shared.contracts.identity import ID_PATTERN, TOKEN_PATTERN

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
"""What is said instead of the checker's own words, with what it knows of its limits."""

FEW_LETTERS = "this must be made of letters, digits, _ and - alone"
AN_ID = "this must be an id: 32 digits and letters from a to f"
ASKS, LISTENS = "<asks>", "<listens>"
KINDS = {ASKS, LISTENS}
"""Kinds of a thing, which the checker puts into the way and nobody wrote."""

OURS = "Value error, "
"""What the checker puts before a sentence of ours."""


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong; what was written there is never repeated."""

    loc: tuple[int | str, ...]
    """The way to it: fields, and places in lists counted from 0."""
    kind: str
    """The checker's name for what is wrong."""
    said: str
    """What is wrong, to follow a colon."""

    @property
    def field(self) -> str:
        """The way to it with dots; empty where all of it is wrong."""
        return ".".join(str(part) for part in self.loc if part not in KINDS)

    def in_words(self, whole: str) -> str:
        """Say where it is and what is wrong; `whole` names all of it, without a way to it."""
        return f"{self.field or whole}: {self.said}"


def first_mistake(error: ValidationError) -> Mistake:
    """Return the first mistake that was found."""
    return first_of(error.errors(include_url=False, include_input=False))


def first_of(found: Sequence[Mapping[str, Any]]) -> Mistake:
    """Return the first mistake of the checker's list; what is missing may only be misspelt."""
    loc, kind = tuple(found[0]["loc"]), str(found[0]["type"])
    said = _said(kind, found[0].get("ctx", {}), str(found[0]["msg"]))
    unknown = [each["loc"] for each in found if each["type"] == "extra_forbidden"]
    beside = [other[-1] for other in unknown if tuple(other[:-1]) == loc[:-1]]
    if kind == "missing" and beside:
        said += f", and there is no field {beside[0]}"
    return Mistake(loc, kind, said)


def _said(kind: str, limits: Mapping[str, Any], words: str) -> str:
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
