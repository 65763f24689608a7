"""OpenAI Chat Completions and every server that speaks it, through the official SDK."""

from typing import Any

import openai

from shared.llm.clients import Clients
from shared.llm.port import Answer, Call, CallFailed, Failure, Form
from shared.llm.sdk_errors import outcomes

REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"
OPENAI_URL = "https://api.openai.com/v1"
"""Said outright: the SDK would otherwise follow a variable of the environment, key and all."""
KEY = "OPENAI_API_KEY, or BIASWATCH_OPENAI_API_KEY_FILE,"


class OpenAIChat:
    """Asks one server; the SDK's own retries are off, because retrying is the generator's."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None = None,
        tell_repeat: bool = False,
        structured: bool = False,
    ) -> None:
        self._clients = Clients(
            lambda: openai.AsyncOpenAI(
                api_key=api_key, base_url=base_url or OPENAI_URL, max_retries=0
            )
        )
        self._tell_repeat = tell_repeat
        self._structured = structured

    async def ask(self, call: Call) -> Answer:
        """See `ChatModel.ask`."""
        messages: Any = list(call.messages)
        parameters: Any = dict(call.parameters)
        if self._structured and call.form:
            parameters.setdefault("response_format", _format(call.form))
        with self._clients.one() as client:
            async with outcomes(openai, openai.OpenAIError, KEY, call.timeout_s):
                reply = await client.chat.completions.create(
                    model=call.model,
                    messages=messages,
                    timeout=call.timeout_s,
                    extra_headers=told(call) if self._tell_repeat else {},
                    **parameters,
                )
        return _answer(reply)

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._clients.close()


def told(call: Call) -> dict[str, str]:
    """Give the headers by which a simulated model tells calls apart."""
    return {REPEAT_HEADER: call.repeat_key, ATTEMPT_HEADER: str(call.attempt)}


def _format(form: Form) -> dict[str, object]:
    schema = {"name": form.name, "strict": True, "schema": dict(form.schema)}
    return {"type": "json_schema", "json_schema": schema}


def _answer(reply: Any) -> Answer:
    """Read a reply; some servers send shapes the SDK does not check."""
    try:
        choice = reply.choices[0]
        text, refusal = choice.message.content, getattr(choice.message, "refusal", None)
    except (AttributeError, IndexError, TypeError):
        raise CallFailed(Failure.GARBAGE, "The server's reply has no choices.") from None
    usage = reply.usage
    tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)
    if choice.finish_reason == "content_filter":
        said = "The provider withheld the answer."
        raise CallFailed(Failure.CONTENT_FILTER, said, tokens=tokens)
    if isinstance(refusal, str) and refusal.strip():
        raise CallFailed(Failure.REFUSAL, refusal, tokens=tokens)
    if not isinstance(text, str) or not text.strip():
        said = f"The answer is empty ({choice.finish_reason})."
        raise CallFailed(Failure.EMPTY, said, tokens=tokens)
    return Answer(
        text=text,
        finish_reason=choice.finish_reason,
        prompt_tokens=tokens[0],
        completion_tokens=tokens[1],
        model=reply.model,
        fingerprint=reply.system_fingerprint,
    )
