"""Wire formats of OpenAI and Anthropic: requests, answers and errors."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import OfferedTool, SimulatedReply, SimulatedRequest


class WirePart(BaseModel):
    """A part of a request; other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class TextPart(WirePart):
    """A text part of the content of a message."""

    type: Literal["text", "input_text", "output_text"]
    text: str


class WireFunction(WirePart):
    """A function: declared with parameters, or called."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)

    @property
    def offered(self) -> OfferedTool:
        """The declared tool."""
        return offered_tool(self.name, self.parameters)


class WireTool(WirePart):
    """A declared or called tool of chat completions."""

    type: Literal["function"]
    function: WireFunction


class WireMessage(WirePart):
    """One message, with its content as a text or as parts."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | tuple[TextPart, ...] | None = ""
    tool_calls: tuple[WireTool, ...] = ()

    @property
    def turn(self) -> Turn:
        """The message as a turn."""
        calls = tuple(tool.function.name for tool in self.tool_calls)
        return Turn(self.role, joined(self.content or ""), calls)


def offered_tool(name: str, schema: Mapping[str, Any]) -> OfferedTool:
    """Return a tool with the schemas of its arguments."""
    arguments = schema.get("properties", {})
    return OfferedTool(name, arguments if isinstance(arguments, dict) else {})


def joined(content: str | tuple[TextPart, ...]) -> str:
    """Return content as one text."""
    return content if isinstance(content, str) else "".join(part.text for part in content)


class WireRequest(Protocol):
    """A request in any format."""

    @property
    def model(self) -> str:
        """The name of the model."""

    @property
    def limit(self) -> int | None:
        """The maximum number of tokens of the answer."""

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request for the domain."""


def id_of(prefix: str, request: SimulatedRequest, fingerprint: str) -> str:
    """Return the id of an answer, the same for the same request."""
    named = "\n".join((*request.purpose, fingerprint)).encode()
    return prefix + hashlib.blake2b(named, digest_size=12).hexdigest()


def bearer(headers: Mapping[str, str]) -> str:
    """Return the key of an Authorization header."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key if scheme.casefold() == "bearer" else ""


@dataclass(frozen=True)
class WireFormat:
    """The format of requests, answers and errors of one endpoint."""

    path: str
    """The path of its endpoint."""
    read: Callable[[bytes], WireRequest]
    """Reads a request; raises ValidationError if it is invalid."""
    answer_body: Callable[[SimulatedRequest, SimulatedReply, str, int], JsonValue]
    """Returns the body of an answer, given its fingerprint and its time in seconds."""
    error_body: Callable[[int, str, str | None, str | None], JsonValue]
    """Returns the body of an error, given its status, message, code and parameter."""
    key_in: Callable[[Mapping[str, str]], str] = bearer
    """Returns the key of a request; empty without one."""

    def error(
        self, status: int, message: str, code: str | None = None, param: str | None = None
    ) -> JSONResponse:
        """Return an error."""
        return JSONResponse(self.error_body(status, message, code, param), status)


_OPENAI_ERRORS = {429: "requests", 500: "server_error"}
_CUT_OFF = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ChatRequest(WirePart):
    """A request of chat completions; sampling parameters are ignored."""

    model: str
    messages: tuple[WireMessage, ...] = Field(min_length=1)
    user: str | None = None
    seed: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    tools: tuple[WireTool, ...] = ()
    # Rejected, as an answer would otherwise wrongly appear to respect them.
    stream: Literal[False] | None = None
    n: Literal[1] | None = None

    @property
    def limit(self) -> int | None:
        """The maximum number of tokens of the answer."""
        return self.max_completion_tokens or self.max_tokens

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request for the domain; header, `user` or `seed` name the repeat."""
        turns = tuple(message.turn for message in self.messages)
        named = (repeat, self.user, None if self.seed is None else str(self.seed))
        key = next((name for name in named if name is not None), "0")
        tools = tuple(tool.function.offered for tool in self.tools)
        return SimulatedRequest(self.model, turns, key, attempt or "0", tools)


class ResponsesRequest(WirePart):
    """A request of the Responses API."""

    model: str
    input: str | tuple[WireMessage, ...] = Field(min_length=1)
    instructions: str | None = None
    user: str | None = None
    limit: int | None = Field(default=None, ge=1, validation_alias="max_output_tokens")
    stream: Literal[False] | None = None
    background: Literal[False] | None = None
    tools: tuple[()] | None = None

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request for the domain; header or `user` name the repeat."""
        role = (Turn("system", self.instructions),) if self.instructions else ()
        if isinstance(self.input, str):
            turns: tuple[Turn, ...] = (Turn("user", self.input),)
        else:
            turns = tuple(message.turn for message in self.input)
        return SimulatedRequest(
            self.model, (*role, *turns), repeat or self.user or "0", attempt or "0"
        )


def chat_body(
    request: SimulatedRequest, reply: SimulatedReply, fingerprint: str, created_s: int
) -> JsonValue:
    """Return the body of an answer."""
    message: dict[str, JsonValue] = {"role": "assistant", "content": reply.text, "refusal": None}
    if call := reply.call:
        function: JsonValue = {"name": call.name, "arguments": call.arguments}
        message["tool_calls"] = [{"id": call.id, "type": "function", "function": function}]
    return {
        "id": id_of("chatcmpl-", request, fingerprint),
        "object": "chat.completion",
        "created": created_s,
        "model": request.model,
        "system_fingerprint": fingerprint,
        "choices": [
            {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
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


def openai_error_body(status: int, message: str, code: str | None, param: str | None) -> JsonValue:
    """Return the body of an error."""
    kind = _OPENAI_ERRORS.get(status, "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


OPENAI_CHAT = WireFormat(
    "/v1/chat/completions", ChatRequest.model_validate_json, chat_body, openai_error_body
)
OPENAI_RESPONSES = WireFormat(
    "/v1/responses", ResponsesRequest.model_validate_json, response_body, openai_error_body
)
