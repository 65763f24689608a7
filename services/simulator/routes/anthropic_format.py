"""The shapes of Anthropic's messages format."""

from typing import Literal

from pydantic import Field, JsonValue

from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedReply, SimulatedRequest
from biaswatch.services.simulator.routes.wire import (
    TextPart,
    WireFormat,
    WireMessage,
    WirePart,
    bearer,
    id_of,
    in_one,
)

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
    limit: int = Field(ge=1, validation_alias="max_tokens")
    system: str | tuple[TextPart, ...] = ""
    metadata: RequestMetadata = RequestMetadata()
    stream: Literal[False] | None = None
    tools: tuple[()] | None = None

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request as the domain sees it; header and `user_id` name the repeat."""
        system = in_one(self.system)
        role = (Turn("system", system),) if system else ()
        turns = (*role, *(message.turn for message in self.messages))
        return SimulatedRequest(
            self.model, turns, repeat or self.metadata.user_id or "0", attempt or "0"
        )


def answer_body(
    request: SimulatedRequest, reply: SimulatedReply, fingerprint: str, _: int
) -> JsonValue:
    """Return the body of an answer."""
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


def error_body(status: int, message: str, *_: str | None) -> JsonValue:
    """Return the body of an error, which here has neither a code nor a parameter."""
    kind = _KINDS.get(status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


ANTHROPIC_MESSAGES = WireFormat(
    "/v1/messages",
    MessagesRequest.model_validate_json,
    answer_body,
    error_body,
    lambda headers: headers.get("x-api-key", "") or bearer(headers),
)
