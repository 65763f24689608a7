"""Declaration of a row format: recognition, reading and usual fields."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.conventions.contents import RecordedContent, reason_of, recorded
from biaswatch.shared.conventions.mapping import FieldMapping, FieldNames
from biaswatch.shared.conventions.messages import label_of, opened
from biaswatch.shared.conventions.outputs import output_of
from biaswatch.shared.conventions.signals import Fields


@dataclass(frozen=True)
class RowFormat:
    """Format of a log, or of the results of another tool."""

    is_row: Callable[[Fields], bool]
    """True for rows of this format; the first row of a file decides."""
    content: Callable[[Fields], RecordedContent | None]
    """Function that returns None for a row without an answer."""
    usual: FieldMapping = field(default_factory=FieldMapping)
    """Names of fields unless a mapping declares others."""
    inner: Callable[[Fields], Iterable[Fields]] = lambda row: (row,)
    """The rows inside a row, for files that hold all results in one object."""
    parent: FieldNames = ()
    """The field with the id of the row that a row is a step of."""


def reply_content(
    reply: Any, error: Any = None, prompt: tuple[Message, ...] = (), *, last: bool = False
) -> RecordedContent:
    """Return the content of the reply of a provider, with its error."""
    fields = as_object(reply)
    return recorded(
        output_of(reply, last=last),
        error_name(error),
        prompt=prompt,
        model=label_of(fields.get("model")),
        fingerprint=label_of(fields.get("system_fingerprint")),
        response_id=label_of(fields.get("id")),
    )


def error_name(error: Any) -> str | None:
    """Return an error as a token; None without one."""
    if not error:
        return None
    if isinstance(error, Mapping):
        inner = as_object(error.get("error")) or error
        return reason_of(str(inner.get("code") or inner.get("type") or "error"))
    return reason_of(str(error)) if isinstance(error, str) and len(error) < 40 else "error"


def as_object(value: Any) -> Fields:
    """Return an object, or an empty one for another value."""
    return value if isinstance(value, Mapping) else {}


def objects_in(value: Any) -> list[Fields]:
    """Return the objects of a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def with_opened(row: Fields, *names: str) -> Fields:
    """Parse these fields of a row, which a CSV file holds as JSON text."""
    return {**row, **{name: opened(row[name]) for name in names if name in row}}
