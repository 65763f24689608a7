"""Texts live apart from numbers: a record taken apart for storing, and put together again."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from shared.contracts import Record


@cache
def embedded_fields(record: type[Record]) -> tuple[str, ...]:
    """Name the fields that hold a record of its own; each is stored in its own table."""
    return tuple(
        name
        for name, field in record.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Record)
    )


@cache
def _apart(record: type[Record]) -> frozenset[str]:
    return frozenset({*record.text_fields(), *embedded_fields(record), "id"})


def body_of(record: Record) -> str:
    """Return the record's JSON without its texts, its embedded records and its id."""
    return record.model_dump_json(exclude=set(_apart(type(record))), exclude_none=True)


def texts_of(record: Record) -> dict[str, str]:
    """Return the JSON of each text the record has."""
    dumped = record.model_dump(mode="json", include=set(type(record).text_fields()))
    return {
        name: json.dumps(value) for name, value in dumped.items() if value not in (None, [], {})
    }


def together(
    kind: type[Record],
    body: str,
    texts: Mapping[str, str],
    embedded: Mapping[str, Record],
) -> Record:
    """Put a record together; a text that was purged is absent, as if it had never been given."""
    if not embedded:  # all of it is JSON already, and the parser is quicker than Python
        said = [f'"{name}":{text}' for name, text in texts.items()]
        return kind.model_validate_json("{" + ",".join([*said, body[1:-1]]) + "}")
    fields: dict[str, Any] = json.loads(body)
    fields.update({name: json.loads(text) for name, text in texts.items()})
    fields.update(embedded)
    return kind.model_validate(fields)
