"""The shapes of OpenAI's chat format: requests, completions, errors."""

import hashlib
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from services.simulator.domain.question import Turn
from services.simulator.domain.reply import Asked, Reply


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TextPart(_Part):
    """A piece of a message's content."""

    type: Literal["text"]
    text: str


class Message(_Part):
    """One turn, its content in one piece or in several."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | tuple[TextPart, ...]

    @property
    def turn(self) -> Turn:
        """The turn, in one piece."""
        parts = self.content
        text = parts if isinstance(parts, str) else "".join(part.text for part in parts)
        return Turn(self.role, text)


class ChatRequest(_Part):
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
        """Give the request as the domain sees it; header, `user`, `seed` name the repeat."""
        turns = tuple(message.turn for message in self.messages)
        named = (repeat, self.user, None if self.seed is None else str(self.seed))
        key = next((name for name in named if name is not None), "0")
        return Asked(self.model, turns, key, attempt or "0")


def completion(asked: Asked, reply: Reply, *, fingerprint: str, created_s: int) -> JsonValue:
    """Give the body of a chat completion; the same request has the same id."""
    named = "\n".join((*asked.purpose, fingerprint)).encode()
    return {
        "id": "chatcmpl-" + hashlib.blake2b(named, digest_size=12).hexdigest(),
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
    message: str, kind: str, *, code: str | None = None, param: str | None = None
) -> JsonValue:
    """Give the body of an error."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
