"""Calls of tools in the formats of providers and applications, valid, hostile and too large."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from biaswatch.shared.contracts.providers.http import StepPointers
from biaswatch.shared.contracts.tools import ScriptedResult, Tool, ToolCall, scripted_result
from biaswatch.shared.llm.anthropic_messages import AnthropicMessages
from biaswatch.shared.llm.http_app import steps_in
from biaswatch.shared.llm.local_chat import LocalChat
from biaswatch.shared.llm.openai_formats import OpenAIChat, OpenAIResponses
from biaswatch.shared.llm.port import CallFailed, Failure, ModelAnswer, ModelCall, ModelEndpoint
from tests.support.model_server import model_server

TOOL = Tool(name="refund", description="Refunds.", parameters={"percent": {"type": "number"}})
MADE = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"a": 1}'}}
CALL = ModelCall(
    model="m",
    messages=(
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Money back."},
        {"role": "assistant", "content": "I look.", "tool_calls": [MADE, {**MADE, "id": "c2"}]},
        {"role": "tool", "content": "Refunded.", "tool_call_id": "c1"},
        {"role": "tool", "content": "Refunded again.", "tool_call_id": "c2"},
        {"role": "user", "content": "And?"},
    ),
    repeat_key="r",
    tools=(TOOL,),
)
ENDPOINT = ModelEndpoint(url="http://127.0.0.1:1/v1")


def chat_answer(*calls: Any, content: str | None = None) -> ModelAnswer:
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    choice = {"message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return OpenAIChat(ENDPOINT)._answer({"choices": [choice], "usage": usage})


def call_with(arguments: Any, name: Any = "refund") -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_chat_completions_declares_tools_and_reads_calls() -> None:
    body = OpenAIChat(ENDPOINT)._request(CALL, None)
    assert body["tools"][0]["function"]["parameters"]["required"] == ["percent"]
    assert body["messages"][2]["tool_calls"][0]["id"] == "c1"
    answer = chat_answer(call_with('{"percent": 80}'))
    assert (answer.text, answer.tokens) == ("", (3, 2))
    assert answer.calls == (ToolCall(id="c1", name="refund", arguments='{"percent": 80}'),)


@dataclass(frozen=True)
class OwnServer:
    """A llama.cpp server of this machine that runs already."""

    url: str
    runs: bool = True

    def address(self) -> str:
        return self.url


@pytest.mark.parametrize("shows_tools", [True, False])
async def test_a_local_model_whose_template_shows_no_tools_is_refused(shows_tools: bool) -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [call_with("{}")]}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        answer = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {}}
        properties = {"chat_template_caps": {"supports_tools": shows_tools}}
        body = json.dumps(properties if scope["path"] == "/props" else answer).encode()
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    with model_server(app) as url:
        server = url.removesuffix("/v1")
        chat = LocalChat(OwnServer(server), ModelEndpoint(url=f"{server}/v1"))
        if shows_tools:
            assert [call.name for call in (await chat.ask(CALL)).calls] == ["refund"]
        else:
            with pytest.raises(CallFailed, match="shows no tools") as refused:
                await chat.ask(CALL)
            assert refused.value.why is Failure.BAD_REQUEST
        await chat.close()


def test_anthropic_messages_declares_tools_and_reads_calls() -> None:
    body = AnthropicMessages(ENDPOINT)._request(CALL, None)
    assert body["tools"][0]["input_schema"]["properties"] == {"percent": {"type": "number"}}
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user", "user"]
    assert [part["type"] for part in body["messages"][1]["content"]] == [
        "text", "tool_use", "tool_use",
    ]  # fmt: skip
    assert [part["tool_use_id"] for part in body["messages"][2]["content"]] == ["c1", "c2"]
    used = {"type": "tool_use", "id": "c3", "name": "refund", "input": {"percent": 80}}
    reply = {"content": [used], "stop_reason": "tool_use"}
    [call] = AnthropicMessages(ENDPOINT)._answer(reply).calls
    assert (call.id, json.loads(call.arguments)) == ("c3", {"percent": 80})


def test_the_responses_api_names_the_format_that_has_tools() -> None:
    with pytest.raises(CallFailed, match="openai:"):
        OpenAIResponses(ENDPOINT)._request(CALL, None)


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ([call_with("{not JSON")], Failure.TOOL_CALL),
        ([call_with("[1]")], Failure.TOOL_CALL),
        ([call_with("[" * 100_000)], Failure.OVERSIZE),
        ([call_with("[" * 50_000)], Failure.TOOL_CALL),
        ([call_with(7)], Failure.TOOL_CALL),
        ([call_with(json.dumps({"text": "x" * 1_000_000}))], Failure.OVERSIZE),
        ([call_with("{}", name=None)], Failure.TOOL_CALL),
        ([call_with("{}")] * 1000, Failure.OVERSIZE),
        ([None], Failure.TOOL_CALL),
    ],
)
def test_an_invalid_call_is_a_failed_answer_with_a_reason(calls: Any, why: Failure) -> None:
    with pytest.raises(CallFailed) as failed:
        chat_answer(*calls)
    assert failed.value.why is why
    assert failed.value.tokens == (3, 2)


@pytest.mark.parametrize("calls", [7, "x", {"a": 1}])
def test_calls_of_another_type_are_no_calls(calls: Any) -> None:
    message = {"role": "assistant", "content": "Done.", "tool_calls": calls}
    reply = {"choices": [{"message": message, "finish_reason": "stop"}]}
    assert OpenAIChat(ENDPOINT)._answer(reply).calls == ()


def test_surrogates_and_missing_arguments_are_readable() -> None:
    [first, second] = chat_answer(call_with('{"a": "\\ud800"}'), call_with(None)).calls
    assert json.loads(first.arguments) == {"a": "\ufffd"}
    assert second.arguments == "{}"


def test_the_first_script_whose_arguments_fit_gives_the_result() -> None:
    scripts = (
        ScriptedResult(when={"percent": 100, "to": "Card"}, result="Not possible."),
        ScriptedResult(result="Refunded."),
    )
    tool = TOOL.model_copy(update={"results": scripts})
    for arguments, result in (
        ('{"percent": 100.0, "to": "card "}', "Not possible."),
        ('{"percent": 99, "to": "card"}', "Refunded."),
    ):
        assert (
            scripted_result((tool,), ToolCall(id="c", name="refund", arguments=arguments)) == result
        )


POINTERS = StepPointers(list="/steps", arguments="/args")


def test_the_steps_of_an_application_are_read() -> None:
    reply = {
        "steps": [
            {"name": "search", "args": '{"q": "returns"}', "result": {"id": 4}},
            {"name": "refund", "args": {"percent": 80}},
        ]
    }
    steps = steps_in(reply, POINTERS)
    assert [(step.name, step.values, step.result) for step in steps] == [
        ("search", {"q": "returns"}, '{"id": 4}'),
        ("refund", {"percent": 80}, ""),
    ]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({}, Failure.GARBAGE),
        ({"steps": "none"}, Failure.GARBAGE),
        ([], Failure.GARBAGE),
        ({"steps": [{"name": "search"}] * 1000}, Failure.OVERSIZE),
        ({"steps": [{"args": {}}]}, Failure.TOOL_CALL),
        ({"steps": [7]}, Failure.TOOL_CALL),
        ({"steps": [{"name": "search", "args": "{"}]}, Failure.TOOL_CALL),
        ({"steps": [{"name": "search", "args": {"q": "x" * 1_000_000}}]}, Failure.OVERSIZE),
    ],
)
def test_invalid_steps_of_an_application_are_a_failed_answer(reply: Any, why: Failure) -> None:
    with pytest.raises(CallFailed) as failed:
        steps_in(reply, POINTERS)
    assert failed.value.why is why
