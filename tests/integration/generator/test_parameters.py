"""Parameters of a target, in every wire format: each is sent as it is given, or refused."""

import json
from typing import Any

import pytest

from biaswatch.shared.contracts.providers.http import Application
from biaswatch.shared.contracts.target import parse_target
from biaswatch.shared.errors import UsageError
from biaswatch.shared.llm.http_app import HttpApp
from biaswatch.shared.llm.port import CallFailed, Failure, ModelCall
from tests.integration.generator.test_wire_formats import ADAPTERS, adapter, call
from tests.support.model_server import Message, model_server, replying
from tests.support.waiting import PATIENCE_S

PROVIDERS = {"chat": "openai", "responses": "openai-responses", "messages": "anthropic"}
UNKNOWN_TO_SDKS = (
    "top_k=40&min_p=0.05&repetition_penalty=1.1&temperature=0.5&top_p=0.9&enabled=true"
    '&chat_template_kwargs={"enable_thinking":false}&reasoning={"effort":"low","exclude":true}'
    '&stop_token_ids=[1,2]&provider.order=["a"]&nothing=null&guided="a b"'
)
SENT = {
    "top_k": 40, "min_p": 0.05, "repetition_penalty": 1.1, "temperature": 0.5, "top_p": 0.9,
    "enabled": True, "chat_template_kwargs": {"enable_thinking": False},
    "reasoning": {"effort": "low", "exclude": True}, "stop_token_ids": [1, 2],
    "provider": {"order": ["a"]}, "nothing": None, "guided": "a b",
}  # fmt: skip


class Recording:
    """A server that notes what it is sent, and answers with an error."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.queries: list[bytes] = []

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part["body"], part.get("more_body", False)
        self.bodies.append(json.loads(body))
        self.queries.append(scope["query_string"])
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 400, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"error": {"message": "no"}}'})


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_a_parameter_that_no_sdk_names_is_sent_as_it_is_given(wire: str) -> None:
    server = Recording()
    with model_server(server) as url:
        target = parse_target(f"{PROVIDERS[wire]}:m@{url}?{UNKNOWN_TO_SDKS}")
        async with adapter(wire, url) as model:
            with pytest.raises(CallFailed, match="no"):
                await model.ask(call(parameters=target.parameters))
    [body] = server.bodies
    assert {name: body.get(name, "missing") for name in SENT} == SENT
    assert body["model"] == "biased"


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_the_version_of_an_api_is_sent_in_the_query(wire: str) -> None:
    server = Recording()
    with model_server(server) as url:
        target = parse_target(f"{PROVIDERS[wire]}:m@{url}?api-version=2024-10-21&top_k=40")
        async with adapter(wire, url) as model:
            with pytest.raises(CallFailed):
                await model.ask(call(parameters=target.parameters))
    assert server.queries == [b"api-version=2024-10-21"]
    assert "api-version" not in server.bodies[0]
    assert server.bodies[0]["top_k"] == 40


@pytest.mark.parametrize("wire", ADAPTERS)
@pytest.mark.parametrize("name", ["messages", "input", "model", "stream", "system", "extra_body"])
async def test_a_parameter_that_the_platform_sets_is_refused(wire: str, name: str) -> None:
    with pytest.raises(UsageError, match=f"The parameter {name} cannot be set"):
        parse_target(f"{PROVIDERS[wire]}:m?{name}=1")
    server = Recording()
    with model_server(server) as url:
        async with adapter(wire, url) as model:
            with pytest.raises(CallFailed, match=f"The parameter {name} cannot be set") as failed:
                await model.ask(call(parameters={name: 1}))
    assert failed.value.why is Failure.BAD_REQUEST
    assert server.bodies == []


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_a_request_that_cannot_be_made_is_a_bad_request_and_says_so(wire: str) -> None:
    server = Recording()
    with model_server(server) as url:
        async with adapter(wire, url) as model:
            with pytest.raises(CallFailed, match="nothing was sent") as failed:
                await model.ask(call(parameters={"guided": "\ud800"}))
    assert (failed.value.why, failed.value.tokens) == (Failure.BAD_REQUEST, None)
    assert server.bodies == []


async def test_a_request_of_an_application_that_cannot_be_made_says_so() -> None:
    app = HttpApp(
        Application(url="http://127.0.0.1:9/ask", request={"q": "{prompt}"}, answer="/a"),
        key=None,
        private_hosts=["127.0.0.1"],
    )
    asked = ModelCall(
        model="m",
        messages=({"role": "user", "content": "\ud800"},),
        repeat_key="r",
        timeout_s=PATIENCE_S,
    )
    with pytest.raises(CallFailed, match="nothing was sent") as failed:
        await app.ask(asked)
    await app.close()
    assert failed.value.why is Failure.BAD_REQUEST


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"choices": [{"message": None, "finish_reason": "content_filter"}]}, "content_filter"),
        (
            {"choices": [{"message": {"content": None}, "finish_reason": "SAFETY"}]},
            "content_filter",
        ),
        ({"choices": [], "promptFeedback": {"blockReason": "OTHER"}}, "content_filter"),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}, "truncated"),
        ({"choices": [{"message": None, "finish_reason": "MAX_TOKENS"}]}, "truncated"),
        ({"choices": [{"message": {}, "finish_reason": "model_length"}]}, "truncated"),
        ({"error": {"message": "overloaded", "code": 502}}, "server_error"),
        ({"error": {"message": "Insufficient credits", "code": 402}}, "quota"),
        ({"choices": [{"message": {"content": " "}, "finish_reason": "stop"}]}, "empty"),
    ],
)
async def test_a_reply_without_a_text_has_its_reason(reply: dict[str, Any], why: str) -> None:
    with model_server(replying(lambda _: (200, reply))) as url:
        async with adapter("chat", url) as model:
            with pytest.raises(CallFailed) as failed:
                await model.ask(call())
    assert failed.value.why.value == why


@pytest.mark.parametrize("stop", ["guardrail_intervened", "content_filtered"])
async def test_a_guardrail_of_a_message_is_a_content_filter(stop: str) -> None:
    reply = {"content": [{"type": "text", "text": "Blocked."}], "stop_reason": stop}
    with model_server(replying(lambda _: (200, reply))) as url:
        async with adapter("messages", url) as model:
            with pytest.raises(CallFailed) as failed:
                await model.ask(call())
    assert failed.value.why is Failure.CONTENT_FILTER


@pytest.mark.parametrize(
    ("status", "reply", "why"),
    [
        (200, {"promptFeedback": {"blockReason": "SAFETY"}}, "content_filter"),
        (200, {"candidates": [{"finishReason": "RECITATION"}]}, "content_filter"),
        (200, {"candidates": [{"finishReason": "MAX_TOKENS"}]}, "truncated"),
        (200, {"error": {"message": "No credit.", "code": 402}}, "quota"),
        (200, {"candidates": []}, "garbage"),
        (404, {"error": {"message": "No such model.", "status": "NOT_FOUND"}}, "bad_request"),
        (429, {"error": {"message": "no credit left", "type": "insufficient_quota"}}, "quota"),
    ],
)
async def test_a_reply_of_an_application_without_a_text_has_its_reason(
    status: int, reply: dict[str, Any], why: str
) -> None:
    with model_server(replying(lambda _: (status, reply))) as url:
        app = HttpApp(
            Application(
                url=url, request={"q": "{prompt}"}, answer="/candidates/0/content/parts/0/text"
            ),
            key=None,
            private_hosts=["127.0.0.1"],
        )
        with pytest.raises(CallFailed) as failed:
            await app.ask(call())
        await app.close()
    assert failed.value.why.value == why
