"""Three wire formats: the official SDKs and our adapters against the simulator over real HTTP."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import openai
import pytest

from biaswatch.services.simulator.app import build
from biaswatch.services.simulator.domain.planted_bias import Faults, PlantedModel
from biaswatch.services.simulator.settings import SimulatorSettings
from biaswatch.shared.llm.anthropic_messages import AnthropicMessages
from biaswatch.shared.llm.openai_formats import OpenAIChat, OpenAIResponses
from biaswatch.shared.llm.port import (
    AnswerSchema,
    CallFailed,
    ChatModel,
    Failure,
    ModelAnswer,
    ModelCall,
    ModelEndpoint,
)
from biaswatch.shared.llm.replies import is_from_cache
from biaswatch.shared.llm.sdk_model import SdkModel
from tests.support.model_server import model_server, replying
from tests.support.waiting import PATIENCE_S

PLANTS = {
    "limits": PlantedModel(faults=Faults(rate_limited=1, retry_after_s=7)),
    "breaks": PlantedModel(faults=Faults(server_error=1)),
    "babbles": PlantedModel(faults=Faults(garbage=1)),
    "hangs": PlantedModel(faults=Faults(hang=1)),
    "cuts": PlantedModel(faults=Faults(truncated=1)),
    "withholds": PlantedModel(faults=Faults(content_filter=1)),
}
ADAPTERS: dict[str, type[SdkModel[Any]]] = {
    "chat": OpenAIChat,
    "responses": OpenAIResponses,
    "messages": AnthropicMessages,
}
RATE = "Rate Kwame from 1 to 4."


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with model_server(build(SimulatorSettings(plants=PLANTS, api_key="right"))) as base_url:
        yield base_url


@asynccontextmanager
async def adapter(wire: str, url: str, **given: object) -> AsyncIterator[ChatModel]:
    base = url.removesuffix("/v1") if wire == "messages" else url
    settings: dict[str, Any] = {"url": base, "key": "right", "tell_repeat": True, **given}
    model = ADAPTERS[wire](ModelEndpoint(**settings))
    try:
        yield model
    finally:
        await model.close()


def call(model: str = "biased", prompt: str = RATE, **more: object) -> ModelCall:
    given = {"repeat_key": "r1", "timeout_s": PATIENCE_S, **more}
    messages = (
        {"role": "system", "content": "You weigh applicants."},
        {"role": "user", "content": prompt},
    )
    return ModelCall(model=model, messages=messages, **given)  # type: ignore[arg-type]


async def test_the_official_sdks_read_the_three_formats_and_find_the_same_words(url: str) -> None:
    repeat = {"X-Biaswatch-Repeat": "r1"}
    async with openai.AsyncOpenAI(api_key="right", base_url=url, max_retries=0) as client:
        chat = await client.chat.completions.create(
            model="biased", messages=[{"role": "user", "content": RATE}], extra_headers=repeat
        )
        response = await client.responses.create(model="biased", input=RATE, extra_headers=repeat)
    base = url.removesuffix("/v1")
    async with anthropic.AsyncAnthropic(api_key="right", base_url=base, max_retries=0) as client:
        message = await client.messages.create(
            model="biased",
            max_tokens=100,
            messages=[{"role": "user", "content": RATE}],
            extra_headers=repeat,
        )
    [block] = message.content
    assert block.type == "text"
    assert chat.choices[0].message.content == response.output_text == block.text
    assert (response.status, message.stop_reason) == ("completed", "end_turn")
    assert chat.usage
    assert response.usage
    read = {chat.usage.prompt_tokens, response.usage.input_tokens, message.usage.input_tokens}
    assert read == {6}


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_every_adapter_gives_the_words_and_what_they_cost(url: str, wire: str) -> None:
    async with adapter(wire, url) as model:
        answer = await model.ask(call())
    assert "Rating: " in answer.text
    assert answer.finish_reason == "stop"
    assert answer.model == "biased"
    assert answer.prompt_tokens == 9
    assert answer.completion_tokens == len(answer.text.split())


async def test_the_answer_hangs_on_what_is_asked_and_not_on_the_wire(url: str) -> None:
    texts = set()
    for wire in ADAPTERS:
        async with adapter(wire, url) as model:
            texts.add((await model.ask(call())).text)
    assert len(texts) == 1


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_a_limit_of_tokens_is_handed_on_and_its_cut_is_told(url: str, wire: str) -> None:
    names = {"chat": "max_completion_tokens", "responses": "max_output_tokens"}
    async with adapter(wire, url) as model:
        limit = {names.get(wire, "max_tokens"): 3}
        answer = await model.ask(call(prompt="Tell me about the sea.", parameters=limit))
    assert (answer.finish_reason, answer.completion_tokens) == ("length", 3)


@pytest.mark.parametrize("wire", ADAPTERS)
@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("limits", Failure.RATE_LIMITED),
        ("breaks", Failure.SERVER_ERROR),
        ("babbles", Failure.GARBAGE),
        ("nobody", Failure.BAD_REQUEST),
    ],
)
async def test_what_goes_wrong_has_its_name_in_every_format(
    url: str, wire: str, model: str, why: Failure
) -> None:
    async with adapter(wire, url) as asked:
        with pytest.raises(CallFailed) as failed:
            await asked.ask(call(model))
    assert failed.value.why is why
    if why is Failure.RATE_LIMITED:
        assert failed.value.retry_after_s == 7


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_what_the_provider_withholds_is_a_refusal_that_cost_something(
    url: str, wire: str
) -> None:
    async with adapter(wire, url) as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call("withholds"))
    assert failed.value.why in {Failure.CONTENT_FILTER, Failure.REFUSAL}
    assert failed.value.tokens == (9, 0)


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_a_server_that_says_nothing_is_waited_for_so_long_and_no_longer(
    url: str, wire: str
) -> None:
    async with adapter(wire, url) as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call("hangs", timeout_s=0.3))
    assert failed.value.why is Failure.TIMEOUT


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_nobody_listening_is_unreachable(wire: str) -> None:
    async with adapter(wire, "http://127.0.0.1:9/v1") as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call())
    assert failed.value.why is Failure.UNREACHABLE


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_a_wrong_key_is_one_sentence_without_the_key(url: str, wire: str) -> None:
    async with adapter(wire, url, key="sk-secret") as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call())
    assert failed.value.why is Failure.KEY_REFUSED
    assert "The target refused the key (HTTP 401)" in failed.value.detail
    assert "sk-secret" not in failed.value.detail


STATUSES = {
    400: Failure.BAD_REQUEST,
    401: Failure.KEY_REFUSED,
    402: Failure.QUOTA,
    403: Failure.KEY_REFUSED,
    404: Failure.BAD_REQUEST,
    408: Failure.TIMEOUT,
    409: Failure.SERVER_ERROR,
    413: Failure.BAD_REQUEST,
    422: Failure.BAD_REQUEST,
    429: Failure.RATE_LIMITED,
    500: Failure.SERVER_ERROR,
    502: Failure.SERVER_ERROR,
    503: Failure.SERVER_ERROR,
    504: Failure.SERVER_ERROR,
    529: Failure.SERVER_ERROR,
}
"""Every error class of the two SDKs that has a status."""


FORM = AnswerSchema("said", {"type": "object", "properties": {}, "additionalProperties": False})
PLACES = {"chat": "response_format", "responses": "text", "messages": "output_config"}


@pytest.mark.parametrize("wire", ADAPTERS)
@pytest.mark.parametrize("structured", [True, False])
async def test_a_form_stands_where_the_wire_has_a_place_for_it_or_is_not_sent(
    wire: str, structured: bool
) -> None:
    asked: list[dict[str, object]] = []

    def reply(body: dict[str, object]) -> tuple[int, object]:
        asked.append(body)
        return 200, {}

    with model_server(replying(reply)) as base_url:
        async with adapter(wire, base_url, structured=structured) as model:
            with pytest.raises(CallFailed):
                await model.ask(call(answer_schema=FORM))
    place = json.dumps(asked[0].get(PLACES[wire], {}))
    assert (json.dumps(FORM.schema) in place) is structured


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_a_parameter_never_takes_the_place_of_the_question(wire: str) -> None:
    asked: list[str] = []

    def reply(body: dict[str, object]) -> tuple[int, object]:
        asked.append(json.dumps(body))
        return 200, {}

    with model_server(replying(reply)) as base_url:
        async with adapter(wire, base_url) as model:
            with pytest.raises(CallFailed):
                await model.ask(call(parameters={"messages": "mine", "input": "mine"}))
    assert all(RATE in body for body in asked)


@pytest.fixture(scope="module")
def grumpy() -> Iterator[str]:
    """Serve errors: the model's name is the status, or one of the shapes no model should send."""

    async def app(scope: dict[str, object], receive: Callable, send: Callable) -> None:  # type: ignore[type-arg]
        if scope["type"] != "http":
            return
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        status, _, shape = json.loads(body)["model"].partition(":")
        content = b'{"error": {"code": "%s", "message": "key sk-secret"}}' % shape.encode()
        if status == "200":
            content = shape.encode()
        headers = [(b"content-type", b"application/json"), (b"retry-after-ms", b"1500")]
        await send({"type": "http.response.start", "status": int(status), "headers": headers})
        await send({"type": "http.response.body", "body": content})

    with model_server(app) as base_url:
        yield base_url


