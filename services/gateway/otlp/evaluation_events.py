"""OpenTelemetry evaluation events of measurements."""

from collections.abc import Iterator, Sequence
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, SeverityNumber

from biaswatch.shared.contracts import Features, derived_id

EVENT = "gen_ai.evaluation.result"
UNSCORABLE = "unscorable"
UNDEFINED = "The feature is undefined for this answer."
NANOSECONDS = 1_000_000_000


def evaluation_request(measured: Sequence[Features]) -> bytes:
    """Return an OTLP request with an event for each feature of measurements with a span.

    The same measurement has the same `log.record.uid`, so that receivers recognise repeats.
    """
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add()
    logs.resource.attributes.append(_pair("service.name", "biaswatch"))
    scope = logs.scope_logs.add()
    scope.scope.name = "biaswatch"
    for features in measured:
        scope.log_records.extend(_events(features))
    return bytes(request.SerializeToString())


def event_count(measured: Sequence[Features]) -> int:
    """Return the number of events of a request with these measurements."""
    return sum(len(features.values) or 1 for features in measured if features.span)


def rejected_events(reply: bytes) -> int:
    """Return the number of rejected events in a receiver's response.

    Raises
    ------
    google.protobuf.message.DecodeError
        It is not a response of OTLP.
    """
    return int(ExportLogsServiceResponse.FromString(reply).partial_success.rejected_log_records)


def _events(measured: Features) -> Iterator[LogRecord]:
    if not measured.values:
        why = measured.unscorable or UNDEFINED
        missing = {"error.type": UNSCORABLE, "gen_ai.evaluation.explanation": why}
        yield _event(measured, measured.extractor, missing)
    for feature, value in measured.values.items():
        score: dict[str, Any] = {"gen_ai.evaluation.score.value": value}
        if value is None:
            score = {"gen_ai.evaluation.explanation": UNDEFINED}
        yield _event(measured, f"{measured.extractor}.{feature}", score)


def _event(measured: Features, name: str, result: dict[str, Any]) -> LogRecord:
    span = measured.span
    if span is None:
        raise ValueError("a measurement without a span has no events")
    fields = {
        "gen_ai.evaluation.name": name,
        **result,
        "gen_ai.response.id": span.response_id,
        "biaswatch.tenant": measured.tenant,
        "biaswatch.extractor.version": measured.extractor_version,
        "biaswatch.instrument": measured.instrument or None,
        "log.record.uid": derived_id("evaluation_event", measured.id, name),
    }
    seconds = int(measured.at.timestamp())
    at_ns = seconds * NANOSECONDS + measured.at.microsecond * 1000
    return LogRecord(
        time_unix_nano=at_ns,
        observed_time_unix_nano=at_ns,
        severity_number=SeverityNumber.SEVERITY_NUMBER_INFO,
        event_name=EVENT,
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        attributes=[_pair(key, value) for key, value in fields.items() if value is not None],
    )


def _pair(key: str, value: str | float) -> KeyValue:
    if isinstance(value, str):
        return KeyValue(key=key, value=AnyValue(string_value=value))
    return KeyValue(key=key, value=AnyValue(double_value=value))
