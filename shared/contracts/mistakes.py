"""The first thing that is wrong with what somebody wrote or sent: where it is, in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

PLAIN_WORDS = {
    "missing": "this is missing",
    "extra_forbidden": "there is no such field",
    "string_type": "this must be text; in YAML, put it into quotes",
    "tuple_type": "this must be a list",
    "list_type": "this must be a list",
    "dict_type": "this must be a mapping of names to values",
    "model_type": "this must be a mapping of fields to values",
    "model_attributes_type": "this must be a mapping of fields to values",
    "too_short": "this must not be empty",
    "int_type": "this must be a whole number",
    "int_parsing": "this must be a whole number",
    "int_from_float": "this must be a whole number",
    "float_type": "this must be a number",
    "float_parsing": "this must be a number",
    "json_invalid": "this is not JSON",
}
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
        return ".".join(map(str, self.loc))

    def within(self, whole: Any) -> "Mistake":
        """Leave out of the way what the checker put there and nobody wrote: names of kinds."""
        return Mistake(tuple(_written(self.loc, whole)), self.kind, self.said)

    def in_words(self, whole: str) -> str:
        """Say where it is and what is wrong; `whole` names all of it, without a way to it."""
        return f"{self.field or whole}: {self.said}"


def first_mistake(error: ValidationError) -> Mistake:
    """Give the first mistake that was found."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return mistake_of(first)


def mistake_of(details: Mapping[str, Any]) -> Mistake:
    """Give a mistake from the checker's details of it."""
    kind, said = str(details["type"]), str(details["msg"])
    return Mistake(tuple(details["loc"]), kind, PLAIN_WORDS.get(kind) or said.removeprefix(OURS))


def _written(loc: Sequence[int | str], whole: Any) -> Sequence[int | str]:
    found = []
    for part in loc[:-1]:
        inner = _inner(whole, part)
        if inner is not None:
            found.append(part)
            whole = inner
    return [*found, *loc[-1:]]


def _inner(whole: Any, part: int | str) -> Any:
    if isinstance(whole, Mapping):
        return whole.get(part)
    inside = isinstance(part, int) and isinstance(whole, list | tuple) and part < len(whole)
    return whole[part] if inside else None
