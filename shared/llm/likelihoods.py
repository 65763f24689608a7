"""Log-probabilities of given texts, as servers return them: llama.cpp, vLLM, OpenAI.

llama.cpp ignores `echo`. Each token of a text is forced there by a bias of its logit; the
log-probability in the reply is that of the unbiased model. A grammar would choose other tokens.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeVar

from biaswatch.shared.llm.port import (
    UNKNOWN_TOKENS,
    CallFailed,
    Continuations,
    Failure,
    ModelAnswer,
    ModelCall,
    Tokens,
    TokenScores,
    no_logprobs,
)
from biaswatch.shared.llm.replies import at, label_of, storable, tokens_of

Exchange = Callable[[str, Mapping[str, Any] | None], Awaitable[Any]]
"""Sends a body to a path of the server (GET without one) and returns the JSON of the reply. A path
that begins with a slash is one of the server's root, others are below `/v1`."""
FORCE = 1e9
"""The bias of a forced token, beyond the logit of any other."""
TOP_LOGPROBS = 20
"""Providers list no more than this number of the most likely tokens."""
T = TypeVar("T", int, str)
MAX_ROUNDING = 1e-3
"""Servers round: a log-probability above 0 by no more than this is 0."""


async def llama_scores(exchange: Exchange, call: ModelCall, wanted: Continuations) -> ModelAnswer:
    """Score texts on a llama.cpp server, one forced token at a time."""
    is_chat, prefix = wanted.context is None, wanted.context or ""

    async def ids_of(text: str, *, special: bool = is_chat) -> tuple[int, ...]:
        body = {"content": text, "add_special": True, "parse_special": special}
        return _ids(at(await exchange("/tokenize", body), "tokens"))

    if is_chat:
        reply = await exchange("/apply-template", {"messages": list(call.messages)})
        prefix = _text(at(reply, "prompt"))
    start = await ids_of(prefix)
    context = start or await ids_of(_first_text(await exchange("/props", None)), special=True)
    forced = ForcedTokens(exchange)
    scores = []
    for text in wanted.texts:
        ids = context
        scores.append(list[tuple[str, float]]())
        for token in _continued(start, await ids_of(prefix + text), text):
            scores[-1].append((str(token), await forced.logprob(ids, token)))
            ids = (*ids, token)
    read = len(context) * len(scores) + sum(map(len, scores))
    return _answer(wanted, scores, (read, 0), call.model)


