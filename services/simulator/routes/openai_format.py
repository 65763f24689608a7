"""The shapes of OpenAI's chat completions and responses: requests, answers, errors."""

from typing import Literal

from pydantic import Field, JsonValue

from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedReply, SimulatedRequest
from biaswatch.services.simulator.routes.wire import WireFormat, WireMessage, WirePart, id_of

_KINDS = {429: "requests", 500: "server_error"}
_CUT_OFF = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ChatRequest(WirePart):
    """What is read of a request; sampling parameters are taken and change nothing."""

    model: str
    messages: tuple[WireMessage, ...] = Field(min_length=1)
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

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request as the domain sees it; header, `user`, `seed` name the repeat."""
        turns = tuple(message.turn for message in self.messages)
        named = (repeat, self.user, None if self.seed is None else str(self.seed))
        key = next((name for name in named if name is not None), "0")
        return SimulatedRequest(self.model, turns, key, attempt or "0")


class ResponsesRequest(WirePart):
    """What is read of a request."""

    model: str
    input: str | tuple[WireMessage, ...] = Field(min_length=1)
    instructions: str | None = None
    user: str | None = None
    limit: int | None = Field(default=None, ge=1, validation_alias="max_output_tokens")
    stream: Literal[False] | None = None
    background: Literal[False] | None = None
    tools: tuple[()] | None = None

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request as the domain sees it; header and `user` name the repeat."""
        role = (Turn("system", self.instructions),) if self.instructions else ()
        said = self.input
        turns = (Turn("user", said),) if isinstance(said, str) else tuple(m.turn for m in said)
        return SimulatedRequest(
            self.model, (*role, *turns), repeat or self.user or "0", attempt or "0"
        )


def chat_body(
    request: SimulatedRequest, reply: SimulatedReply, fingerprint: str, created_s: int
) -> JsonValue:
    """Return the body of an answer."""
    return {
        "id": id_of("chatcmpl-", request, fingerprint),
        "object": "chat.completion",
        "created": created_s,
        "model": request.model,
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


def response_body(
    request: SimulatedRequest, reply: SimulatedReply, fingerprint: str, created_s: int
) -> JsonValue:
    """Return the body of an answer."""
    cut_off = _CUT_OFF.get(reply.finish_reason)
    text: JsonValue = {"type": "output_text", "text": reply.text, "annotations": []}
    message: JsonValue = {
        "type": "message",
        "id": id_of("msg_", request, fingerprint),
        "role": "assistant",
        "status": "incomplete" if cut_off else "completed",
        "content": [text] if reply.text else [],
    }
    return {
        "id": id_of("resp_", request, fingerprint),
        "object": "response",
        "created_at": created_s,
        "model": request.model,
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


def error_body(status: int, message: str, code: str | None, param: str | None) -> JsonValue:
    """Return the body of an error."""
    kind = _KINDS.get(status, "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


OPENAI_CHAT = WireFormat(
    "/v1/chat/completions", ChatRequest.model_validate_json, chat_body, error_body
)
OPENAI_RESPONSES = WireFormat(
    "/v1/responses", ResponsesRequest.model_validate_json, response_body, error_body
)
