"""Which field of a span or a line is what: the file with which a team says where its groups are."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.conventions.messages import label_of

GROUP, FACT = "biaswatch.group.", "biaswatch.fact."
"""Attributes that name a group or a fact by themselves, without any mapping."""


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


FieldNames = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""A name of a field, or several: the first that has a value counts. A dot leads into objects."""
UNITS = ("biaswatch.unit", "enduser.pseudo.id", "enduser.id", "user.id", "langfuse.user.id",
         "traceloop.association.properties.user_id", "session.id", "langfuse.session.id",
         "gen_ai.conversation.id")  # fmt: skip
"""Where conventions name the user, and then the conversation."""


class FieldMapping(BaseModel):
    """Which field is what; a group is what a field says, and is never inferred."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    id: FieldNames = ()
    """The answer's own name; without it, trace and span."""
    time: FieldNames = ()
    """When the answer was given: ISO 8601, or Unix time in seconds, milliseconds or nanoseconds."""
    prompt: FieldNames = ()
    """What the user said: text, or messages."""
    text: FieldNames = ()
    """The answer."""
    reason: FieldNames = ()
    """Why there is no answer."""
    unit: FieldNames = UNITS
    """The user or the conversation."""
    groups: dict[Name, FieldNames] = {}
    """By dimension."""
    strata: dict[Name, FieldNames] = {}
    """Facts within which monitors may compare, by name."""
    model: FieldNames = ()
    """What answered."""
    prompts: bool = True
    """Whether what users said may be stored."""
    share: float = Field(default=1.0, gt=0, le=1)
    """Which share of the units is taken in: all answers of one, or none."""

    def takes(self, unit: str) -> bool:
        """Tell whether a unit is in the share, which is always the same."""
        if self.share >= 1:
            return True
        drawn = int.from_bytes(hashlib.sha256(unit.encode()).digest()[:8])
        return drawn < self.share * 2**64


class MappingFile(FieldMapping):
    """A mapping for every source, and others for some."""

    source: FieldNames = ("service.name",)
    """The attribute that names the live system."""
    sources: dict[Token, FieldMapping] = {}
    """Mappings of single systems, in place of the one for all."""

    def of(self, source: str) -> FieldMapping:
        """Return the mapping of a source."""
        return self.sources.get(source, self)


def value_at(fields: Mapping[str, Any], names: FieldNames) -> Any:
    """Return the first of these fields that has a value; None where none has."""
    for name in names:
        found = fields.get(name)
        if found is None and "." in name:
            found = _in_objects(fields, name.split("."))
        if found is not None and found != "":
            return found
    return None


def _in_objects(fields: Mapping[str, Any], path: list[str]) -> Any:
    """Return what lies inside the field with the longest name that the path begins with."""
    for length in range(len(path) - 1, 0, -1):
        if (holder := fields.get(".".join(path[:length]))) is not None:
            return _inside(holder, path[length:])
    return None


def _inside(value: Any, path: list[str]) -> Any:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def labels_at(fields: Mapping[str, Any], wanted: Mapping[str, FieldNames]) -> dict[str, str]:
    """Return the labels that the named fields have."""
    found = {name: label_of(value_at(fields, names)) for name, names in wanted.items()}
    return {name: label for name, label in found.items() if label is not None}


def declared_labels(fields: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Return the labels of attributes that begin with `biaswatch.group.` or its like."""
    found = {
        name[len(prefix) :]: label_of(value)
        for name, value in fields.items()
        if name.startswith(prefix)
    }
    return {name: label for name, label in found.items() if name and label is not None}