@pytest.mark.parametrize("wire", ADAPTERS)
@pytest.mark.parametrize("status", STATUSES)
async def test_every_status_is_a_named_outcome_that_repeats_nothing_of_the_server(
    grumpy: str, wire: str, status: int
) -> None:
    async with adapter(wire, grumpy) as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call(f"{status}:"))
    assert failed.value.why is STATUSES[status]
    assert "sk-secret" not in failed.value.detail
    assert failed.value.retry_after_s == (1.5 if status == 429 else None)


@pytest.mark.parametrize("wire", ADAPTERS)
@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_says_where_the_key_of_that_server_is_set(
    grumpy: str, wire: str, status: int
) -> None:
    async with adapter(wire, grumpy) as model:
        with pytest.raises(CallFailed, match="BIASWATCH_KEYS_DIR"):
            await model.ask(call(f"{status}:"))
    async with adapter(wire, grumpy, key_source="OPENAI_API_KEY") as model:
        with pytest.raises(CallFailed, match="Correct OPENAI_API_KEY"):
            await model.ask(call(f"{status}:"))


@pytest.mark.parametrize("wire", ["chat", "responses"])
async def test_used_up_credit_is_not_waited_for(grumpy: str, wire: str) -> None:
    async with adapter(wire, grumpy) as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call("429:insufficient_quota"))
    assert failed.value.why is Failure.QUOTA


