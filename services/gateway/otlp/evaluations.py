"""Measurements as OpenTelemetry's evaluation events, each in the trace and span it is about."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, SeverityNumber

from biaswatch.shared.contracts import Features
from biaswatch.shared.contracts.identity import derived_id

EVENT = "gen_ai.evaluation.result"
UNSCORABLE = "unscorable"
UNDEFINED = "The feature is undefined for this answer."
NANOSECONDS = 1_000_000_000


def evaluation_request(measured: Sequence[Features]) -> bytes:
    """Return a request of OTLP with an event for each feature; measurements without span have none.

    The same measurement has the same events, with the same `log.record.uid`: who receives one
    twice can tell.
    """
    request = ExportLogsServiceRequest()
    logs = request.resource_logs.add()
    logs.resource.attributes.append(_pair("service.name", "biaswatch"))
    scope = logs.scope_logs.add()
    scope.scope.name = "biaswatch"
    for each in measured:
        scope.log_records.extend(_events(each))
    return bytes(request.SerializeToString())


def event_count(measured: Sequence[Features]) -> int:
    """Return how many events a request with these measurements has."""
    return sum(len(each.values) or 1 for each in measured if each.span)


def rejected_events(reply: bytes) -> int:
    """Return how many events of a request the receiver says it has rejected; 0 if it says nothing.

    Raises
    ------
    google.protobuf.message.DecodeError
        This is no response of OTLP.
    """
    found = ExportLogsServiceResponse.FromString(reply).partial_success.rejected_log_records
    return int(found)


def _events(measured: Features) -> Iterator[LogRecord]:
    if not measured.values:
        why = measured.unscorable or UNDEFINED
        told = {"error.type": UNSCORABLE, "gen_ai.evaluation.explanation": why}
        yield _event(measured, measured.extractor, told)
    for feature, value in measured.values.items():
        score: dict[str, Any] = {"gen_ai.evaluation.score.value": value}
        if value is None:
            score = {"gen_ai.evaluation.explanation": UNDEFINED}
        yield _event(measured, f"{measured.extractor}.{feature}", score)


def _event(measured: Features, name: str, told: dict[str, Any]) -> LogRecord:
    span = measured.span
    if span is None:
        raise ValueError("only what has a span can be told about it")
    fields = {
        "gen_ai.evaluation.name": name,
        **told,
        "gen_ai.response.id": span.response_id,
        "biaswatch.tenant": measured.tenant,
        "biaswatch.extractor.version": measured.extractor_version,
        "biaswatch.instrument": measured.instrument or None,
        "log.record.uid": derived_id("evaluation_event", measured.id, name),
    }
    at_ns = _nanoseconds(measured.at)
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


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * NANOSECONDS + moment.microsecond * 1000
