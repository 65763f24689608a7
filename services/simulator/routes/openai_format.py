"""The shapes of OpenAI's chat format: requests, completions, errors."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, JsonValue

from services.simulator.domain.reply import Asked, Reply
from services.simulator.routes.wire import Message, Shape, bearer, id_of

_KINDS = {429: "requests", 500: "server_error"}


class ChatRequest(Shape):
    """What is read of a request; sampling parameters are taken and change nothing."""

    model: str
    messages: tuple[Message, ...] = Field(min_length=1)
    user: str | None = None
    seed: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    # Refused rather than ignored: an answer that ignores them would look like one that does not.
    stream: Literal[False] | None = None
    n: Literal[1] | None = None
    tools: None = None

    @property
    def limit(self) -> int | None:
        """The most tokens the answer may have."""
        return self.max_completion_tokens or self.max_tokens

    def asked(self, repeat: str | None, attempt: str | None) -> Asked:
        """Return the request as the domain sees it; header, `user`, `seed` name the repeat."""
        turns = tuple(message.turn for message in self.messages)
        named = (repeat, self.user, None if self.seed is None else str(self.seed))
        key = next((name for name in named if name is not None), "0")
        return Asked(self.model, turns, key, attempt or "0")


class OpenAIChatFormat:
    """OpenAI's chat completions."""

    path = "/v1/chat/completions"

    def read(self, body: bytes) -> ChatRequest:
        """See `Format.read`."""
        return ChatRequest.model_validate_json(body)

    def whole(self, asked: Asked, reply: Reply, *, fingerprint: str, created_s: int) -> JsonValue:
        """See `Format.whole`."""
        return {
            "id": id_of("chatcmpl-", asked, fingerprint),
            "object": "chat.completion",
            "created": created_s,
            "model": asked.model,
            "system_fingerprint": fingerprint,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": reply.text, "refusal": None},
                    "logprobs": None,
                    "finish_reason": reply.finish_reason,
                }
            ],
            "usage": {
                "prompt_tokens": reply.prompt_tokens,
                "completion_tokens": reply.completion_tokens,
                "total_tokens": reply.prompt_tokens + reply.completion_tokens,
            },
        }

    def error(
        self, status: int, message: str, *, code: str | None = None, param: str | None = None
    ) -> JsonValue:
        """See `Format.error`."""
        return error(message, _KINDS.get(status, "invalid_request_error"), code=code, param=param)

    def key_in(self, headers: Mapping[str, str]) -> str:
        """See `Format.key_in`."""
        return bearer(headers)


def error(
    message: str, kind: str, *, code: str | None = None, param: str | None = None
) -> JsonValue:
    """Return the body of an error of OpenAI's."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
