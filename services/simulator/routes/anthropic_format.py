"""The shapes of Anthropic's messages format."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, JsonValue

from services.simulator.domain.question import Turn
from services.simulator.domain.reply import SimulatedReply, SimulatedRequest
from services.simulator.routes.wire import TextPart, WireMessage, WirePart, bearer, id_of, in_one

_STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
_KINDS = {
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
}


class RequestMetadata(WirePart):
    """Who asks; names the repeat for clients that cannot send headers."""

    user_id: str | None = None


class MessagesRequest(WirePart):
    """What is read of a request."""

    model: str
    messages: tuple[WireMessage, ...] = Field(min_length=1)
    max_tokens: int = Field(ge=1)
    system: str | tuple[TextPart, ...] = ""
    metadata: RequestMetadata = RequestMetadata()
    stream: Literal[False] | None = None
    tools: tuple[()] | None = None

    @property
    def limit(self) -> int | None:
        """The most tokens the answer may have."""
        return self.max_tokens

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request as the domain sees it; header and `user_id` name the repeat."""
        system = in_one(self.system)
        role = (Turn("system", system),) if system else ()
        turns = (*role, *(message.turn for message in self.messages))
        return SimulatedRequest(
            self.model, turns, repeat or self.metadata.user_id or "0", attempt or "0"
        )


class AnthropicFormat:
    """Anthropic's messages."""

    path = "/v1/messages"

    def read(self, body: bytes) -> MessagesRequest:
        """See `WireFormat.read`."""
        return MessagesRequest.model_validate_json(body)

    def answer_body(
        self, request: SimulatedRequest, reply: SimulatedReply, *, fingerprint: str, created_s: int
    ) -> JsonValue:
        """See `WireFormat.answer_body`."""
        return {
            "id": id_of("msg_", request, fingerprint),
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": [{"type": "text", "text": reply.text}] if reply.text else [],
            "stop_reason": _STOPS[reply.finish_reason],
            "stop_sequence": None,
            "usage": {
                "input_tokens": reply.prompt_tokens,
                "output_tokens": reply.completion_tokens,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
            },
        }

    def error_body(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
    ) -> JsonValue:
        """See `WireFormat.error_body`."""
        kind = _KINDS.get(status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def key_in(self, headers: Mapping[str, str]) -> str:
        """See `WireFormat.key_in`."""
        return headers.get("x-api-key", "") or bearer(headers)
