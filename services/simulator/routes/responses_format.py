"""The shapes of OpenAI's responses format."""

from typing import Literal

from pydantic import Field, JsonValue

from services.simulator.domain.question import Turn
from services.simulator.domain.reply import Asked, Reply
from services.simulator.routes.openai_format import OpenAIChatFormat
from services.simulator.routes.wire import Message, Shape, id_of

_CUT_OFF = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponsesRequest(Shape):
    """What is read of a request."""

    model: str
    input: str | tuple[Message, ...] = Field(min_length=1)
    instructions: str | None = None
    user: str | None = None
    max_output_tokens: int | None = Field(default=None, ge=1)
    stream: Literal[False] | None = None
    background: Literal[False] | None = None
    tools: tuple[()] | None = None

    @property
    def limit(self) -> int | None:
        """The most tokens the answer may have."""
        return self.max_output_tokens

    def asked(self, repeat: str | None, attempt: str | None) -> Asked:
        """Return the request as the domain sees it; header and `user` name the repeat."""
        role = (Turn("system", self.instructions),) if self.instructions else ()
        said = self.input
        turns = (Turn("user", said),) if isinstance(said, str) else tuple(m.turn for m in said)
        return Asked(self.model, (*role, *turns), repeat or self.user or "0", attempt or "0")


class OpenAIResponsesFormat(OpenAIChatFormat):
    """OpenAI's responses; errors and keys are those of its chat format."""

    path = "/v1/responses"

    def read(self, body: bytes) -> ResponsesRequest:  # type: ignore[override]
        """See `Format.read`."""
        return ResponsesRequest.model_validate_json(body)

    def whole(self, asked: Asked, reply: Reply, *, fingerprint: str, created_s: int) -> JsonValue:
        """See `Format.whole`."""
        cut_off = _CUT_OFF.get(reply.finish_reason)
        text: JsonValue = {"type": "output_text", "text": reply.text, "annotations": []}
        message: JsonValue = {
            "type": "message",
            "id": id_of("msg_", asked, fingerprint),
            "role": "assistant",
            "status": "incomplete" if cut_off else "completed",
            "content": [text] if reply.text else [],
        }
        return {
            "id": id_of("resp_", asked, fingerprint),
            "object": "response",
            "created_at": created_s,
            "model": asked.model,
            "status": "incomplete" if cut_off else "completed",
            "incomplete_details": {"reason": cut_off} if cut_off else None,
            "error": None,
            "output": [message],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": reply.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": reply.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": reply.prompt_tokens + reply.completion_tokens,
            },
        }