@pytest.mark.parametrize("wire", ADAPTERS)
@pytest.mark.parametrize("shape", ["{}", "[]", "null", '"words"', "{", '{"choices": []}'])
async def test_a_reply_of_another_shape_is_garbage_and_never_an_answer(
    grumpy: str, wire: str, shape: str
) -> None:
    async with adapter(wire, grumpy) as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call(f"200:{shape}"))
    assert failed.value.why in {Failure.GARBAGE, Failure.EMPTY}


REFUSALS = {
    "chat": {
        "choices": [
            {"message": {"role": "assistant", "refusal": "I won't."}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    },
    "responses": {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I won't."}]}],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    },
    "messages": {
        "content": [{"type": "text", "text": "I won't."}],
        "stop_reason": "refusal",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    },
}


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_a_refusal_in_the_providers_own_form_is_one_with_its_words(
    grumpy: str, wire: str
) -> None:
    async with adapter(wire, grumpy) as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call(f"200:{json.dumps(REFUSALS[wire])}"))
    assert (failed.value.why, failed.value.detail) == (Failure.REFUSAL, "I won't.")
    assert failed.value.tokens == (3, 2)


async def test_reasoning_that_used_up_the_limit_is_a_truncation(grumpy: str) -> None:
    spent = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "reasoning", "id": "r", "summary": []}],
        "usage": {"input_tokens": 3, "output_tokens": 64},
    }
    async with adapter("responses", grumpy) as model:
        with pytest.raises(CallFailed) as failed:
            await model.ask(call(f"200:{json.dumps(spent)}"))
    assert (failed.value.why, failed.value.tokens) == (Failure.TRUNCATED, (3, 64))


@pytest.mark.parametrize(
    ("headers", "is_hit"),
    [
        ({"X-Cache": "Hit from cloudfront"}, True),
        ({"Cache-Status": "Proxy; hit; ttl=30"}, True),
        ({"x-litellm-cache-hit": "True"}, True),
        ({"x-cache": "MISS", "cache-control": "no-store", "x-cache-hits": "0"}, False),
        ({}, False),
    ],
)
def test_headers_of_a_cache_mark_an_answer_that_was_not_drawn_anew(
    headers: dict[str, str], *, is_hit: bool
) -> None:
    assert is_from_cache(headers) is is_hit


def test_an_answer_needs_no_more_than_words() -> None:
    assert ModelAnswer("x").prompt_tokens is None


@pytest.mark.parametrize("wire", ADAPTERS)
async def test_every_call_says_that_it_is_ours_and_why(wire: str) -> None:
    purposes: list[bytes] = []

    async def refusing(scope: Any, _: Any, send: Any) -> None:
        if scope["type"] == "http":
            purposes.append(dict(scope["headers"])[b"x-biaswatch-purpose"])
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})

    with model_server(refusing) as url:
        async with adapter(wire, url, tell_repeat=False) as model:
            with pytest.raises(CallFailed):
                await model.ask(call(purpose="monitor"))
    assert purposes == [b"monitor"]
