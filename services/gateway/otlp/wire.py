"""Requests of OTLP over HTTP as signals, and its responses: protobuf or JSON, perhaps gzipped."""

import json
import zlib
from collections.abc import Iterator
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

from shared.conventions.signals import Signal, signals_of_json

PROTOBUF, JSON = "application/x-protobuf", "application/json"
MOST_BYTES = 64 * 1024 * 1024
"""What a request may be, and what it may unpack to; batches of SDKs and collectors are smaller."""
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


def unpacked(body: bytes, encoding: str) -> bytes:
    """Return a body as it was before it was packed, which may not be larger than `MOST_BYTES`."""
    packed = encoding.strip().lower()
    if packed in {"", "identity"}:
        return body
    if packed != "gzip":
        raise UnreadableRequestError(415, "Of encodings, gzip alone is known here.")
    unpacking = zlib.decompressobj(wbits=31)
    try:
        found = unpacking.decompress(body, MOST_BYTES + 1)
    except zlib.error:
        raise UnreadableRequestError(400, "The body is not gzip.") from None
    if len(found) > MOST_BYTES:
        raise UnreadableRequestError(
            413, f"The body unpacks to more than {MOST_BYTES >> 20} MiB. Send smaller batches."
        )
    if not unpacking.eof:
        raise UnreadableRequestError(400, "The body ends before its gzip does.")
    return found


def signals_of(body: bytes, format_: str, kind: str) -> list[Signal]:
    """Return the spans or log events of a request."""
    if format_ == JSON:
        try:
            return list(signals_of_json(json.loads(body)))
        except (
            ValueError,
            TypeError,
            AttributeError,
            LookupError,
            ArithmeticError,
            RecursionError,
        ):
            raise UnreadableRequestError(400, "The body is not OTLP's JSON.") from None
    try:
        if kind == TRACES:
            return list(_spans(ExportTraceServiceRequest.FromString(body)))
        return list(_records(ExportLogsServiceRequest.FromString(body)))
    except DecodeError:
        raise UnreadableRequestError(400, f"The body is not OTLP's protobuf of {kind}.") from None


def _spans(request: ExportTraceServiceRequest) -> Iterator[Signal]:
    for each in request.resource_spans:
        resource = _attributes(each.resource.attributes)
        for scope in each.scope_spans:
            for span in scope.spans:
                attributes = _attributes(span.attributes)
                failed = span.status.code == FAILED
                yield Signal(
                    span.trace_id.hex(), span.span_id.hex(), span.name, span.end_time_unix_nano,
                    attributes, resource, True,
                    tuple((event.name, _attributes(event.attributes)) for event in span.events),
                    None, str(attributes.get("error.type") or "error") if failed else None,
                )  # fmt: skip


def _records(request: ExportLogsServiceRequest) -> Iterator[Signal]:
    for each in request.resource_logs:
        resource = _attributes(each.resource.attributes)
        for scope in each.scope_logs:
            for record in scope.log_records:
                attributes = _attributes(record.attributes)
                yield Signal(
                    record.trace_id.hex(), record.span_id.hex(),
                    record.event_name or str(attributes.get("event.name", "")),
                    record.time_unix_nano or record.observed_time_unix_nano,
                    attributes, resource, False, (), _value(record.body),
                )  # fmt: skip


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(wrapped: Any) -> Any:
    name = wrapped.WhichOneof("value")
    if name is None:
        return None
    value = getattr(wrapped, name)
    if name == "array_value":
        return [_value(each) for each in value.values]
    if name == "kvlist_value":
        return _attributes(value.values)
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
