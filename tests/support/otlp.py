"""Spans and log events as instrumented applications send them, built from plain values."""

from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from biaswatch.services.gateway.bodies import BodyFile
from biaswatch.services.gateway.otlp.wire import signal_batches
from biaswatch.shared.conventions.signals import Signal

SERVICE = {"service.name": "support"}


def make_span(n: int = 0, **fields: Any) -> Signal:
    """Return a span of a chat by the current conventions, with an answer."""
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": f"Answer {n}."}]}]
    asked = [{"role": "user", "parts": [{"type": "text", "content": f"Question {n}?"}]}]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "model",
        "gen_ai.input.messages": asked,
        "gen_ai.output.messages": answer,
        "gen_ai.response.finish_reasons": ["stop"],
        "user.id": f"u-{n}",
        "biaswatch.group.gender": "female" if n % 2 else "male",
        **fields.pop("attributes", {}),
    }
    kept = {name: value for name, value in attributes.items() if value is not None}
    given = {"trace_id": f"{n + 1:032x}", "span_id": f"{n + 1:016x}", "name": "chat model",
             "at_ns": 1, "resource": SERVICE, **fields}  # fmt: skip
    return Signal(attributes=kept, **given)


def make_event(n: int, name: str, body: Any, at_ns: int = 1, **attributes: Any) -> Signal:
    """Return a log event of the same operation as the span of this number."""
    return Signal(
        f"{n + 1:032x}", f"{n + 1:016x}", name, at_ns, attributes, SERVICE, False, body=body
    )


def protobuf_of(signals: Sequence[Signal]) -> bytes:
    """Return a request with these spans, or these log events."""
    if signals and not signals[0].is_span:
        return _logs(signals)
    request = ExportTraceServiceRequest()
    for signal in signals:
        spans = request.resource_spans.add()
        spans.resource.attributes.extend(_pairs(signal.resource))
        span = spans.scope_spans.add().spans.add()
        span.trace_id, span.span_id = bytes.fromhex(signal.trace_id), bytes.fromhex(signal.span_id)
        span.parent_span_id = bytes.fromhex(signal.parent_id)
        span.name, span.end_time_unix_nano = signal.name, signal.at_ns
        span.attributes.extend(_pairs(signal.attributes))
        if signal.error:
            span.status.code = 2
    return bytes(request.SerializeToString())


def _logs(signals: Sequence[Signal]) -> bytes:
    request = ExportLogsServiceRequest()
    for signal in signals:
        logs = request.resource_logs.add()
        logs.resource.attributes.extend(_pairs(signal.resource))
        record = logs.scope_logs.add().log_records.add()
        record.trace_id, record.span_id = (
            bytes.fromhex(signal.trace_id),
            bytes.fromhex(signal.span_id),
        )
        record.event_name, record.observed_time_unix_nano = signal.name, signal.at_ns
        record.attributes.extend(_pairs(signal.attributes))
        record.body.CopyFrom(_any(signal.body))
    return bytes(request.SerializeToString())


def _pairs(fields: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=name, value=_any(value)) for name, value in fields.items()]


def _any(value: Any) -> AnyValue:
    result = AnyValue()
    match value:
        case bool():
            result.bool_value = value
        case int():
            result.int_value = value
        case str():
            result.string_value = value
        case list():
            result.array_value.values.extend(_any(item) for item in value)
        case dict():
            result.kvlist_value.values.extend(_pairs(value))
    return result


def json_of(signals: Sequence[Signal]) -> dict[str, Any]:
    """Return the same request in OTLP's JSON, with ids in hexadecimal digits."""
    result: dict[str, Any] = {"resourceSpans": [], "resourceLogs": []}
    for signal in signals:
        holder: dict[str, Any] = {"resource": {"attributes": _json_pairs(signal.resource)}}
        ids: dict[str, Any] = {"traceId": signal.trace_id, "spanId": signal.span_id}
        attributes = {"attributes": _json_pairs(signal.attributes)}
        if signal.is_span:
            status = {"code": 2} if signal.error else {}
            span = {**ids, "name": signal.name, "endTimeUnixNano": str(signal.at_ns), **attributes}
            span |= {"status": status, "parentSpanId": signal.parent_id}
            result["resourceSpans"].append({**holder, "scopeSpans": [{"spans": [span]}]})
        else:
            record = {
                **ids,
                "eventName": signal.name,
                "timeUnixNano": str(signal.at_ns),
                **attributes,
            }
            record["body"] = _json_value(signal.body)
            result["resourceLogs"].append({**holder, "scopeLogs": [{"logRecords": [record]}]})
    return result


def _json_pairs(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _json_value(value)} for name, value in fields.items()]


def _json_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case list():
            return {"arrayValue": {"values": [_json_value(item) for item in value]}}
        case dict():
            return {"kvlistValue": {"values": _json_pairs(value)}}
    return {"stringValue": value}


def body_of(data: bytes) -> BodyFile:
    """Return a received body with this content."""
    body = BodyFile()
    body.write(data)
    return body


def signals_of(body: bytes | BodyFile, format_: str, kind: str) -> list[Signal]:
    """Return all spans or log events of a request."""
    with body_of(body) if isinstance(body, bytes) else body as file:
        batches = signal_batches(file, format_, kind, [])
        return [signal for batch in batches for signal in batch]
