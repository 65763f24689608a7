"""OTLP's JSON taken apart signal by signal, whatever the order of its fields."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from biaswatch.services.gateway.body_files import BodyFile
from biaswatch.shared.conventions.signals import Signal, signals_of_json
from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.json_reader import JsonReader

LISTS = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
"""The lists of a request, and the names of the two lists inside."""
SMALL_BYTES = 64 * 1024
"""A request up to this size is decoded as a whole."""
MAX_RESOURCE_CHARACTERS = 1024 * 1024
"""All resources of a request together, which are in memory while it is read."""
BATCH_SIGNALS, BATCH_CHARACTERS = 500, 1024 * 1024
"""A batch of signals ends at either."""


class _Entry(NamedTuple):
    """A resource, or a signal of it, as it was decoded."""

    of: str
    """The name of the request's list."""
    number: int
    """Which resource of the request."""
    signal: Any
    """None for the resource itself."""
    resource: Any
    size: int
    """Characters of the text."""


def json_batches(body: BodyFile) -> Iterator[list[Signal]]:
    """Yield the signals of a request some at a time, after all of it was found to be right.

    Raises
    ------
    ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError
        The body is not OTLP's JSON.
    UsageError
        It has too many values, or one that is too large.
    """
    if body.size <= SMALL_BYTES:
        yield list(signals_of_json(json.loads(body.read_at(0, body.size))))
        return
    resources: dict[int, Any] = {}
    for _ in _check(body, resources):
        yield []  # other requests take their turn in between
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
    """Collect the resources by their numbers, and yield now and then; raise on any mistake."""
    of_resources = size = 0
    for entry in _entries(body):
        _signals(entry, entry.resource)
        if entry.signal is None:
            resources[entry.number] = entry.resource
            of_resources += entry.size
            if of_resources > MAX_RESOURCE_CHARACTERS:
                raise UsageError("The resources of the request are too large.")
        size += entry.size
        if size >= BATCH_CHARACTERS:
            yield
            size = 0


def _signals(entry: _Entry, resource: Any) -> list[Signal]:
    scopes, signals = LISTS[entry.of]
    own = [] if entry.signal is None else [entry.signal]
    return list(signals_of_json({entry.of: [{"resource": resource, scopes: [{signals: own}]}]}))


def _entries(body: BodyFile) -> Iterator[_Entry]:
    at = 0

    def read(size: int) -> bytes:
        nonlocal at
        data = body.read_at(at, size)
        at += len(data)
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
                    yield from _of_scopes(reader, name, number, signals)
                elif (value := reader.value()) is not None and field == "resource":
                    yield _Entry(name, number, None, value, reader.position - began)
    reader.end()


def _of_scopes(reader: JsonReader, of: str, number: int, signals: str) -> Iterator[_Entry]:
    for _ in _items(reader):
        for field in reader.fields():
            if field != signals:
                reader.value()
                continue
            for _ in _items(reader):
                began = reader.position
                if not isinstance(signal := reader.value(), dict):
                    raise ValueError("a span is an object")  # noqa: TRY004 - as for other mistakes
                yield _Entry(of, number, signal, None, reader.position - began)


def _items(reader: JsonReader) -> Iterator[None]:
    """Yield once for each item of a list; null counts as an empty one."""
    if reader.peek() == "n":
        if reader.value() is not None:
            raise ValueError("a list is expected")
        return
    yield from reader.items()
