"""OTLP requests and responses over HTTP: JSON or protobuf, optionally gzipped."""

import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from biaswatch.services.gateway.bodies import BodyFile
from biaswatch.services.gateway.otlp import protobuf
from biaswatch.services.gateway.otlp.protobuf import MAX_MESSAGES, TooManyMessagesError
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


TRACES, LOGS = protobuf.TRACES, protobuf.LOGS
PROTOBUF, JSON = "application/x-protobuf", "application/json"
MAX_BYTES = 64 * 1024 * 1024
"""Size of a request, packed and unpacked; batches of SDKs and collectors are smaller."""
MAX_RATIO = 300
"""Compression ratio of a body; texts reach 5 to 40."""
RATIO_FREE_BYTES = 4 * 1024 * 1024
"""Unpacked size that is allowed at any ratio."""
PIECE_BYTES = 64 * 1024
"""Bytes that are unpacked at once."""
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
"""Errors of reading JSON that is not OTLP's."""
TOO_MANY = f"The request has more than {MAX_MESSAGES:,} spans or messages. Send smaller batches."


class UnreadableRequestError(Exception):
    """The request breaks the protocol; repeating it cannot help."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ExportResult:
    """Number of refused answers of a request, and a message for its sender."""

    rejected: int = 0
    message: str = ""


def format_of(content_type: str) -> str:
    """Return the format of a request, which its response has too."""
    format_ = content_type.partition(";")[0].strip().lower()
    if format_ not in {PROTOBUF, JSON}:
        raise UnreadableRequestError(415, f"The body has to be {PROTOBUF} or {JSON}.")
    return format_


def unpacked(body: bytes | BodyFile, encoding: str) -> BodyFile:
    """Unpack a body.

    Raises
    ------
    UnreadableRequestError
        It is not gzip, or unpacks to more than `MAX_BYTES` or `MAX_RATIO` times its size.
    """
    body = _as_file(body)
    encoding = encoding.strip().lower()
    if encoding in {"", "identity"}:
        return body
    if encoding != "gzip":
        raise UnreadableRequestError(415, "The only encoding that is supported here is gzip.")
    whole = BodyFile()
    try:
        for piece in _inflated(body, min(MAX_BYTES, max(RATIO_FREE_BYTES, MAX_RATIO * body.size))):
            whole.write(piece)
    except zlib.error:
        whole.close()
        raise UnreadableRequestError(400, "The body is not gzip.") from None
    except BaseException:
        whole.close()
        raise
    return whole


def _inflated(body: BodyFile, limit: int) -> Iterator[bytes]:
    """Yield the unpacked pieces of a gzip body; refuse more than `limit` bytes."""
    unpacking, size = zlib.decompressobj(wbits=31), 0
    for start in range(0, body.size, PIECE_BYTES):
        packed = body.read_at(start, PIECE_BYTES)
        while packed and not unpacking.eof:
            piece = unpacking.decompress(packed, PIECE_BYTES)
            packed = unpacking.unconsumed_tail
            size += len(piece)
            if size > limit:
                raise UnreadableRequestError(413, _too_large(limit))
            yield piece
    if not unpacking.eof:
        raise UnreadableRequestError(400, "The body ends before its gzip does.")


def _too_large(limit: int) -> str:
    if limit == MAX_BYTES:
        return f"The body unpacks to more than {MAX_BYTES >> 20} MiB. Send smaller batches."
    return f"The body unpacks to more than {MAX_RATIO} times its size. Send smaller batches."


def _as_file(body: bytes | BodyFile) -> BodyFile:
    return BodyFile.of(body) if isinstance(body, bytes) else body


def signals_of(body: bytes | BodyFile, format_: str, kind: str) -> list[Signal]:
    """Return all spans or log events of a request."""
    with _as_file(body) as file:
        batches = signal_batches(file, format_, kind, [])
        return [signal for batch in batches for signal in batch]


def signal_batches(
    body: BodyFile, format_: str, kind: str, refused: list[str]
) -> Iterator[Iterable[Signal]]:
    """Yield the spans or log events of a request in batches.

    The first batch comes after the structure of the whole request was checked. Mistakes of single
    spans are appended to `refused`.

    Raises
    ------
    UnreadableRequestError
        The request is malformed, or has too many messages.
    """
    with _readable(format_, kind):
        batches: Iterator[Iterable[Signal]] = (
            json_batches(body)
            if format_ == JSON
            else protobuf.protobuf_batches(body, kind, refused)
        )
        for batch in batches:
            yield _read(batch, format_, kind)


def _read(batch: Iterable[Signal], format_: str, kind: str) -> Iterator[Signal]:
    with _readable(format_, kind):
        yield from batch


@contextmanager
def _readable(format_: str, kind: str) -> Iterator[None]:
    """Turn errors of reading a request into errors with a message for its sender."""
    try:
        yield
    except UsageError as error:
        raise UnreadableRequestError(413, f"{error} Send smaller batches.") from None
    except TooManyMessagesError:
        raise UnreadableRequestError(413, TOO_MANY) from None
    except DecodeError:
        raise UnreadableRequestError(400, f"The body is not OTLP's protobuf of {kind}.") from None
    except (*MALFORMED, RecursionError):
        if format_ != JSON:
            raise
        raise UnreadableRequestError(400, "The body is not OTLP's JSON.") from None


def response_body(result: ExportResult, format_: str, kind: str) -> bytes:
    """Return the body of a response, in the format of the request."""
    singular = "Spans" if kind == TRACES else "LogRecords"
    partial = bool(result.rejected or result.message)
    if format_ == JSON:
        counts = {f"rejected{singular}": str(result.rejected), "errorMessage": result.message}
        return json.dumps({"partialSuccess": counts} if partial else {}).encode()
    if kind == TRACES:
        spans = ExportTraceServiceResponse()
        if partial:
            spans.partial_success.rejected_spans = result.rejected
            spans.partial_success.error_message = result.message
        return _encoded(spans)
    logs = ExportLogsServiceResponse()
    if partial:
        logs.partial_success.rejected_log_records = result.rejected
        logs.partial_success.error_message = result.message
    return _encoded(logs)


def error_body(message: str, format_: str) -> bytes:
    """Return the body of an error, in the format of the request."""
    if format_ == JSON:
        return json.dumps({"message": message}).encode()
    return _encoded(Status(message=message))


def _encoded(message: Message) -> bytes:
    return bytes(message.SerializeToString())
