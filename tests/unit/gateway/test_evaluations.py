"""Evaluations: which measurements become events of which span, and in whose words."""

from datetime import timedelta
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from biaswatch.services.extractor.handlers.measuring import features_of
from biaswatch.services.gateway.otlp.evaluation_events import (
    EVENT,
    UNDEFINED,
    evaluation_request,
    event_count,
    rejected_events,
)
from biaswatch.services.gateway.otlp.evaluations import BACKOFF
from biaswatch.services.gateway.traffic.watchers import evaluated_span, response_of
from biaswatch.shared.contracts import CallSpan, Features
from biaswatch.shared.contracts.dropin import DropInSpec
from tests.support.records import AT, make_exchange, make_features, make_traffic_monitor

SPAN = CallSpan(trace_id="ab" * 16, span_id="cd" * 8, response_id="chatcmpl-1")
MONITOR = make_traffic_monitor()


def events(*measured: Features) -> list[LogRecord]:
    request = ExportLogsServiceRequest.FromString(evaluation_request(measured))
    result = [scope for resource_log in request.resource_logs for scope in resource_log.scope_logs]
    return [record for scope in result for record in scope.log_records]


def told(record: LogRecord) -> dict[str, Any]:
    return {
        attribute.key: getattr(attribute.value, str(attribute.value.WhichOneof("value")))
        for attribute in record.attributes
    }


def test_a_feature_is_an_event_in_the_trace_and_span_of_its_answer() -> None:
    (result, _) = events(make_features(span=SPAN, instrument="word counts"))
    assert (result.trace_id.hex(), result.span_id.hex()) == (SPAN.trace_id, SPAN.span_id)
    assert (result.event_name, result.time_unix_nano) == (EVENT, int(AT.timestamp()) * 10**9)
    fields = told(result)
    assert len(fields.pop("log.record.uid")) == 32
    assert fields == {
        "gen_ai.evaluation.name": "words.words",
        "gen_ai.evaluation.score.value": 7.0,
        "gen_ai.response.id": "chatcmpl-1",
        "biaswatch.tenant": "default",
        "biaswatch.extractor.version": "1",
        "biaswatch.instrument": "word counts",
    }


def test_an_undefined_feature_has_no_score_and_says_why() -> None:
    (_, result) = events(make_features(span=SPAN))
    assert told(result)["gen_ai.evaluation.explanation"] == UNDEFINED
    assert "gen_ai.evaluation.score.value" not in told(result)


def test_an_answer_that_was_not_scored_is_an_error_with_its_reason() -> None:
    measured = make_features(span=SPAN, values={}, unscorable="no answer: timeout")
    (result,) = events(measured)
    fields = told(result)
    assert fields["gen_ai.evaluation.name"] == "words"
    assert fields["error.type"] == "unscorable"
    assert fields["gen_ai.evaluation.explanation"] == "no answer: timeout"
    assert event_count([measured]) == 1


def test_the_same_measurement_has_the_same_events_and_another_has_others() -> None:
    first, again = (events(make_features(span=SPAN, at=AT + timedelta(n))) for n in (0, 1))
    uid = "log.record.uid"
    assert [told(item)[uid] for item in first] == [told(item)[uid] for item in again]
    other = events(make_features(1, span=SPAN))
    assert {told(item)[uid] for item in first}.isdisjoint(told(item)[uid] for item in other)


def test_what_a_receiver_rejects_is_read_from_its_reply() -> None:
    reply = ExportLogsServiceResponse()
    assert rejected_events(reply.SerializeToString()) == 0
    reply.partial_success.rejected_log_records = 3
    assert rejected_events(reply.SerializeToString()) == 3


def test_of_an_answer_that_two_monitors_watch_each_measurement_goes_back_once() -> None:
    exchange = make_exchange(span=SPAN)
    first = evaluated_span(exchange, MONITOR, ())
    assert first is not None
    assert (first.span, first.extractors) == (SPAN, ("words",))
    assert evaluated_span(exchange, MONITOR, {"words"}) is None


@pytest.mark.parametrize("fields", [{"span": None}, {"span": SPAN, "history": True}])
def test_without_a_span_and_of_the_past_nothing_goes_back(fields: dict[str, Any]) -> None:
    assert evaluated_span(make_exchange(**fields), MONITOR, ()) is None


@pytest.mark.parametrize(("name", "goes_back"), [("words", True), ("vader", False)])
def test_an_extractor_hands_the_span_on_where_its_measurements_go_back(
    name: str, goes_back: bool
) -> None:
    traffic = MONITOR.plan.traffic
    assert traffic is not None
    exchange = make_exchange(span=SPAN)
    response = response_of(exchange, MONITOR, traffic, evaluated_span(exchange, MONITOR, ()))
    extractor = DropInSpec(name=name, version="1.0.0", features=("words",), instrument="none")
    (measured,) = features_of([response], extractor, [({"words": 1.0}, None)], {}, None, AT)
    assert measured.span == (SPAN if goes_back else None)


def test_a_span_changes_no_id() -> None:
    assert make_exchange(span=SPAN).id == make_exchange().id
    assert make_features(span=SPAN).id == make_features().id


def test_pauses_double_up_to_a_minute_and_last_as_long_as_the_endpoint_asks() -> None:
    assert [BACKOFF.requested_s(None, n, 1.0) for n in (1, 2, 3, 10)] == [1.0, 2.0, 4.0, 60.0]
    assert BACKOFF.requested_s(None, 1, 0.0) == 0.5
    assert BACKOFF.requested_s(30.0, 1, 1.0) == 30.0
    assert BACKOFF.requested_s(1e9, 1, 1.0) == 3600.0
