"""OpenAI Chat Completions and every server that speaks it, through the official SDK."""

import asyncio
import json
from typing import Any

import openai

from shared.errors import ConfigurationError
from shared.llm.port import Answer, Call, CallFailed, Failure

REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"
OPENAI_URL = "https://api.openai.com/v1"
"""Said outright: the SDK would otherwise follow a variable of the environment, key and all."""


class OpenAIChat:
    """Asks one server; the SDK's own retries are off, because retrying is the generator's."""

    def __init__(
        self, *, api_key: str, base_url: str | None = None, tell_repeat: bool = False
    ) -> None:
        self._client = openai.AsyncOpenAI(
            api_key=api_key, base_url=base_url or OPENAI_URL, max_retries=0
        )
        self._tell_repeat = tell_repeat

    async def ask(self, call: Call) -> Answer:
        """See `ChatModel.ask`."""
        headers = (
            {REPEAT_HEADER: call.repeat_key, ATTEMPT_HEADER: str(call.attempt)}
            if self._tell_repeat
            else {}
        )
        messages: Any = list(call.messages)
        parameters: Any = dict(call.parameters)
        try:
            # The SDK's own time-out begins anew with every byte that arrives.
            async with asyncio.timeout(call.timeout_s):
                reply = await self._client.chat.completions.create(
                    model=call.model,
                    messages=messages,
                    timeout=call.timeout_s,
                    extra_headers=headers,
                    **parameters,
                )
        except TimeoutError:
            raise CallFailed(Failure.TIMEOUT, "The provider did not answer in time.") from None
        except (openai.OpenAIError, json.JSONDecodeError, ValueError, TypeError) as error:
            raise _failure(error) from None
        return _answer(reply)

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._client.close()


def _answer(reply: Any) -> Answer:
    """Read a reply; some servers send shapes the SDK does not check."""
    try:
        choice = reply.choices[0]
        text = choice.message.content
    except (AttributeError, IndexError, TypeError):
        raise CallFailed(Failure.GARBAGE, "The server's reply has no choices.") from None
    if choice.finish_reason == "content_filter":
        raise CallFailed(Failure.CONTENT_FILTER, "The provider withheld the answer.")
    if not isinstance(text, str) or not text.strip():
        raise CallFailed(Failure.EMPTY, f"The answer is empty ({choice.finish_reason}).")
    usage = reply.usage
    return Answer(
        text=text,
        finish_reason=choice.finish_reason,
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
        model=reply.model,
        fingerprint=reply.system_fingerprint,
    )


def _failure(error: Exception) -> Exception:
    """Name what went wrong; nothing of the request is repeated, so no key can be."""
    if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return ConfigurationError(
            f"The provider refuses the key (HTTP {error.status_code}). Set OPENAI_API_KEY, or"
            " BIASWATCH_OPENAI_API_KEY_FILE, for the generator."
        )
    if isinstance(error, openai.RateLimitError):
        return CallFailed(
            Failure.RATE_LIMITED,
            "The provider asks to be asked less often (HTTP 429).",
            retry_after_s=_retry_after_s(error),
        )
    if isinstance(error, openai.APITimeoutError):
        return CallFailed(Failure.TIMEOUT, "The provider did not answer in time.")
    if isinstance(error, openai.APIConnectionError):
        return CallFailed(Failure.UNREACHABLE, "The provider cannot be reached.")
    if isinstance(error, openai.APIStatusError):
        why = Failure.SERVER_ERROR if error.status_code >= 500 else Failure.BAD_REQUEST
        return CallFailed(why, f"The provider answered HTTP {error.status_code}.")
    return CallFailed(Failure.GARBAGE, "The provider's reply could not be read.")


def _retry_after_s(error: openai.APIStatusError) -> float | None:
    try:
        return float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
