"""Requests of OTLP over HTTP as signals, and its responses: protobuf or JSON, perhaps gzipped."""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError, Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

from services.gateway.body_files import BodyFile
from services.gateway.otlp.json_messages import json_batches
from services.gateway.otlp.protobuf_messages import (
    MAX_MESSAGES,
    MAX_SIGNAL_BYTES,
    SCOPE,
    SMALL_BYTES,
    SignalPlace,
    TooManyMessagesError,
    check_fields,
    signal_places,
)
from shared.conventions.signals import Signal
from shared.errors import UsageError

PROTOBUF, JSON = "application/x-protobuf", "application/json"
MOST_BYTES = 64 * 1024 * 1024
"""What a request may be, and what it may unpack to; batches of SDKs and collectors are smaller."""
MAX_RATIO = 300
"""How many times its size a body may unpack to; texts reach 5 to 40."""
RATIO_FREE_BYTES = 4 * 1024 * 1024
"""The size that any body may unpack to."""
PIECE_BYTES = 64 * 1024
"""Bytes that are unpacked at once."""
BATCH_BYTES = 1024 * 1024
"""After which a batch of signals ends."""
MAX_VALUES = 6_000_000
"""Attributes and values of one request; scopes, spans, log records and events count as several."""
VALUES_OF_SIGNAL, VALUES_OF_EVENT = 10, 3
"""As how many values each counts, by the time that it takes."""
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
"""Errors of reading JSON of another shape than OTLP's."""
TOO_MANY = f"The request has more than {MAX_MESSAGES:,} spans or messages. Send smaller batches."
TOO_LARGE = f"a span has more than {MAX_SIGNAL_BYTES >> 20} MiB, or too many attributes"
FAILED = 2
TRACES, LOGS = "traces", "logs"


class UnreadableRequestError(Exception):
    """The request breaks the protocol; sending it again cannot help."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ExportResult:
    """What became of a request: how much was refused, and what its sender should know."""

    rejected: int = 0
    message: str = ""


def format_of(content_type: str) -> str:
    """Return in which of the two formats a request is, and its response has to be."""
    found = content_type.partition(";")[0].strip().lower()
    if found not in {PROTOBUF, JSON}:
        raise UnreadableRequestError(415, f"The body has to be {PROTOBUF} or {JSON}.")
    return found


def unpacked(body: bytes | BodyFile, encoding: str) -> BodyFile:
    """Return a body as it was before it was packed.

    Raises
    ------
    UnreadableRequestError
        It is not gzip, or unpacks to more than `MOST_BYTES` or `MAX_RATIO` times its size.
    """
    body = _as_file(body)
    packed = encoding.strip().lower()
    if packed in {"", "identity"}:
        return body
    if packed != "gzip":
        raise UnreadableRequestError(415, "Of encodings, gzip alone is known here.")
    whole = BodyFile()
    try:
        for piece in _inflated(body, min(MOST_BYTES, max(RATIO_FREE_BYTES, MAX_RATIO * body.size))):
            whole.write(piece)
    except zlib.error:
        whole.close()
        raise UnreadableRequestError(400, "The body is not gzip.") from None
    except BaseException:
        whole.close()
        raise
    return whole


def _inflated(body: BodyFile, limit: int) -> Iterator[bytes]:
    """Yield what gzip's bytes unpack to, piece by piece; refuse more than `limit` bytes."""
    unpacking, size = zlib.decompressobj(wbits=31), 0
    for start in range(0, body.size, PIECE_BYTES):
        packed = body.read_at(start, PIECE_BYTES)
        while packed and not unpacking.eof:
            piece = unpacking.decompress(packed, PIECE_BYTES)
            packed = unpacking.unconsumed_tail
            size += len(piece)
            if size > limit:
                raise UnreadableRequestError(413, _bomb(limit))
            yield piece
    if not unpacking.eof:
        raise UnreadableRequestError(400, "The body ends before its gzip does.")


def _bomb(limit: int) -> str:
    if limit == MOST_BYTES:
        return f"The body unpacks to more than {MOST_BYTES >> 20} MiB. Send smaller batches."
    return f"The body unpacks to more than {MAX_RATIO} times its size. Send smaller batches."


def _as_file(body: bytes | BodyFile) -> BodyFile:
    return BodyFile.of(body) if isinstance(body, bytes) else body


def signals_of(body: bytes | BodyFile, format_: str, kind: str) -> list[Signal]:
    """Return the spans or log events of a request, all in memory."""
    with _as_file(body) as file:
        batches = signal_batches(file, format_, kind, [])
        return [signal for batch in batches for signal in batch]


def signal_batches(
    body: BodyFile, format_: str, kind: str, refused: list[str]
) -> Iterator[Iterable[Signal]]:
    """Yield the spans or log events of a request, some at a time.

    The first batch comes after the structure of the whole request was checked. What is wrong with
    single spans is appended to `refused`.

    Raises
    ------
    UnreadableRequestError
        The request is malformed, or has too many messages.
    """
    json_form = format_ == JSON
    with _as_refusals(format_, kind):
        batches: Iterator[Iterable[Signal]] = (
            json_batches(body) if json_form else _protobuf_batches(body, kind, refused)
        )
        for batch in batches:
            yield _read(batch, format_, kind)


def _read(batch: Iterable[Signal], format_: str, kind: str) -> Iterator[Signal]:
    with _as_refusals(format_, kind):
        yield from batch


@contextmanager
def _as_refusals(format_: str, kind: str) -> Iterator[None]:
    """Turn what reading a request raises into the sentence that its sender gets."""
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


