"""The wire format of Anthropic Messages: requests, answers and errors."""

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, JsonValue

from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedReply, SimulatedRequest
from biaswatch.services.simulator.routes.formats import (
    TextPart,
    WireFormat,
    WirePart,
    bearer,
    id_of,
    joined,
    offered_tool,
)

_STOPS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_ANTHROPIC_ERRORS = {
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
}


class RequestMetadata(WirePart):
    """Metadata of a request; `user_id` names the repeat."""

    user_id: str | None = None


class ToolUsePart(WirePart):
    """A call of a tool in the content of a message."""

    type: Literal["tool_use"]
    name: str


class ToolResultPart(WirePart):
    """The result of a call in the content of a message."""

    type: Literal["tool_result"]
    content: str | tuple[TextPart, ...] = ""


class MessagesMessage(WirePart):
    """One message of the Messages API."""

    role: Literal["user", "assistant"]
    content: str | tuple[TextPart | ToolUsePart | ToolResultPart, ...]

    @property
    def expanded(self) -> Iterator[Turn]:
        """The message as turns: each result of a tool is a turn."""
        if isinstance(self.content, str):
            yield Turn(self.role, self.content)
            return
        parts = self.content
        for part in parts:
            if isinstance(part, ToolResultPart):
                yield Turn("tool", joined(part.content))
        texts = tuple(part for part in parts if isinstance(part, TextPart))
        calls = tuple(part.name for part in parts if isinstance(part, ToolUsePart))
        if texts or calls:
            yield Turn(self.role, joined(texts), calls)


class MessagesTool(WirePart):
    """A tool that is declared to the Messages API."""

    name: str
    input_schema: dict[str, Any] = Field(default_factory=dict)


class MessagesRequest(WirePart):
    """A request of the Messages API."""

    model: str
    messages: tuple[MessagesMessage, ...] = Field(min_length=1)
    limit: int = Field(ge=1, validation_alias="max_tokens")
    system: str | tuple[TextPart, ...] = ""
    metadata: RequestMetadata = RequestMetadata()
    tools: tuple[MessagesTool, ...] = ()
    stream: Literal[False] | None = None

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request for the domain; header or `user_id` name the repeat."""
        system = joined(self.system)
        role = (Turn("system", system),) if system else ()
        turns = (*role, *(turn for message in self.messages for turn in message.expanded))
        tools = tuple(offered_tool(tool.name, tool.input_schema) for tool in self.tools)
        key = repeat or self.metadata.user_id or "0"
        return SimulatedRequest(self.model, turns, key, attempt or "0", tools)


def answer_body(
    request: SimulatedRequest, reply: SimulatedReply, fingerprint: str, _: int
) -> JsonValue:
    """Return the body of an answer."""
    content: list[JsonValue] = [{"type": "text", "text": reply.text}] if reply.text else []
    if call := reply.call:
        arguments = json.loads(call.arguments)
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return {
        "id": id_of("msg_", request, fingerprint),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": _STOPS[reply.finish_reason],
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.prompt_tokens,
            "output_tokens": reply.completion_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def anthropic_error_body(status: int, message: str, *_: str | None) -> JsonValue:
    """Return the body of an error, without code and parameter."""
    kind = _ANTHROPIC_ERRORS.get(status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


ANTHROPIC_MESSAGES = WireFormat(
    "/v1/messages",
    MessagesRequest.model_validate_json,
    answer_body,
    anthropic_error_body,
    lambda headers: headers.get("x-api-key", "") or bearer(headers),
)
