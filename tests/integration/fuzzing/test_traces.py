"""Whatever a trace holds, it is read, or refused as no OTLP."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaswatch.services.gateway.otlp.protobuf import TRACES
from biaswatch.services.gateway.otlp.wire import JSON, UnreadableRequestError
from biaswatch.shared.conventions.answers import part_of, sent_fields
from biaswatch.shared.conventions.mapping import MappingFile
from tests.support.fuzzing import as_written, bounded, json_values, spoiled
from tests.support.otlp import make_span, signals_of

SPAN = {
    "traceId": "1" * 32, "spanId": "2" * 16, "name": "chat m", "endTimeUnixNano": "1544712661",
    "status": {"code": 2}, "events": [{"name": "e", "attributes": []}],
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        {"key": "gen_ai.output.messages", "value": {"stringValue": '[{"role": "assistant"}]'}},
        {"key": "n", "value": {"intValue": "3"}},
        {"key": "l", "value": {"arrayValue": {"values": [{"doubleValue": 1.5}]}}},
        {"key": "k", "value": {"kvlistValue": {"values": [{"key": "a", "value": {}}]}}},
    ],
}  # fmt: skip
RESOURCE = {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]}
TRACE = {"resourceSpans": [{"resource": RESOURCE, "scopeSpans": [{"spans": [SPAN]}]}]}


def is_read_or_refused(body: str) -> None:
    try:
        signals = signals_of(body.encode(), JSON, TRACES)
    except UnreadableRequestError as refused:
        assert str(refused).endswith(".")  # noqa: PT017 - any other error fails the test
        return
    for part in (part_of(signal, MappingFile()) for signal in signals):
        if part is not None and part.whole:
            sent_fields(part)


@bounded
@given(data=st.data())
def test_a_trace_with_odd_values_is_read_or_refused(data: st.DataObject) -> None:
    is_read_or_refused(as_written(data.draw(spoiled(TRACE))))


@pytest.mark.parametrize("when", ["1e999", "NaN", '"' + "9" * 5_000 + '"', "[]"])
def test_a_moment_that_is_none_is_refused(when: str) -> None:
    is_read_or_refused(as_written(TRACE).replace('"1544712661"', when))


@bounded
@given(data=st.data())
def test_an_attribute_may_hold_anything(data: st.DataObject) -> None:
    signal = make_span(1)
    names = [*signal.attributes, "gen_ai.system", "openinference.span.kind", "llm.output_messages"]
    odd = {name: data.draw(json_values) for name in data.draw(st.sets(st.sampled_from(names)))}
    part_of(make_span(1, attributes=odd), MappingFile())
