"""What every wire format has: how a request is read and an answer is written."""

import hashlib
from collections.abc import Mapping
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, JsonValue

from services.simulator.domain.question import Turn
from services.simulator.domain.reply import SimulatedReply, SimulatedRequest


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


class WireFormat(Protocol):
    """The requests, answers and errors of one provider's format."""

    @property
    def path(self) -> str:
        """The path of its endpoint."""

    def read(self, body: bytes) -> WireRequest:
        """Read a request; raise ValidationError where it is none."""

    def answer_body(
        self, request: SimulatedRequest, reply: SimulatedReply, *, fingerprint: str, created_s: int
    ) -> JsonValue:
        """Return the body of an answer."""

    def error_body(
        self, status: int, message: str, *, code: str | None = None, param: str | None = None
    ) -> JsonValue:
        """Return the body of an error."""

    def key_in(self, headers: Mapping[str, str]) -> str:
        """Return the key that came with a request, or nothing."""


def id_of(prefix: str, request: SimulatedRequest, fingerprint: str) -> str:
    """Return the id of an answer; the same request has the same."""
    named = "\n".join((*request.purpose, fingerprint)).encode()
    return prefix + hashlib.blake2b(named, digest_size=12).hexdigest()


def bearer(headers: Mapping[str, str]) -> str:
    """Return the key of an Authorization header."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key if scheme.casefold() == "bearer" else ""
