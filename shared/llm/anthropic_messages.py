"""Anthropic Messages, through the official SDK."""

from typing import Any

import anthropic

from shared.llm.port import AnswerSchema, CallFailed, Failure, ModelAnswer, ModelCall
from shared.llm.sdk_model import Sdk, SdkModel

ANTHROPIC = Sdk(anthropic, anthropic.AsyncAnthropic, anthropic.AnthropicError)
MAX_TOKENS = 4096
"""The limit where the target names none: this format has no request without one."""
_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


class AnthropicMessages(SdkModel[anthropic.AsyncAnthropic]):
    """Asks for the next message; here, system prompts are no part of the conversation."""

    sdk = ANTHROPIC
    endpoint = "messages.create"

    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        system = "\n\n".join(m["content"] for m in call.messages if m["role"] == "system")
        said = [dict(m) for m in call.messages if m["role"] != "system"]
        request: dict[str, Any] = {"max_tokens": MAX_TOKENS, **call.parameters, "messages": said}
        if system:
            request["system"] = system
        if schema:
            held_to = {"type": "json_schema", "schema": dict(schema.schema)}
            request["output_config"] = {"format": held_to, **request.get("output_config", {})}
        return request

    def _answer(self, reply: Any) -> ModelAnswer:
        try:
            text = "".join(part.text for part in reply.content if part.type == "text")
            stopped, usage = reply.stop_reason, reply.usage
        except (AttributeError, TypeError):
            raise CallFailed(Failure.GARBAGE, "The server's reply has no content.") from None
        tokens = _tokens(usage)
        if stopped == "refusal":
            raise CallFailed(Failure.REFUSAL, text or "The model refused.", tokens=tokens)
        finish = _FINISHES.get(stopped, stopped)
        if not text.strip():
            empty = Failure.TRUNCATED if finish == "length" else Failure.EMPTY
            raise CallFailed(empty, "The model's answer is empty.", tokens=tokens)
        return ModelAnswer(text, finish, tokens[0], tokens[1], reply.model)


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    """Return what was read and written; what a prompt cache provided was read, too."""
    if usage is None:
        return None, None
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return usage.input_tokens + cached, usage.output_tokens