def _protobuf_batches(body: BodyFile, kind: str, refused: list[str]) -> Iterator[Iterable[Signal]]:
    messages = ProtobufSignals(body, KINDS[kind], refused)
    if body.size > SMALL_BYTES:
        for _ in signal_places(body.read_at, body.size):  # nothing is taken of what is malformed
            pass
    batch, size = list[SignalPlace](), 0
    for part in signal_places(body.read_at, body.size):
        batch.append(part)
        size += part.place.size
        if size >= BATCH_BYTES:
            yield messages.signals_at(batch)
            batch, size = [], 0
    yield messages.signals_at(batch)


@dataclass(frozen=True)
class SignalKind:
    """The messages of traces, or of logs; their fields have the same numbers."""

    levels: tuple[Any, Any, Any]
    """The messages of a request, a resource and a scope."""
    names: tuple[str, str, str]
    """The lists inside them."""
    is_span: bool


KINDS = {
    TRACES: SignalKind(
        (ExportTraceServiceRequest, ResourceSpans, ScopeSpans),
        ("resource_spans", "scope_spans", "spans"),
        is_span=True,
    ),
    LOGS: SignalKind(
        (ExportLogsServiceRequest, ResourceLogs, ScopeLogs),
        ("resource_logs", "scope_logs", "log_records"),
        is_span=False,
    ),
}


class ProtobufSignals:
    """Reads the signals of one request, up to `MAX_VALUES`."""

    def __init__(self, body: BodyFile, kind: SignalKind, refused: list[str]) -> None:
        self._body = body
        self._kind = kind
        self._refused = refused
        self._left = MAX_VALUES

    def signals_at(self, places: Sequence[SignalPlace]) -> Iterator[Signal]:
        """Yield the signals at some places; note those that are too large."""
        for part in places:
            if part.place.size > MAX_SIGNAL_BYTES:
                self._refused.append(TOO_LARGE)
                continue
            message_type = self._kind.levels[part.level]
            data = self._body.read_at(part.place.start, part.place.size)
            try:
                check_fields(data, message_type.DESCRIPTOR)
            except TooManyMessagesError:
                self._refused.append(TOO_LARGE)
                continue
            message = message_type.FromString(data)
            if part.level == 0:
                yield from self._of_request(message)
            else:
                resource = self._attributes(self._resource(part).attributes)
                yield from self._of(part.level, message, resource)

    def _resource(self, part: SignalPlace) -> Resource:
        resource = Resource()
        for field in part.resource:
            resource.MergeFromString(self._body.read_at(field.start, field.size))
        return resource

    def _of_request(self, request: Any) -> Iterator[Signal]:
        for message in getattr(request, self._kind.names[0]):
            yield from self._of(1, message, self._attributes(message.resource.attributes))

    def _of(self, level: int, message: Any, resource: dict[str, Any]) -> Iterator[Signal]:
        scopes = (message,) if level == SCOPE else getattr(message, self._kind.names[1])
        for scope in scopes:
            self._spend(VALUES_OF_SIGNAL)
            for signal in getattr(scope, self._kind.names[2]):
                self._spend(VALUES_OF_SIGNAL)
                yield (self._span if self._kind.is_span else self._record)(signal, resource)

    def _spend(self, values: int) -> None:
        self._left -= values
        if self._left < 0:
            raise TooManyMessagesError

    def _span(self, span: Any, resource: dict[str, Any]) -> Signal:
        attributes = self._attributes(span.attributes)
        failed = span.status.code == FAILED
        self._spend(VALUES_OF_EVENT * len(span.events))
        return Signal(
            span.trace_id.hex(), span.span_id.hex(), span.name, span.end_time_unix_nano,
            attributes, resource, True,
            tuple((event.name, self._attributes(event.attributes)) for event in span.events),
            None, str(attributes.get("error.type") or "error") if failed else None,
        )  # fmt: skip

    def _record(self, record: Any, resource: dict[str, Any]) -> Signal:
        attributes = self._attributes(record.attributes)
        return Signal(
            record.trace_id.hex(), record.span_id.hex(),
            record.event_name or str(attributes.get("event.name", "")),
            record.time_unix_nano or record.observed_time_unix_nano,
            attributes, resource, False, (), self._value(record.body),
        )  # fmt: skip

    def _attributes(self, pairs: Any) -> dict[str, Any]:
        self._spend(len(pairs))
        return {pair.key: self._value(pair.value) for pair in pairs}

    def _value(self, wrapped: Any) -> Any:
        name = wrapped.WhichOneof("value")
        if name is None:
            return None
        value = getattr(wrapped, name)
        if name == "array_value":
            self._spend(len(value.values))
            return [self._value(each) for each in value.values]
        if name == "kvlist_value":
            return self._attributes(value.values)
        return value


def response_body(result: ExportResult, format_: str, kind: str) -> bytes:
    """Return the response that tells what became of a request, in the request's own format."""
    singular = "Spans" if kind == TRACES else "LogRecords"
    told = bool(result.rejected or result.message)
    if format_ == JSON:
        partial = {f"rejected{singular}": str(result.rejected), "errorMessage": result.message}
        return json.dumps({"partialSuccess": partial} if told else {}).encode()
    if kind == TRACES:
        spans = ExportTraceServiceResponse()
        if told:
            spans.partial_success.rejected_spans = result.rejected
            spans.partial_success.error_message = result.message
        return _encoded(spans)
    logs = ExportLogsServiceResponse()
    if told:
        logs.partial_success.rejected_log_records = result.rejected
        logs.partial_success.error_message = result.message
    return _encoded(logs)


def error_body(message: str, format_: str) -> bytes:
    """Return why a request is refused whole, as the protocol says it."""
    if format_ == JSON:
        return json.dumps({"message": message}).encode()
    return _encoded(Status(message=message))


def _encoded(message: Message) -> bytes:
    return bytes(message.SerializeToString())
