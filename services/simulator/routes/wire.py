"""What every wire format has: how a request is read and an answer is written."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, JsonValue

from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedReply, SimulatedRequest


class WirePart(BaseModel):
    """A part of a request; other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class TextPart(WirePart):
    """A piece of a message's content."""

    type: Literal["text", "input_text", "output_text"]
    text: str


class WireMessage(WirePart):
    """One turn, its content in one piece or in several."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | tuple[TextPart, ...]

    @property
    def turn(self) -> Turn:
        """The turn, in one piece."""
        return Turn(self.role, in_one(self.content))


def in_one(content: str | tuple[TextPart, ...]) -> str:
    """Return content in one piece."""
    return content if isinstance(content, str) else "".join(part.text for part in content)


class WireRequest(Protocol):
    """A request, as far as it is used."""

    @property
    def model(self) -> str:
        """The model that is asked."""

    @property
    def limit(self) -> int | None:
        """The most tokens the answer may have."""

    def request(self, repeat: str | None, attempt: str | None) -> SimulatedRequest:
        """Return the request as the domain sees it."""


def id_of(prefix: str, request: SimulatedRequest, fingerprint: str) -> str:
    """Return the id of an answer; the same request has the same."""
    named = "\n".join((*request.purpose, fingerprint)).encode()
    return prefix + hashlib.blake2b(named, digest_size=12).hexdigest()


def bearer(headers: Mapping[str, str]) -> str:
    """Return the key of an Authorization header."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key if scheme.casefold() == "bearer" else ""


@dataclass(frozen=True)
class WireFormat:
    """The requests, answers and errors of one provider's format."""

    path: str
    """The path of its endpoint."""
    read: Callable[[bytes], WireRequest]
    """Reads a request; raises ValidationError where it is none."""
    answer_body: Callable[[SimulatedRequest, SimulatedReply, str, int], JsonValue]
    """Returns the body of an answer, with the fingerprint of what answers and the second."""
    error_body: Callable[[int, str, str | None, str | None], JsonValue]
    """Returns the body of an error from its status, message, code and parameter."""
    key_in: Callable[[Mapping[str, str]], str] = bearer
    """Returns the key that came with a request, or nothing."""

    def error(
        self, status: int, message: str, code: str | None = None, param: str | None = None
    ) -> JSONResponse:
        """Return an error."""
        return JSONResponse(self.error_body(status, message, code, param), status)
