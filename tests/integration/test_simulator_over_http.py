"""The simulator over real HTTP, asked by the official SDK and as a process of its own."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator

import openai
import pytest

from biaswatch.services.simulator.app import build
from biaswatch.services.simulator.domain.planted_bias import (
    DEFAULT_MODELS,
    Faults,
    LaterGaps,
    PlantedModel,
)
from biaswatch.services.simulator.settings import SimulatorSettings
from tests.support.model_server import model_server
from tests.support.waiting import PATIENCE_S

ALWAYS: dict[str, Faults] = {
    "limits": Faults(rate_limited=1, retry_after_s=7),
    "breaks": Faults(server_error=1),
    "babbles": Faults(garbage=1),
    "hangs": Faults(hang=1),
    "cuts": Faults(truncated=1),
    "withholds": Faults(content_filter=1),
    "floods": Faults(oversize=1, oversize_chars=4096),
    "stumbles": Faults(server_error=0.5),
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    plants = {name: PlantedModel(faults=faults) for name, faults in ALWAYS.items()}
    plants["changes"] = PlantedModel(
        rating_gaps={"black": -1.5}, rating_noise_sd=0, later=(LaterGaps(after=3),)
    )
    app = build(SimulatorSettings(plants=plants, api_key="right"), now=lambda: 1_000.0)
    with model_server(app) as base_url:
        yield base_url


@pytest.fixture
async def client(url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key="right", base_url=url, max_retries=0) as client:
        yield client


async def words(client: openai.AsyncOpenAI, prompt: str, model: str = "biased", **more: str) -> str:
    reply = await client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": prompt}], extra_headers=more
    )
    return reply.choices[0].message.content or ""


async def test_a_model_may_change_without_a_word(client: openai.AsyncOpenAI) -> None:
    replies = [
        await client.chat.completions.create(
            model="changes",
            messages=[{"role": "user", "content": "Rate Kwame from 1 to 5."}],
            extra_headers={"X-Biaswatch-Repeat": repeat},
        )
        for repeat in ("0", "0", "1", "2", "3", "4", "0")
    ]
    ratings = [
        float((reply.choices[0].message.content or "").rpartition("Rating: ")[2])
        for reply in replies
    ]
    assert ratings == [1.5, 1.5, 1.5, 1.5, 3.0, 3.0, 1.5]
    assert len({reply.system_fingerprint for reply in replies}) == 1


async def test_the_official_sdk_reads_a_whole_completion(client: openai.AsyncOpenAI) -> None:
    reply = await client.chat.completions.create(
        model="unbiased", messages=[{"role": "user", "content": "Rate Henry from 1 to 4."}]
    )
    assert "Rating: " in (reply.choices[0].message.content or "")
    assert (reply.choices[0].finish_reason, reply.model) == ("stop", "unbiased")
    assert reply.usage
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.id.startswith("chatcmpl-")
    assert reply.system_fingerprint
    assert reply.system_fingerprint.startswith("fp_")
    assert reply.created == 1_000


async def test_the_models_are_listed(client: openai.AsyncOpenAI) -> None:
    names = {model.id async for model in client.models.list()}
    assert {*DEFAULT_MODELS, *ALWAYS, "changes"} == names


async def test_many_at_once_get_the_answers_each_gets_alone(client: openai.AsyncOpenAI) -> None:
    prompts = [f"Tell me about road {i}." for i in range(30)]
    together = await asyncio.gather(*(words(client, prompt) for prompt in prompts))
    alone = [await words(client, prompt) for prompt in reversed(prompts)]
    assert together == alone[::-1]


async def test_the_repeat_is_read_from_the_header_then_user_then_seed(
    client: openai.AsyncOpenAI,
) -> None:
    ask = client.chat.completions.create
    messages: list[openai.types.chat.ChatCompletionMessageParam] = [
        {"role": "user", "content": "Tell me about the sea."}
    ]
    header = {"X-Biaswatch-Repeat": "7"}
    replies = [
        await ask(model="biased", messages=messages, extra_headers=header, user="9"),
        await ask(model="biased", messages=messages, user="7", seed=9),
        await ask(model="biased", messages=messages, seed=7),
        await ask(model="biased", messages=messages),
    ]
    texts = [reply.choices[0].message.content for reply in replies]
    assert texts[0] == texts[1] == texts[2] != texts[3]


async def test_a_limit_of_tokens_cuts_the_answer(client: openai.AsyncOpenAI) -> None:
    reply = await client.chat.completions.create(
        model="biased", messages=[{"role": "user", "content": "Tell."}], max_completion_tokens=3
    )
    assert reply.choices[0].finish_reason == "length"
    assert reply.usage
    assert reply.usage.completion_tokens == 3


@pytest.mark.parametrize(
    ("model", "reason", "length"),
    [("cuts", "length", None), ("withholds", "content_filter", 0), ("floods", "stop", 4096)],
)
async def test_spoilt_answers_say_how_they_ended(
    client: openai.AsyncOpenAI, model: str, reason: str, length: int | None
) -> None:
    reply = await client.chat.completions.create(
        model=model, messages=[{"role": "user", "content": "Tell."}]
    )
    assert reply.choices[0].finish_reason == reason
    if length is not None:
        assert len(reply.choices[0].message.content or "") == length


async def test_a_429_says_how_long_to_wait(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.RateLimitError) as caught:
        await words(client, "hello", model="limits")
    assert caught.value.response.headers["retry-after"] == "7"
    assert caught.value.code == "rate_limit_exceeded"


async def test_a_500_is_the_sdks_server_error(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.InternalServerError):
        await words(client, "hello", model="breaks")


async def test_garbage_is_not_json(url: str) -> None:
    body = json.dumps({"model": "babbles", "messages": [{"role": "user", "content": "x"}]})
    request = urllib.request.Request(  # noqa: S310 - our own server on loopback
        f"{url}/chat/completions", body.encode(), {"Authorization": "Bearer right"}
    )

    def fetched() -> bytes:
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - the same
            return bytes(answer.read())

    with pytest.raises(json.JSONDecodeError):
        json.loads(await asyncio.to_thread(fetched))


async def test_a_server_that_hangs_lets_go_when_the_client_leaves(
    client: openai.AsyncOpenAI,
) -> None:
    with pytest.raises(openai.APITimeoutError):
        await words(client.with_options(timeout=0.2), "hello", model="hangs")


async def test_a_retry_can_succeed_where_the_first_attempt_failed(
    client: openai.AsyncOpenAI,
) -> None:
    async def ends(repeat: int, attempt: int) -> bool:
        header = {"X-Biaswatch-Repeat": str(repeat), "X-Biaswatch-Attempt": str(attempt)}
        try:
            return bool(await words(client, "hello", "stumbles", **header))
        except openai.InternalServerError:
            return False

    outcomes = [[await ends(repeat, attempt) for attempt in range(6)] for repeat in range(8)]
    assert not all(first for first, *_ in outcomes)
    assert all(any(attempts) for attempts in outcomes)
    assert await ends(0, 0) == outcomes[0][0]


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (lambda r: r.update(model="nobody"), openai.NotFoundError, "Unknown model 'nobody'"),
        (lambda r: r.update(messages=[]), openai.BadRequestError, "messages"),
        (lambda r: r.update(n=2), openai.BadRequestError, "at n"),
        (lambda r: r.update(max_tokens=0), openai.BadRequestError, "max_tokens"),
        (lambda r: r.update(tools=[{"type": "function"}]), openai.BadRequestError, "tools"),
        (lambda r: r.update(stream=True), openai.BadRequestError, "stream"),
    ],
)
async def test_a_wrong_request_is_refused_with_its_field_named(
    client: openai.AsyncOpenAI,
    spoil: Callable[[dict[str, object]], None],
    error: type[openai.APIStatusError],
    says: str,
) -> None:
    request: dict[str, object] = {"model": "biased", "messages": [{"role": "user", "content": "x"}]}
    spoil(request)
    with pytest.raises(error, match=says) as caught:
        await client.post("/chat/completions", body=request, cast_to=object)
    assert caught.value.type == "invalid_request_error"


async def test_a_wrong_key_and_a_wrong_path_are_told_in_openais_shape(
    client: openai.AsyncOpenAI,
) -> None:
    with pytest.raises(openai.AuthenticationError) as refused:
        await words(client.with_options(api_key="wrong"), "hello")
    assert refused.value.code == "invalid_api_key"
    with pytest.raises(openai.NotFoundError, match="Unknown endpoint: POST"):
        await client.post("/nowhere", body={}, cast_to=object)


def started(**environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "biaswatch.services.simulator.app"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_as_a_process_it_prints_its_address_answers_and_stops() -> None:
    with started(BIASWATCH_SIMULATOR_PORT="0") as process:
        assert process.stdout
        url = process.stdout.readline().split()[-1]
        with openai.OpenAI(api_key="any", base_url=url, max_retries=0) as client:
            assert "biased" in {model.id for model in client.models.list()}
        process.terminate()
        _, complaints = process.communicate(timeout=PATIENCE_S)
    assert complaints == ""


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"BIASWATCH_SIMULATOR_PORT": "99999"}, "BIASWATCH_SIMULATOR_PORT is wrong"),
        (
            {"BIASWATCH_SIMULATOR_PLANTS": '{"m": {"rating_gap": {}}}'},
            "BIASWATCH_SIMULATOR_PLANTS is wrong (at m.rating_gap)",
        ),
        (
            {"BIASWATCH_SIMULATOR_FAULTS": "{hang"},
            'is not JSON: error parsing value for field "faults"',
        ),
        ({"BIASWATCH_SIMULATOR_HOST": "192.0.2.1"}, "cannot listen on 192.0.2.1"),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_exit_code_2(
    environment: dict[str, str], says: str
) -> None:
    with started(**environment) as process:
        _, complaint = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert says in complaint
    assert complaint.count("\n") == 1
