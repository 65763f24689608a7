"""Signals of OTLP protobuf messages, decoded in bounded memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

from biaswatch.services.gateway.bodies import BodyFile
from biaswatch.services.gateway.otlp.protobuf_fields import (
    MAX_SIGNAL_BYTES,
    SCOPE,
    SMALL_BYTES,
    SignalFields,
    TooManyMessagesError,
    check_fields,
    signal_fields,
)
from biaswatch.shared.conventions.signals import REMOTE_PARENT, Signal

TRACES, LOGS = "traces", "logs"
FAILED = 2
"""Status code of a failed operation."""
BATCH_BYTES = 1024 * 1024
"""Size at which a batch of signals ends."""
MAX_VALUES = 6_000_000
"""Attributes and values of one request; spans and events count as several, by their cost."""
VALUES_PER_SIGNAL, VALUES_PER_EVENT = 10, 3
TOO_LARGE = f"a span has more than {MAX_SIGNAL_BYTES >> 20} MiB, or too many attributes"


def protobuf_batches(body: BodyFile, kind: str, refused: list[str]) -> Iterator[Iterable[Signal]]:
    """Yield the signals of a request in batches, after its structure was checked."""
    messages = ProtobufSignals(body, KINDS[kind], refused)
    if body.size > SMALL_BYTES:
        for _ in signal_fields(body.read_at, body.size):  # raises if it is malformed
            pass
    batch, size = list[SignalFields](), 0
    for part in signal_fields(body.read_at, body.size):
        batch.append(part)
        size += part.place.size
        if size >= BATCH_BYTES:
            yield messages.signals_in(batch)
            batch, size = [], 0
    yield messages.signals_in(batch)


@dataclass(frozen=True)
class SignalKind:
    """Message types of traces or logs, which use the same field numbers."""

    levels: tuple[Any, Any, Any]
    """Types of a request, a resource and a scope."""
    names: tuple[str, str, str]
    """Their list fields."""
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

    def signals_in(self, places: Sequence[SignalFields]) -> Iterator[Signal]:
        """Yield the signals at some positions; refuse those that are too large."""
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
                for inner in getattr(message, self._kind.names[0]):
                    resource = self._attributes(inner.resource.attributes)
                    yield from self._signals(1, inner, resource)
            else:
                resource = self._attributes(self._resource(part).attributes)
                yield from self._signals(part.level, message, resource)

    def _resource(self, part: SignalFields) -> Resource:
        resource = Resource()
        for field in part.resource:
            resource.MergeFromString(self._body.read_at(field.start, field.size))
        return resource

    def _signals(self, level: int, message: Any, resource: dict[str, Any]) -> Iterator[Signal]:
        scopes = (message,) if level == SCOPE else getattr(message, self._kind.names[1])
        for scope in scopes:
            self._spend(VALUES_PER_SIGNAL)
            for signal in getattr(scope, self._kind.names[2]):
                self._spend(VALUES_PER_SIGNAL)
                yield (self._span if self._kind.is_span else self._record)(signal, resource)

    def _spend(self, values: int) -> None:
        self._left -= values
        if self._left < 0:
            raise TooManyMessagesError

    def _span(self, span: Any, resource: dict[str, Any]) -> Signal:
        attributes = self._attributes(span.attributes)
        failed = span.status.code == FAILED
        self._spend(VALUES_PER_EVENT * len(span.events))
        return Signal(
            span.trace_id.hex(), span.span_id.hex(), span.name, span.end_time_unix_nano,
            attributes, resource, True,
            tuple((event.name, self._attributes(event.attributes)) for event in span.events),
            None, str(attributes.get("error.type") or "error") if failed else None,
            "" if span.flags & REMOTE_PARENT else span.parent_span_id.hex(),
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
            return [self._value(item) for item in value.values]
        if name == "kvlist_value":
            return self._attributes(value.values)
        return value
