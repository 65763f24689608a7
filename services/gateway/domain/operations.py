"""The API as a table for people: what its OpenAPI description says, a line for each operation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked."""

    method: str
    path: str
    does: str
    takes: str
    gives: str


def operations_of(described: Mapping[str, Any]) -> list[Operation]:
    """Return every operation, in the order of paths."""
    return sorted(_operations(described), key=lambda each: (each.path, each.method))


def _operations(described: Mapping[str, Any]) -> Iterator[Operation]:
    for path, verbs in described["paths"].items():
        for verb, operation in verbs.items():
            good = next(v for code, v in operation["responses"].items() if code.startswith("2"))
            yield Operation(
                method=verb.upper(),
                path=path,
                does=operation.get("description") or operation["summary"],
                takes=_named(operation.get("requestBody", {})),
                gives=_named(good),
            )


def _named(part: Mapping[str, Any]) -> str:
    """Name what is sent: a record of the description, a list of them, or its media type."""
    for media, content in part.get("content", {}).items():
        schema = content.get("schema", {})
        inner = schema.get("items", schema)
        name = str(inner.get("$ref", "")).rpartition("/")[2] or str(inner.get("title", media))
        return f"list of {name}" if schema.get("type") == "array" else name
    return ""
