"""Spans and events by each convention become the same answer; what is none becomes nothing."""

import json
from typing import Any

import pytest

from biaswatch.services.gateway.otlp.protobuf import LOGS, TRACES
from biaswatch.services.gateway.otlp.wire import PROTOBUF
from biaswatch.shared.conventions.answers import joined, part_of, sent_fields
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.signals import Signal, signals_of_json
from tests.support.otlp import json_of, make_event, make_span, protobuf_of, signals_of

PLAIN = MappingFile()
NO_CONTENT: dict[str, Any] = {"gen_ai.input.messages": None, "gen_ai.output.messages": None}


def attributes(**named: Any) -> Signal:
    fields = {name.replace("__", "."): value for name, value in named.items()}
    return Signal("a" * 32, "b" * 16, "call", 1, fields, {"service.name": "support"})


SPANS = {
    "openinference": Signal("a" * 32, "b" * 16, "ChatCompletion", 1, {
        "openinference.span.kind": "LLM", "llm.model_name": "model",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Question?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "Answer.",
    }, {}),
    "openllmetry until 0.50": Signal("a" * 32, "b" * 16, "openai.chat", 1, {
        "llm.request.type": "chat", "gen_ai.response.model": "model",
        "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Question?",
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Answer.",
    }, {}),
    "langfuse": Signal("a" * 32, "b" * 16, "generation", 1, {
        "langfuse.observation.type": "generation", "langfuse.observation.model.name": "model",
        "langfuse.observation.input": json.dumps([{"role": "user", "content": "Question?"}]),
        "langfuse.observation.output": json.dumps({"role": "assistant", "content": "Answer."}),
    }, {}),
    "genai as JSON": Signal("a" * 32, "b" * 16, "chat model", 1, {
        "gen_ai.operation.name": "chat", "gen_ai.response.model": "model",
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": "Question?"}]}]),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [
            {"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "Answer."}]}]),
    }, {}),
    "genai in span events": Signal("a" * 32, "b" * 16, "chat model", 1, {
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "model",
    }, {}, True, (
        ("gen_ai.content.prompt",
         {"gen_ai.prompt": json.dumps([{"role": "user", "content": "Question?"}])}),
        ("gen_ai.content.completion",
         {"gen_ai.completion": json.dumps([{"role": "assistant", "content": "Answer."}])}),
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", SPANS)
def test_every_convention_tells_question_answer_and_model(name: str) -> None:
    part = part_of(SPANS[name], PLAIN)
    assert part is not None
    assert part.whole
    assert [(item.role, item.content) for item in part.content.prompt] == [("user", "Question?")]
    assert (part.content.text, part.content.model) == ("Answer.", "model")
    assert part.groups == {}


@pytest.mark.parametrize("kind", ["CHAIN", "RETRIEVER", "EMBEDDING", "TOOL"])
def test_other_operations_are_no_answers(kind: str) -> None:
    assert part_of(attributes(openinference__span__kind=kind, output__value="x"), PLAIN) is None
    operation = make_span(attributes={"gen_ai.operation.name": "execute_tool"})
    assert part_of(operation, PLAIN) is None


def test_protobuf_and_json_say_the_same() -> None:
    spans = [make_span(n, at_ns=1_700_000_000_000_000_000 + n) for n in range(3)]
    events = [make_event(1, "gen_ai.choice", {"index": 0, "message": {"content": "x"}}, 7)]
    assert signals_of(protobuf_of(spans), PROTOBUF, TRACES) == spans
    assert signals_of(protobuf_of(events), PROTOBUF, LOGS) == events
    assert list(signals_of_json(json_of([*spans, *events]))) == [*spans, *events]


def test_a_span_and_its_log_events_are_one_answer_in_any_order() -> None:
    span = make_span(4, at_ns=9, attributes=NO_CONTENT)
    events = [
        make_event(4, "gen_ai.system.message", {"content": "Be kind."}, 1),
        make_event(4, "gen_ai.user.message", {"content": "Question?"}, 2),
        make_event(4, "gen_ai.choice", {"index": 0, "message": {"content": "Answer."}}, 3),
    ]
    parts = [part_of(item, PLAIN) for item in (events[2], span, events[1], events[0])]
    result = [part for part in parts if part is not None]
    assert all(item.waits for item in result)
    sent = sent_fields(joined(result))
    assert [message.content for message in sent["messages"]] == ["Be kind.", "Question?"]
    assert (sent["text"], sent["unit"], sent["groups"]) == ("Answer.", "u-4", {"gender": "male"})
    assert sent["id"] == span.key


def test_a_call_that_failed_is_an_answer_without_text_and_with_the_reason() -> None:
    failed = make_span(error="openai.RateLimitError", attributes={**NO_CONTENT, "error.type": "x"})
    part = part_of(failed, PLAIN)
    assert part is not None
    assert part.whole
    assert (part.content.text, part.content.reason) == (None, "openai_RateLimitError")


def test_a_mapping_says_which_attribute_is_what_and_a_source_may_have_its_own() -> None:
    mapping = MappingFile.model_validate({
        "groups": {"gender": "app.gender"},
        "sources": {"support": {"unit": ["ticket", "user.id"], "strata": {"topic": "app.topic"},
                                "groups": {"age": "app.person.age"}, "prompts": False}},
    })  # fmt: skip
    extra = {"app.gender": "x", "app.topic": "refund", "app.person": {"age": 41}}
    part = part_of(make_span(2, attributes=extra), mapping)
    assert part is not None
    assert (part.unit, part.facts, part.content.prompt) == ("u-2", {"topic": "refund"}, ())
    assert part.groups == {"gender": "male", "age": "41"}  # what biaswatch.group names stays


def test_no_group_is_ever_taken_from_a_name_or_a_text() -> None:
    named = {"user.name": "Maria", "biaswatch.group.gender": None, "user.email": "he@example.org"}
    part = part_of(make_span(attributes=named), PLAIN)
    assert part is not None
    assert part.groups == {}


def test_a_share_takes_all_answers_of_a_unit_or_none() -> None:
    mapping = MappingFile(share=0.25)
    taken = [mapping.takes(f"u-{n}") for n in range(4000)]
    assert 0.22 < sum(taken) / 4000 < 0.28
    assert taken == [mapping.takes(f"u-{n}") for n in range(4000)]
