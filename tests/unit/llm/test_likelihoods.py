"""Log-probabilities as servers return them: forced tokens, echoes, and the most likely tokens."""

from collections.abc import Callable, Mapping
from math import log
from typing import Any

import pytest

from biaswatch.shared.llm.likelihoods import chat_scores, completion_scores, llama_scores
from biaswatch.shared.llm.port import CallFailed, Continuations, Failure, ModelCall

ASK = ModelCall("m", ({"role": "user", "content": "1 or 10?"},), "r1", {"max_tokens": 99})
WORDS = {"<s>": 1, "say": 2, " one": 3, " two": 4, "1": 5, "0": 6}


class Llama:
    """A llama.cpp server whose tokens are words; each has its id as the negative logit."""

    def __init__(self, completion: Callable[[dict[str, Any]], Any] | None = None) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._completion = completion

    async def __call__(self, path: str, body: Mapping[str, Any] | None) -> Any:
        if path == "/props":
            return {"bos_token": "<s>"}
        assert body is not None
        if path == "/apply-template":
            return {"prompt": "say"}
        if path == "/tokenize":
            return {"tokens": list(tokens_of(body["content"]))}
        assert path == "/completion"
        self.bodies.append(dict(body))
        [[token, _]] = body["logit_bias"]
        chosen = {"id": token, "logprob": -float(token)}
        return {
            "completion_probabilities": [self._completion(chosen) if self._completion else chosen]
        }


def tokens_of(text: str) -> list[int]:
    ids = []
    while text:
        word = next(word for word in WORDS if text.startswith(word))
        ids.append(WORDS[word])
        text = text.removeprefix(word)
    return ids


def asked(*texts: str, context: str | None = None) -> Continuations:
    return Continuations(texts, context)


async def test_each_token_is_forced_once_after_the_tokens_before_it() -> None:
    server = Llama()
    answer = await llama_scores(server, ASK, asked("1", "10"))
    assert answer.scores == [[("5", -5.0)], [("5", -5.0), ("6", -6.0)]]
    assert answer.text == "1"
    assert answer.tokens == (5, 0)
    assert [body["prompt"] for body in server.bodies] == [[2], [2, 5]]
    assert all((body["n_predict"], body["n_probs"]) == (1, 1) for body in server.bodies)
    assert not any("grammar" in body for body in server.bodies)


async def test_a_whole_text_follows_the_first_token_of_the_model() -> None:
    server = Llama()
    answer = await llama_scores(server, ASK, asked("say one", "say two", context=""))
    assert answer.scores[1] == [("2", -2.0), ("4", -4.0)]
    assert server.bodies[0]["prompt"] == [1]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (lambda chosen: {**chosen, "id": 99}, "another token"),
        (lambda chosen: {**chosen, "logprob": float("nan")}, "not finite"),
        (lambda chosen: {**chosen, "logprob": float("-inf")}, "not finite"),
        (lambda chosen: {**chosen, "logprob": None}, "not finite"),
        (lambda chosen: {**chosen, "logprob": True}, "not finite"),
        (lambda chosen: {**chosen, "logprob": 0.5}, "above 0"),
        (lambda _: {"content": "one"}, "another token"),
        (lambda _: None, "another token"),
    ],
)
async def test_what_is_no_log_probability_of_the_token_is_a_failure(
    reply: Callable[[dict[str, Any]], Any], reason: str
) -> None:
    with pytest.raises(CallFailed, match=reason) as failed:
        await llama_scores(Llama(reply), ASK, asked("1", "0"))
    assert failed.value.why is Failure.NO_LOGPROBS
    assert "`likelihood` needs llama.cpp, vLLM" in failed.value.detail


async def test_a_log_probability_rounded_above_zero_is_zero() -> None:
    server = Llama(lambda chosen: {**chosen, "logprob": 1e-6})
    assert (await llama_scores(server, ASK, asked("1", "0"))).scores == [[("5", 0.0)], [("6", 0.0)]]


async def test_a_token_over_the_end_of_the_context_is_a_failure() -> None:
    async def server(path: str, body: Mapping[str, Any] | None) -> Any:
        return {"tokens": [7] if (body or {})["content"] == "say" else [8]}

    with pytest.raises(CallFailed, match="begin it with a space"):
        await llama_scores(server, ASK, asked("ing", context="say"))


@pytest.mark.parametrize("tokens", [None, ["1"], [1.5], [True], {"tokens": 1}])
async def test_tokens_without_ids_are_a_failure(tokens: object) -> None:
    async def server(path: str, body: Mapping[str, Any] | None) -> Any:
        return {"tokens": tokens}

    with pytest.raises(CallFailed, match="no token ids"):
        await llama_scores(server, ASK, asked(" one", context="say"))


def echo(*tokens: tuple[str, float | None], read: int | None = None) -> Any:
    """Return an echo as vLLM writes it, with one written token at its end."""
    logprobs = {
        "tokens": [*(token for token, _ in tokens), "!"],
        "token_logprobs": [*(value for _, value in tokens), -9.0],
    }
    usage = {"prompt_tokens": len(tokens) if read is None else read, "completion_tokens": 1}
    return {"choices": [{"text": "", "logprobs": logprobs}], "usage": usage}


