"""Misspelt fields of suites; other unknown fields are ignored, like columns of one's own."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from biaswatch.shared.contracts import Message, ReplyCondition, Suite, SuiteProbe
from biaswatch.shared.contracts.tools import ScriptedResult, Tool
from biaswatch.shared.errors import UsageError

SIMILAR = 0.8
"""Least similarity of a misspelt name, as difflib measures it."""
INNER: Mapping[type[BaseModel], Mapping[str, type[BaseModel]]] = {
    Suite: {"tools": Tool, "probes": SuiteProbe},
    Tool: {"results": ScriptedResult},
    SuiteProbe: {"messages": Message},
    Message: {"when": ReplyCondition},
}
"""Models of the parts of a model, by field."""


def check_spelling(fields: Mapping[str, Any], where: object) -> None:
    """Raise UsageError if a name resembles that of a field which is not given."""
    for place, name, meant in misspelt(fields, Suite):
        inside = f", {'.'.join(place)}" if place else ""
        raise UsageError(f"{where}{inside}: there is no field {name!r}. Is {meant!r} meant?")


def misspelt(
    fields: Mapping[str, Any], model: type[BaseModel], place: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield the place of each misspelt field, its name, and the name that is meant."""
    absent = tuple(name for name in model.model_fields if name not in fields)
    for name in fields:
        if name not in model.model_fields and isinstance(name, str):
            for meant in _similar(name, absent):
                yield place, name, meant
    for name, inner in INNER.get(model, {}).items():
        value = fields.get(name)
        parts = value if isinstance(value, list) else [value]
        for number, part in enumerate(parts):
            if isinstance(part, dict):
                at = (name, str(number)) if isinstance(value, list) else (name,)
                yield from misspelt(part, inner, (*place, *at))


@lru_cache(1000)
def _similar(name: str, known: tuple[str, ...]) -> list[str]:
    """Return the most similar name, if any; probes share their fields, so answers are kept."""
    return get_close_matches(name, known, 1, SIMILAR)
