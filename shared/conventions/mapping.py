"""The mapping file of a team: which field of a span or a line holds what."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.conventions.messages import label_of, opened

GROUP, FACT = "biaswatch.group.", "biaswatch.fact."
"""Prefixes of attributes that hold a group or a fact without a mapping."""


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


FieldNames = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""One or several field names; the first with a value is used. Dots lead into objects."""
UNITS = ("biaswatch.unit", "enduser.pseudo.id", "enduser.id", "user.id", "langfuse.user.id",
         "traceloop.association.properties.user_id", "session.id", "langfuse.session.id",
         "gen_ai.conversation.id")  # fmt: skip
"""Attributes of conventions for the user, then for the conversation."""


class FieldMapping(BaseModel):
    """Fields of one source; groups are read from fields and never inferred."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    id: FieldNames = ()
    """The id of the answer; by default, trace and span."""
    time: FieldNames = ()
    """The time of the answer: ISO 8601, or Unix time in seconds, milliseconds or nanoseconds."""
    prompt: FieldNames = ()
    """The prompt: text or messages."""
    text: FieldNames = ()
    """The answer."""
    reason: FieldNames = ()
    """The reason for a missing answer."""
    unit: FieldNames = UNITS
    """The user or the conversation."""
    groups: dict[Name, FieldNames] = {}
    """The groups, by dimension."""
    strata: dict[Name, FieldNames] = {}
    """Facts within which monitors may compare, by name."""
    model: FieldNames = ()
    """The model."""
    prompts: bool = True
    """True if prompts may be stored."""
    share: float = Field(default=1.0, gt=0, le=1)
    """The share of units that is sampled, each with all of its answers."""

    def takes(self, unit: str) -> bool:
        """Tell whether a unit is sampled; the same unit always is or never is."""
        if self.share >= 1:
            return True
        digest = int.from_bytes(hashlib.sha256(unit.encode()).digest()[:8])
        return digest < self.share * 2**64


class MappingFile(FieldMapping):
    """The default mapping, and mappings of single sources."""

    source: FieldNames = ("service.name",)
    """The attribute with the name of the live system."""
    sources: dict[Token, FieldMapping] = {}
    """Mappings of single systems, which replace the default."""

    def of(self, source: str) -> FieldMapping:
        """Return the mapping of a source."""
        return self.sources.get(source, self)


def value_at(fields: Mapping[str, Any], names: FieldNames) -> Any:
    """Return the value of the first of these fields that has one, else None."""
    for name in names:
        value = fields.get(name)
        if value is None and "." in name:
            value = _in_objects(fields, name.split("."))
        if value is not None and value != "":
            return value
    return None


def _in_objects(fields: Mapping[str, Any], path: list[str]) -> Any:
    """Return the value at a path, below the field with the longest matching name."""
    for length in range(len(path) - 1, 0, -1):
        if (holder := fields.get(".".join(path[:length]))) is not None:
            return _inside(holder, path[length:])
    return None


def _inside(value: Any, path: list[str]) -> Any:
    for step in path:
        value = opened(value)
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def labels_at(fields: Mapping[str, Any], mapped: Mapping[str, FieldNames]) -> dict[str, str]:
    """Return the labels of the mapped fields that have one."""
    labels = {name: label_of(value_at(fields, names)) for name, names in mapped.items()}
    return {name: label for name, label in labels.items() if label is not None}


def declared_labels(fields: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Return the labels of attributes with a prefix such as `biaswatch.group.`."""
    labels = {
        name[len(prefix) :]: label_of(value)
        for name, value in fields.items()
        if name.startswith(prefix)
    }
    return {name: label for name, label in labels.items() if name and label is not None}
