"""Signals of OTLP JSON messages, decoded in bounded memory."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from biaswatch.services.gateway.bodies import BodyFile
from biaswatch.shared.conventions.signals import Signal, signals_of_json
from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.json_stream import JsonReader

LISTS = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
"""The lists of a request, and the names of the two nested lists."""
SMALL_BYTES = 64 * 1024
"""Size up to which a request is decoded at once."""
MAX_RESOURCE_CHARACTERS = 1024 * 1024
"""All resources of a request, which are in memory while it is read."""
BATCH_SIGNALS, BATCH_CHARACTERS = 500, 1024 * 1024
"""A batch of signals ends when it reaches either."""


class _Entry(NamedTuple):
    """A decoded resource, or a decoded signal of it."""

    kind: str
    """The name of the request's list."""
    number: int
    """The number of the resource in the request."""
    signal: Any
    """None for the resource itself."""
    resource: Any
    size: int
    """Characters of its text."""


def json_batches(body: BodyFile) -> Iterator[list[Signal]]:
    """Yield the signals of a request in batches, after all of it was checked.

    Raises
    ------
    ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError
        The body is not JSON of OTLP.
    UsageError
        It has too many values, or one that is too large.
    """
    if body.size <= SMALL_BYTES:
        yield list(signals_of_json(json.loads(body.read_at(0, body.size))))
        return
    resources: dict[int, Any] = {}
    for _ in _check(body, resources):
        yield []  # lets other requests take their turn
    batch, size = list[Signal](), 0
    for entry in _entries(body):
        if entry.signal is None:
            continue
        batch += _signals(entry, resources.get(entry.number))
        size += entry.size
        if len(batch) >= BATCH_SIGNALS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    yield batch


def _check(body: BodyFile, resources: dict[int, Any]) -> Iterator[None]:
    """Check all entries and collect the resources by number; yield regularly."""
    resource_size = size = 0
    for entry in _entries(body):
        _signals(entry, entry.resource)
        if entry.signal is None:
            resources[entry.number] = entry.resource
            resource_size += entry.size
            if resource_size > MAX_RESOURCE_CHARACTERS:
                raise UsageError("The resources of the request are too large.")
        size += entry.size
        if size >= BATCH_CHARACTERS:
            yield
            size = 0


def _signals(entry: _Entry, resource: Any) -> list[Signal]:
    scopes, signals = LISTS[entry.kind]
    own = [] if entry.signal is None else [entry.signal]
    return list(signals_of_json({entry.kind: [{"resource": resource, scopes: [{signals: own}]}]}))


def _entries(body: BodyFile) -> Iterator[_Entry]:
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        data = body.read_at(position, size)
        position += len(data)
        return data

    reader = JsonReader(read, json.JSONDecoder())
    number = 0
    for name in reader.fields():
        if name not in LISTS:
            reader.value()
            continue
        scopes, signals = LISTS[name]
        for _ in _items(reader):
            number += 1
            for field in reader.fields():
                began = reader.position
                if field == scopes:
                    yield from _scope_entries(reader, name, number, signals)
                elif (value := reader.value()) is not None and field == "resource":
                    yield _Entry(name, number, None, value, reader.position - began)
    reader.end()


def _scope_entries(reader: JsonReader, kind: str, number: int, signals: str) -> Iterator[_Entry]:
    for _ in _items(reader):
        for field in reader.fields():
            if field != signals:
                reader.value()
                continue
            for _ in _items(reader):
                began = reader.position
                if not isinstance(signal := reader.value(), dict):
                    raise ValueError("a span is an object")  # noqa: TRY004 - like other mistakes
                yield _Entry(kind, number, signal, None, reader.position - began)


def _items(reader: JsonReader) -> Iterator[None]:
    """Yield once for each item of a list; null is an empty one."""
    if reader.peek() == "n":
        if reader.value() is not None:
            raise ValueError("a list is expected")
        return
    yield from reader.items()