class ForcedTokens:
    """Log-probabilities of tokens on one llama.cpp server; each is requested once."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._known: dict[tuple[int, ...], float] = {}

    async def logprob(self, context: tuple[int, ...], token: int) -> float:
        """Return the log-probability of a token after a context."""
        key = (*context, token)
        if key not in self._known:
            body = {
                "prompt": list(context),
                "n_predict": 1,
                "n_probs": 1,
                "logit_bias": [[token, FORCE]],
                "cache_prompt": True,
            }
            chosen = at(await self._exchange("/completion", body), "completion_probabilities", 0)
            if at(chosen, "id") != token:
                raise unscored("it chose another token than the forced one")
            self._known[key] = _logprob(at(chosen, "logprob"))
        return self._known[key]


async def completion_scores(
    exchange: Exchange, call: ModelCall, wanted: Continuations
) -> ModelAnswer:
    """Score raw texts on a server whose completions echo the prompt, such as vLLM."""
    context = wanted.context or ""
    start = (await _echoed(exchange, call.model, context))[0] if context else []
    scores, read = [], 0
    for text in wanted.texts:
        rows, number = await _echoed(exchange, call.model, context + text)
        read += number
        if not context and rows and rows[0][1] is None and not text.startswith(rows[0][0]):
            rows = rows[1:]  # the first token of the model precedes the text
        tokens = [token for token, _ in rows]
        rest = _continued([token for token, _ in start], tokens, text)
        logprobs = [_logprob(value) for _, value in rows[len(rows) - len(rest) :]]
        scores.append(list(zip(rest, logprobs, strict=True)))
    return _answer(wanted, scores, (read, 0), call.model)


async def _echoed(exchange: Exchange, model: str, prompt: str) -> tuple[list[tuple[str, Any]], int]:
    """Return the tokens of a prompt with their log-probabilities, and their number."""
    body = {"model": model, "prompt": prompt, "max_tokens": 1, "echo": True, "logprobs": 1}
    reply = await exchange("completions", body)
    number = tokens_of(at(reply, "usage"), "prompt_tokens", "completion_tokens")[0]
    logprobs = at(reply, "choices", 0, "logprobs")
    tokens, values = at(logprobs, "tokens"), at(logprobs, "token_logprobs")
    if number is None or not (isinstance(tokens, list) and isinstance(values, list)):
        raise unscored("it does not echo the prompt")
    if not number <= min(len(tokens), len(values)):
        raise unscored("it echoes a part of the prompt only")
    return [(_text(token), value) for token, value in zip(tokens, values, strict=False)][
        :number
    ], number


async def chat_scores(exchange: Exchange, call: ModelCall, wanted: Continuations) -> ModelAnswer:
    """Score texts of one token each as the beginning of an answer.

    A text beyond the most likely tokens takes a request of its own, as vLLM allows.
    """
    body = {**call.parameters, "model": call.model, "messages": list(call.messages)}
    limit = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
    body |= {limit: 1, "logprobs": True, "top_logprobs": TOP_LOGPROBS}
    reply = await exchange("chat/completions", body)
    rows = at(reply, "choices", 0, "logprobs", "content", 0, "top_logprobs")
    if not isinstance(rows, list):
        raise unscored("its reply has no `top_logprobs`")
    top = {at(row, "token"): at(row, "logprob") for row in rows}
    scores = [
        [(text, _logprob(top[text]) if text in top else await _opening_score(exchange, call, text))]
        for text in wanted.texts
    ]
    tokens = tokens_of(at(reply, "usage"), "prompt_tokens", "completion_tokens")
    return _answer(wanted, scores, tokens, label_of(at(reply, "model")))


async def _opening_score(exchange: Exchange, call: ModelCall, text: str) -> float:
    """Return the log-probability of an answer that begins with one token, from vLLM."""
    reason = f"{text!r} is not among its {TOP_LOGPROBS} most likely tokens"
    opening = {"role": "assistant", "content": text}
    body = {
        "model": call.model,
        "messages": [*call.messages, opening],
        "add_generation_prompt": False,
        "continue_final_message": True,
        "prompt_logprobs": 0,
        "max_tokens": 1,
    }
    try:
        reply = await exchange("chat/completions", body)
    except CallFailed as failed:
        if failed.why is Failure.BAD_REQUEST:
            raise unscored(reason) from None
        raise
    last = at(reply, "prompt_logprobs", -1)
    for row in last.values() if isinstance(last, dict) else ():
        if at(row, "decoded_token") == text:
            return _logprob(at(row, "logprob"))
    raise unscored(f"{reason}, and it gives no `prompt_logprobs` for it")


def unscored(reason: str) -> CallFailed:
    """Return the failure of a paid call that brought no usable log-probabilities."""
    return no_logprobs(reason, tokens=UNKNOWN_TOKENS)


def _continued(start: Sequence[T], whole: Sequence[T], text: str) -> Sequence[T]:
    """Return the tokens of a text after those of its context."""
    if list(whole[: len(start)]) != list(start) or len(whole) == len(start):
        raise unscored(
            f"the tokens of {storable(text[:40])!r} are joined to those of its context"
            " (begin it with a space)"
        )
    return whole[len(start) :]


def _ids(tokens: Any) -> tuple[int, ...]:
    if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
        raise unscored("its /tokenize returned no token ids")
    return tuple(tokens)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise unscored("a text is missing in its reply")
    return storable(value)


def _first_text(properties: Any) -> str:
    """Return the first token of the model as a text, or else its last."""
    return _text(at(properties, "bos_token") or at(properties, "eos_token"))


def _logprob(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise unscored("a log-probability is missing or not finite")
    if value > MAX_ROUNDING:
        raise unscored("a log-probability is above 0")
    return min(0.0, float(value))


def _answer(
    wanted: Continuations, scores: Sequence[TokenScores], tokens: Tokens, model: str | None
) -> ModelAnswer:
    """Return the scores; the text is the most likely one."""
    totals = [sum(logprob for _, logprob in score) for score in scores]
    text = wanted.texts[totals.index(max(totals))]
    return ModelAnswer(text, "stop", *tokens, model=model, scores=scores)
