"""Anthropic Messages, through the official SDK."""

from typing import Any

import anthropic

from biaswatch.shared.llm.anthropic_batches import AnthropicBatches
from biaswatch.shared.llm.port import (
    AnswerSchema,
    CallFailed,
    Failure,
    ModelAnswer,
    ModelCall,
    Tokens,
)
from biaswatch.shared.llm.provider_errors import cut_off, finish_of
from biaswatch.shared.llm.replies import (
    at,
    count_of,
    label_of,
    message_reasoning,
    shortened,
    storable,
    tokens_of,
)
from biaswatch.shared.llm.sdk_model import Sdk, SdkModel
from biaswatch.shared.llm.tool_calls import anthropic_messages, messages_calls, messages_tools

ANTHROPIC = Sdk(anthropic, anthropic.AsyncAnthropic, anthropic.AnthropicError)
MAX_TOKENS = 4096
"""The default limit, as this format requires one."""
_FINISHES = {"end_turn": "stop", "stop_sequence": "stop"}


class AnthropicMessages(SdkModel[anthropic.AsyncAnthropic]):
    """Client of the Messages API, with system prompts outside the conversation."""

    sdk = ANTHROPIC
    endpoint = "messages.with_raw_response.create"
    required = ("max_tokens", "messages")

    def batch_api(self) -> AnthropicBatches:
        """See `BatchedModel`."""
        return AnthropicBatches(self, self._connection.key)

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        system = "\n\n".join(m["content"] for m in call.messages if m["role"] == "system")
        turns = [message for message in call.messages if message["role"] != "system"]
        request: dict[str, Any] = {
            "max_tokens": MAX_TOKENS,
            **call.parameters,
            "messages": list(anthropic_messages(turns)),
        }
        if call.tools:
            request["tools"] = messages_tools(call.tools)
        if system:
            request["system"] = system
        if schema:
            format_ = {"type": "json_schema", "schema": dict(schema.schema)}
            request["output_config"] = {"format": format_, **request.get("output_config", {})}
        return request

    def _answer(self, reply: Any) -> ModelAnswer:
        tokens, stopped = _tokens(at(reply, "usage")), finish_of(at(reply, "stop_reason"))
        if stopped == "content_filter":
            raise CallFailed(
                Failure.CONTENT_FILTER, "The provider withheld the answer.", tokens=tokens
            )
        parts = at(reply, "content")
        texts = [at(part, "text") for part in parts or () if at(part, "type") == "text"]
        if not isinstance(parts, list) or not all(isinstance(text, str) for text in texts):
            raise CallFailed(Failure.GARBAGE, "The server's reply has no content.", tokens=tokens)
        text = storable("".join(texts))
        if stopped == "refusal":
            words = shortened(text) or "The model refused."
            raise CallFailed(Failure.REFUSAL, words, tokens=tokens)
        finish = _FINISHES.get(stopped, stopped) if stopped else None
        calls = messages_calls(parts, tokens)
        if not calls and not text.strip():
            if finish == "length":
                raise cut_off(tokens)
            raise CallFailed(Failure.EMPTY, "The model's answer is empty.", tokens=tokens)
        reasoning = message_reasoning(None, parts)
        model = label_of(at(reply, "model"))
        return ModelAnswer(text, finish, *tokens, model, reasoning=reasoning, calls=calls)


def _tokens(usage: Any) -> Tokens:
    """Return the tokens read, with those from the prompt cache, and written."""
    caches = ("cache_read_input_tokens", "cache_creation_input_tokens")
    cached = [count_of(at(usage, name) or 0) for name in caches]
    read, written = tokens_of(usage, "input_tokens", "output_tokens")
    if read is None or None in cached:
        return None, written
    return read + sum(filter(None, cached)), written
