"""Spans in the form in which SDKs send them: the text, a tool call, or the reason."""

import json
from typing import Any

import pytest

from biaswatch.shared.conventions.agents import parts_of
from biaswatch.shared.conventions.answers import AnswerPart, joined, part_of
from biaswatch.shared.conventions.contents import TOOL_CALL
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.signals import Signal

ANSWER, QUESTION = "She is a strong applicant.", "Rate her."
PLAIN = MappingFile()
Events = tuple[tuple[str, dict[str, Any]], ...]
ASKED = {"role": "user", "content": QUESTION}
ANSWERED = {"role": "assistant", "content": ANSWER}
CALL = {"id": "call_1", "type": "function", "function": {"name": "rate", "arguments": "{}"}}
CHAT = {"id": "chatcmpl-1", "model": "m", "choices": [{"index": 0, "message": ANSWERED}]}
LANGCHAIN = {
    "generations": [[{
        "text": ANSWER, "type": "ChatGeneration",
        "message": {"lc": 1, "type": "constructor", "kwargs": {"content": ANSWER, "type": "ai"}},
    }]],
    "llm_output": None,
}  # fmt: skip
GENAI = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
PARTS = [{"role": "user", "parts": [{"type": "text", "content": QUESTION}]}]
OUTPUT = [{"role": "assistant", "finish_reason": "stop",
           "parts": [{"type": "text", "content": ANSWER}]}]  # fmt: skip


def span(fields: dict[str, Any], number: int = 1, parent: int = 0, events: Events = ()) -> Signal:
    """Return a span; attributes that are no text are encoded as JSON."""
    attributes = {k: v if isinstance(v, str) else json.dumps(v) for k, v in fields.items()}
    parent_id = f"{parent:016x}" if parent else ""
    return Signal("a" * 32, f"{number:016x}", "x", number, attributes, {"service.name": "s"},
                  events=events, parent_id=parent_id)  # fmt: skip


def azure(body: Any) -> dict[str, Any]:
    return {"gen_ai.system": "az.ai.inference", "gen_ai.event.content": json.dumps(body)}