async def completions(replies: Mapping[str, Any], continuations: Continuations) -> Any:
    async def server(path: str, body: Mapping[str, Any] | None) -> Any:
        assert path == "completions"
        assert body is not None
        assert body["echo"]
        return replies[body["prompt"]]

    return await completion_scores(server, ASK, continuations)


async def test_an_echo_is_read_after_the_tokens_of_the_context() -> None:
    answer = await completions(
        {
            "say": echo(("<s>", None), ("say", -1.0)),
            "say one": echo(("<s>", None), ("say", -1.0), (" one", -2.5)),
            "say two": echo(("<s>", None), ("say", -1.0), (" two", -0.5)),
        },
        asked(" one", " two", context="say"),
    )
    assert answer.scores == [[(" one", -2.5)], [(" two", -0.5)]]
    assert answer.text == " two"


async def test_an_echoed_whole_text_needs_a_first_token_of_the_model() -> None:
    begun = echo(("<s>", None), ("say", -1.0), (" one", -2.0))
    answer = await completions({"say one": begun}, asked("say one", context=""))
    assert answer.scores == [[("say", -1.0), (" one", -2.0)]]
    with pytest.raises(CallFailed, match="missing or not finite"):
        await completions(
            {"say one": echo(("say", None), (" one", -2.0))}, asked("say one", context="")
        )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"choices": [{"text": " two"}], "usage": {"prompt_tokens": 1}}, "does not echo"),
        # llama.cpp's reply: the written token alone.
        ({"choices": [{"logprobs": {"content": []}}], "usage": {"prompt_tokens": 1}}, "not echo"),
        (echo(("say", None), (" one", -2.0), read=9), "a part of the prompt"),
        (echo(("say", None), (" one", float("nan"))), "not finite"),
        (echo(("sa", None), ("y one", -1.0)), "begin it with a space"),
    ],
)
async def test_what_is_no_echo_is_a_failure(reply: Any, reason: str) -> None:
    replies = {"say": echo(("say", None)), "say one": reply}
    with pytest.raises(CallFailed, match=reason) as failed:
        await completions(replies, asked(" one", context="say"))
    assert failed.value.why is Failure.NO_LOGPROBS


def top(**values: float) -> Any:
    rows = [{"token": token, "logprob": value} for token, value in values.items()]
    return {
        "choices": [{"logprobs": {"content": [{"top_logprobs": rows}]}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 1},
        "model": "m-1",
    }


async def test_an_option_beyond_the_most_likely_is_asked_for_and_never_zero() -> None:
    bodies = []

    async def vllm(path: str, body: Mapping[str, Any] | None) -> Any:
        assert path == "chat/completions"
        bodies.append(dict(body or {}))
        if "prompt_logprobs" in (body or {}):
            begun = {"17": {"logprob": -30.0, "rank": 900, "decoded_token": "B"}}
            return {"prompt_logprobs": [None, {"4": {"logprob": -1.0}}, begun]}
        return top(A=log(0.9))

    answer = await chat_scores(vllm, ASK, asked("A", "B"))
    assert answer.scores == [[("A", log(0.9))], [("B", -30.0)]]
    assert (answer.model, answer.tokens) == ("m-1", (7, 1))
    assert (bodies[0]["max_tokens"], bodies[0]["top_logprobs"]) == (1, 20)
    assert bodies[1]["messages"][-1] == {"role": "assistant", "content": "B"}


@pytest.mark.parametrize("beyond", [{"choices": []}, {"prompt_logprobs": [{"1": {"logprob": -1}}]}])
async def test_an_option_that_the_server_does_not_tell_is_a_failure(beyond: Any) -> None:
    async def server(path: str, body: Mapping[str, Any] | None) -> Any:
        return beyond if "prompt_logprobs" in (body or {}) else top(A=-0.1)

    with pytest.raises(CallFailed, match="'B' is not among its 20 most likely tokens"):
        await chat_scores(server, ASK, asked("A", "B"))


async def test_a_provider_that_refuses_to_continue_an_answer_is_a_failure() -> None:
    async def openai(path: str, body: Mapping[str, Any] | None) -> Any:
        if "prompt_logprobs" in (body or {}):
            raise CallFailed(Failure.BAD_REQUEST, "Unrecognized request argument")
        return top(A=-0.1)

    with pytest.raises(CallFailed, match="'B' is not among") as failed:
        await chat_scores(openai, ASK, asked("A", "B"))
    assert failed.value.why is Failure.NO_LOGPROBS


async def test_a_chat_without_top_logprobs_is_a_failure() -> None:
    async def server(path: str, body: Mapping[str, Any] | None) -> Any:
        return {"choices": [{"message": {"content": "A"}}]}

    with pytest.raises(CallFailed, match="no `top_logprobs`"):
        await chat_scores(server, ASK, asked("A", "B"))
