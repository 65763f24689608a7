"""Anthropic Messages, through the official SDK."""

from typing import Any

import anthropic

from shared.llm.clients import Clients
from shared.llm.openai_chat import told
from shared.llm.port import Answer, Call, CallFailed, Failure, Form
from shared.llm.sdk_errors import outcomes

ANTHROPIC_URL = "https://api.anthropic.com"
"""Said outright: the SDK would otherwise follow a variable of the environment, key and all."""
KEY = "ANTHROPIC_API_KEY, or BIASWATCH_ANTHROPIC_API_KEY_FILE,"
MAX_TOKENS = 4096
"""The limit where the target names none: this format has no request without one."""
_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


class AnthropicMessages:
    """Asks one server; the SDK's own retries are off, because retrying is the generator's."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None = None,
        tell_repeat: bool = False,
        structured: bool = True,
    ) -> None:
        self._clients = Clients(
            lambda: anthropic.AsyncAnthropic(
                api_key=api_key, base_url=base_url or ANTHROPIC_URL, max_retries=0
            )
        )
        self._tell_repeat = tell_repeat
        self._structured = structured

    async def ask(self, call: Call) -> Answer:
        """See `ChatModel.ask`."""
        with self._clients.one() as client:
            async with outcomes(anthropic, anthropic.AnthropicError, KEY, call.timeout_s):
                reply = await client.messages.create(
                    model=call.model,
                    timeout=call.timeout_s,
                    extra_headers=told(call) if self._tell_repeat else {},
                    **self._request(call),
                )
        return _answer(reply)

    def _request(self, call: Call) -> dict[str, Any]:
        """Give what is asked; roles that are put in stand beside the conversation here."""
        system = "\n\n".join(m["content"] for m in call.messages if m["role"] == "system")
        said = [dict(m) for m in call.messages if m["role"] != "system"]
        request: dict[str, Any] = {"max_tokens": MAX_TOKENS, **call.parameters, "messages": said}
        if system:
            request["system"] = system
        if self._structured and call.form:
            given = request.get("output_config", {})
            request["output_config"] = {"format": _format(call.form), **given}
        return request

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._clients.close()


def _format(form: Form) -> dict[str, object]:
    return {"type": "json_schema", "schema": dict(form.schema)}


def _answer(reply: Any) -> Answer:
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
        raise CallFailed(empty, "The model said nothing.", tokens=tokens)
    return Answer(text, finish, tokens[0], tokens[1], reply.model)


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    """Give what was read and written; what a prompt cache provided was read, too."""
    if usage is None:
        return None, None
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return usage.input_tokens + cached, usage.output_tokens