SPANS: dict[str, Signal] = {
    "azure inference": span(GENAI, events=(
        ("gen_ai.user.message", azure(ASKED)),
        ("gen_ai.choice", azure({"message": ANSWERED, "finish_reason": "stop", "index": 0})),
    )),
    "events with fields": span(GENAI, events=(
        ("gen_ai.user.message", {"content": QUESTION}),
        ("gen_ai.choice", {"index": 0, "message": json.dumps(ANSWERED)}),
        ("gen_ai.choice", {"index": 1, "message": json.dumps({"content": "Other."})}),
    )),
    "events with text alone": span(GENAI, events=(
        ("gen_ai.user.message", {"gen_ai.event.content": QUESTION}),
        ("gen_ai.choice", {"gen_ai.event.content": ANSWER}),
    )),
    "details inside a span": span(GENAI, events=(
        ("gen_ai.client.inference.operation.details",
         {"gen_ai.input.messages": json.dumps(PARTS), "gen_ai.output.messages": OUTPUT}),
    )),
    "openllmetry with an operation": span({**GENAI,
        "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": QUESTION,
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": ANSWER,
    }),
    "openllmetry for anthropic": span({
        "llm.request.type": "completion", "gen_ai.prompt.0.user": "x",
        "gen_ai.prompt.0.content": json.dumps([{"type": "text", "text": QUESTION}]),
        "gen_ai.completion.0.content": json.dumps([{"type": "text", "text": ANSWER}]),
        "gen_ai.request.model": "m",
    }),
    "vercel": span({
        "ai.operationId": "ai.streamText.doStream", "gen_ai.request.model": "m",
        "ai.prompt.messages": [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
        "ai.response.text": ANSWER, "ai.response.finishReason": "stop",
    }),
    "vercel until 3": span({
        "ai.operationId": "ai.generateText.doGenerate", "ai.result.text": ANSWER,
        "ai.model.id": "m", "ai.prompt.messages": [ASKED],
    }),
    "pydantic-ai with events": span({**GENAI, "events": [
        {"event.name": "gen_ai.user.message", "gen_ai.message.index": 0, **ASKED},
        {"event.name": "gen_ai.choice", "index": 0, "message": ANSWERED},
    ]}),
    "pydantic-ai": span({**GENAI,
        "gen_ai.input.messages": PARTS, "gen_ai.output.messages": OUTPUT,
    }),
    "logfire's openai": span({
        "request_data": {"messages": [ASKED], "model": "m"},
        "response_data": {"message": ANSWERED, "usage": None},
        "gen_ai.request.model": "m",
    }),
    "mlflow": span({
        "mlflow.spanType": '"LLM"', "mlflow.llm.model": "m",
        "mlflow.spanInputs": {"prompt": QUESTION}, "mlflow.spanOutputs": json.dumps(ANSWER),
    }),
    "mlflow's langchain": span({
        "mlflow.spanType": "CHAT_MODEL", "mlflow.spanInputs": [[ASKED]][0],
        "mlflow.spanOutputs": LANGCHAIN, "mlflow.llm.model": "m",
    }),
    "mlflow's anthropic": span({
        "mlflow.spanType": "CHAT_MODEL", "mlflow.spanInputs": {"messages": [ASKED]},
        "mlflow.spanOutputs": {"model": "m", "role": "assistant", "type": "message",
                               "content": [{"type": "text", "text": ANSWER}]},
    }),
    "openinference with the body of a reply": span({
        "openinference.span.kind": "LLM", "llm.model_name": "m", "input.value": QUESTION,
        "output.mime_type": "application/json", "output.value": CHAT,
    }),
    "openinference with a text": span({
        "openinference.span.kind": "LLM", "llm.model_name": "m", "input.value": [ASKED],
        "output.value": ANSWER,
    }),
    "langsmith": span({
        "langsmith.span.kind": "llm", "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
        "gen_ai.prompt": {"messages": [ASKED]}, "gen_ai.completion": CHAT,
    }),
    "langsmith's langchain": span({
        "langsmith.span.kind": "llm", "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
        "gen_ai.prompt": {"messages": [[{"lc": 1, "type": "constructor",
                                         "kwargs": {"type": "human", "content": QUESTION}}]]},
        "gen_ai.completion": LANGCHAIN,
    }),
    "no operation": span({
        "gen_ai.request.model": "m", "gen_ai.input.messages": PARTS,
        "gen_ai.output.messages": OUTPUT,
    }),
    "encoded twice": span({**GENAI,
        "gen_ai.input.messages": json.dumps(json.dumps(PARTS)),
        "gen_ai.output.messages": json.dumps(json.dumps(OUTPUT)),
    }),
    "gemini": span({**GENAI,
        "gen_ai.prompt": QUESTION, "gen_ai.completion": {"candidates": [
            {"content": {"role": "model", "parts": [{"text": ANSWER}]}, "finishReason": "STOP"}]},
    }),
    "responses": span({**GENAI,
        "gen_ai.prompt": QUESTION, "gen_ai.completion": {"output": [
            {"type": "reasoning", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": ANSWER}]}]},
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", SPANS)
def test_question_answer_and_model_are_read(name: str) -> None:
    part = part_of(SPANS[name], PLAIN)
    assert part is not None
    assert part.whole
    assert (part.content.text, part.content.reason) == (ANSWER, None)
    assert [message.content for message in part.content.prompt] == [QUESTION]
    assert part.content.model == "m"


CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOOL_CALLS: dict[str, dict[str, Any]] = {
    "genai": {**GENAI, "gen_ai.output.messages": [
        {"role": "assistant", "parts": [{"type": "tool_call", "name": "rate"}]}]},
    "openllmetry": {**GENAI, "gen_ai.completion.0.role": "assistant",
                    "gen_ai.completion.0.tool_calls.0.name": "rate"},
    "vercel": {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "",
               "ai.response.toolCalls": [{"toolName": "rate", "input": "{}"}]},
    "pydantic-ai": {**GENAI, "events": [
        {"event.name": "gen_ai.choice", "index": 0, "message": CALLED}]},
    "mlflow": {"mlflow.spanType": "CHAT_MODEL",
               "mlflow.spanOutputs": {"choices": [{"message": CALLED}]}},
    "mlflow's anthropic": {"mlflow.spanType": "CHAT_MODEL", "mlflow.spanOutputs": {
        "role": "assistant", "content": [{"type": "tool_use", "name": "rate", "input": {}}]}},
    "openinference": {"openinference.span.kind": "LLM",
                      "llm.output_messages.0.message.role": "assistant",
                      "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "r"},
    "langsmith": {"langsmith.span.kind": "llm", "gen_ai.completion": {
        "generations": [[{"text": "", "message": {"kwargs": {"content": "",
                                                             "tool_calls": [CALL]}}}]]}},
    "langfuse": {"langfuse.observation.type": "generation", "langfuse.observation.output": CALLED},
    "gemini": {**GENAI, "gen_ai.completion": {"candidates": [
        {"content": {"parts": [{"functionCall": {"name": "rate"}}]}}]}},
    "responses": {**GENAI, "gen_ai.completion": {"output": [
        {"type": "function_call", "name": "rate", "arguments": "{}"}]}},
}  # fmt: skip


@pytest.mark.parametrize("name", TOOL_CALLS)
def test_a_tool_call_is_the_reason_for_a_missing_text(name: str) -> None:
    part = part_of(span(TOOL_CALLS[name]), PLAIN)
    assert part is not None
    assert (part.content.text, part.content.reason) == (None, TOOL_CALL)


@pytest.mark.parametrize(
    "fields",
    [
        {
            "langsmith.span.kind": "prompt",
            "gen_ai.operation.name": "chat",
            "gen_ai.completion": "x",
        },
        {"langsmith.span.kind": "chain", "gen_ai.completion": {"output": "x"}},
        {"openinference.span.kind": "CHAIN", "output.value": "x"},
        {"mlflow.spanType": "TOOL", "mlflow.spanOutputs": "x"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.output.messages": OUTPUT},
        {"gen_ai.tool.name": "rate", "gen_ai.system": "openai"},
        {"traceloop.span.kind": "workflow", "traceloop.entity.output": "x"},
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "rate"},
    ],
)
def test_tools_and_chains_are_counted_and_are_no_answers(fields: dict[str, Any]) -> None:
    left_out = LeftOut()
    assert parts_of([span(fields)], PLAIN, left_out) == []
    assert left_out.counts == {OmissionReason.OTHER: 1}


def test_messages_that_an_exporter_cut_off_are_no_answer() -> None:
    cut = json.dumps(OUTPUT)[:-20]
    part = part_of(span({**GENAI, "gen_ai.output.messages": cut}), PLAIN)
    assert part is not None
    assert not part.content.answered


@pytest.mark.parametrize("text", ['["Ann", "Bea"]', '{"rating": 3}', "[1, 2]", "(b)", "{x"])
def test_json_that_a_model_wrote_is_its_answer(text: str) -> None:
    fields = {"openinference.span.kind": "LLM", "output.value": text}
    part = part_of(span(fields), PLAIN)
    assert part is not None
    assert part.content.text == text


def agent_tree(root: dict[str, Any]) -> list[Signal]:
    """Return an agent that calls a model, a tool, an agent of its own, and a model again."""
    return [
        span(TOOL_CALLS["genai"], 2, 1),
        span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "rate"}, 3, 1),
        span({"gen_ai.operation.name": "invoke_agent"}, 4, 3),
        span({**GENAI, "gen_ai.completion": "A step."}, 5, 4),
        span({**GENAI, "gen_ai.input.messages": PARTS, "gen_ai.output.messages": OUTPUT}, 6, 1),
        span({"user.id": "u", **root}, 1),
    ]  # fmt: skip


HISTORY = [
    *PARTS,
    {"role": "assistant", "parts": [{"type": "tool_call", "name": "rate", "arguments": "{}"}]},
    {"role": "user", "parts": [{"type": "tool_call_response", "result": "3"}]},
    *OUTPUT,
]
ROOTS: dict[str, dict[str, Any]] = {
    "messages": {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": HISTORY[1:]},
    "nothing of its own": {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"},
    "a workflow": {"gen_ai.operation.name": "invoke_workflow"},
    "pydantic-ai": {"agent_name": "a", "pydantic_ai.all_messages": HISTORY},
    "pydantic-ai before 1": {"agent_name": "a", "all_messages_events": [ASKED, CALLED, ANSWERED]},
    "vercel": {"ai.operationId": "ai.generateText", "ai.response.text": ANSWER},
    "openinference": {"openinference.span.kind": "AGENT", "output.value": ANSWER},
    "mlflow": {"mlflow.spanType": "AGENT", "mlflow.spanOutputs": {"messages": [ASKED, ANSWERED]}},
    "langfuse": {"langfuse.observation.type": "agent", "langfuse.observation.output": ANSWERED},
}  # fmt: skip


@pytest.mark.parametrize("name", ROOTS)
def test_the_answer_of_an_agent_is_its_last_text(name: str) -> None:
    left_out = LeftOut()
    (part,) = parts_of(agent_tree(ROOTS[name]), PLAIN, left_out)
    assert (part.key, part.content.text, part.unit) == (f"{'a' * 32}-{1:016x}", ANSWER, "u")
    assert part.whole
    assert left_out.counts == {OmissionReason.STEPS: 4, OmissionReason.OTHER: 1}


def test_calls_beside_an_agent_stay_answers() -> None:
    signals = [*agent_tree(ROOTS["messages"]), span({**GENAI, "gen_ai.completion": "Hi."}, 9)]
    parts = parts_of(signals, PLAIN, LeftOut())
    assert sorted(str(part.content.text) for part in parts) == ["Hi.", ANSWER]


def test_spans_that_are_their_own_ancestors_end() -> None:
    signals = [span(ROOTS["messages"], 1, 2), span({**GENAI, "gen_ai.completion": "x"}, 2, 1)]
    assert len(parts_of(signals, PLAIN, LeftOut())) == 1


def test_what_is_unread_names_its_attributes_and_a_remedy() -> None:
    left_out = LeftOut()
    signals = [span({"acme.prompt": "x", "acme.answer": "y"}), span({"http.route": "/"})]
    assert parts_of(signals, PLAIN, left_out) == []
    unread, other = left_out.sentences()
    assert unread.startswith(
        f"Left out: {OmissionReason.UNREAD} (1, with acme.prompt, acme.answer). Map"
    )
    assert other.startswith(
        f"Left out: {OmissionReason.NO_CALL} (1, with http.route). If they are model"
    )


LOG_EVENTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "a body": ({"index": 0, "message": {"content": ANSWER}}, {}),
    "a body as text": (json.dumps({"index": 0, "message": {"content": ANSWER}}), {}),
    "attributes": (None, {"gen_ai.event.content": json.dumps({"message": {"content": ANSWER}})}),
}


@pytest.mark.parametrize("name", LOG_EVENTS)
def test_a_choice_is_read_from_a_log_event(name: str) -> None:
    body, fields = LOG_EVENTS[name]
    event = Signal("a" * 32, "b" * 16, "gen_ai.choice", 1, fields, {}, False, body=body)
    part = part_of(event, PLAIN)
    assert isinstance(part, AnswerPart)
    assert joined([part]).content.text == ANSWER


def test_the_event_with_details_may_hold_its_attributes_in_the_body() -> None:
    body = {**GENAI, "gen_ai.output.messages": OUTPUT, "gen_ai.input.messages": PARTS}
    name = "gen_ai.client.inference.operation.details"
    part = part_of(Signal("a" * 32, "b" * 16, name, 1, {}, {}, False, body=body), PLAIN)
    assert part is not None
    assert (part.content.text, part.content.prompt[0].content) == (ANSWER, QUESTION)
