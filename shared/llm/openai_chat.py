"""OpenAI Chat Completions and every server that speaks it, through the official SDK."""

from collections.abc import Awaitable, Callable
from typing import Any

import openai

from shared.llm.port import Answer, Call, CallFailed, Failure, Form
from shared.llm.sdk_model import Provider, SdkModel

OPENAI = Provider(
    sdk=openai,
    client=openai.AsyncOpenAI,
    root=openai.OpenAIError,
    url="https://api.openai.com/v1",
    key="OPENAI_API_KEY, or BIASWATCH_OPENAI_API_KEY_FILE,",
)


class OpenAIChat(SdkModel[openai.AsyncOpenAI]):
    """Asks for the next message of a conversation."""

    provider = OPENAI

    def _endpoint(self, client: openai.AsyncOpenAI) -> Callable[..., Awaitable[Any]]:
        return client.chat.completions.create

    def _request(self, call: Call, form: Form | None) -> dict[str, Any]:
        # As arguments: a parameter of that name is an error, and never asked instead.
        request: dict[str, Any] = dict(messages=list(call.messages), **call.parameters)
        if form:
            request.setdefault("response_format", _response_format(form))
        return request

    def _answer(self, reply: Any) -> Answer:
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


def _response_format(form: Form) -> dict[str, object]:
    schema = {"name": form.name, "strict": True, "schema": dict(form.schema)}
    return {"type": "json_schema", "json_schema": schema}
