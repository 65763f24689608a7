"""What the generator needs of a model, whoever provides it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

PURPOSE_HEADER = "X-Biaswatch-Purpose"
"""A header of every call over HTTP: an application can tell our questions from its users'."""


@dataclass(frozen=True)
class AnswerSchema:
    """The JSON Schema of an answer; a provider that can is held to it."""

    name: str
    schema: Mapping[str, JsonValue]
    """Of the kind every provider takes: an object, every field required."""


@dataclass(frozen=True)
class ModelCall:
    """One request to a model."""

    model: str
    messages: tuple[Mapping[str, str], ...]
    """Each with `role` and `content`."""
    repeat_key: str
    """Differs between repeats, agrees between redeliveries; recorded and simulated models answer
    by it."""
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    timeout_s: float = 120.0
    attempt: int = 0
    """Which try of this call it is; a simulated fault is drawn anew for each."""
    recording: tuple[str, str, int] | None = None
    """Key, scaffold and repeat of the probe: the address of a recorded answer."""
    answer_schema: AnswerSchema | None = None
    """The schema the answer is to have, where the question asks for one."""
    purpose: str = "study"
    """Why it is asked: study, monitor or judge."""


@dataclass(frozen=True)
class RecordedStep:
    """One step of a scaffold, as it was recorded with the answer."""

    name: str
    """What it was for: `criterion:skills`."""
    text: str = ""
    rating: float | None = None
    """The rating as it was recorded; where there is none, it is read from the text."""


@dataclass(frozen=True)
class ModelAnswer:
    """What a model answered."""

    text: str
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None
    fingerprint: str | None = None
    steps: tuple[RecordedStep, ...] = ()
    """What led to it, where a recording says so; other models answer one call at a time."""


class Failure(StrEnum):
    """Why a call brought no answer: a closed set, so that it can be counted."""

    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    GARBAGE = "garbage"
    BAD_REQUEST = "bad_request"
    KEY_REFUSED = "key_refused"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    QUOTA = "quota"
    OFF_LIMITS = "off_limits"
    EMPTY = "empty"
    OVERSIZE = "oversize"
    TRUNCATED = "truncated"
    NOT_RECORDED = "not_recorded"
    CALLS_USED_UP = "calls_used_up"
    FORBIDDEN = "forbidden"


WITHHELD = frozenset({Failure.CONTENT_FILTER, Failure.REFUSAL})
"""Failures that are the model's or the provider's will: a refusal, not an accident."""
MAY_PASS = frozenset(
    {Failure.RATE_LIMITED, Failure.SERVER_ERROR, Failure.TIMEOUT}
    | {Failure.UNREACHABLE, Failure.GARBAGE}
)
"""Failures after which the same call may succeed."""


HOST_KEY_SOURCE = "the file named like the target's host in BIASWATCH_KEYS_DIR"
"""Where the key of a server lies that is no provider's own."""


Tokens = tuple[int | None, int | None]
"""Tokens read and written; None where the provider did not say."""
UNKNOWN_TOKENS: Tokens = (None, None)
"""What a reply cost that is paid for and does not say."""


class CallFailed(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """A call brought no answer."""

    def __init__(
        self,
        why: Failure,
        detail: str,
        *,
        retry_after_s: float | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        super().__init__(detail)
        self.why = why
        self.detail = detail
        self.retry_after_s = retry_after_s
        self.tokens = tokens
        """Read and written, where the call is paid for; None where nothing is."""


def off_limits(host: str) -> CallFailed:
    """Return the failure of a call that was not made, as its server has a private address."""
    return CallFailed(
        Failure.OFF_LIMITS,
        f"The host {host} has a private address. If it may be asked, name it in"
        " BIASWATCH_GENERATOR_PRIVATE_HOSTS for the generator.",
    )


def key_refused(status: int, key_source: str) -> CallFailed:
    """Return the failure of a call that was answered with 401 or 403; it names no key."""
    return CallFailed(
        Failure.KEY_REFUSED,
        f"The target refused the key (HTTP {status}). Correct {key_source}; after changing a"
        " variable, restart the generator.",
    )


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint:
    """How one server is reached, and with which key."""

    url: str
    """Said outright: an SDK would otherwise follow a variable of the environment, key and all."""
    key: str | None = None
    key_source: str = HOST_KEY_SOURCE
    """Where a person corrects the key."""
    structured: bool = True
    """Whether it can be held to a schema; a server that only resembles a provider's may refuse
    what it does not know."""
    tell_repeat: bool = False
    """Whether it is told which repeat and which attempt a call is."""
    named_by_target: bool = False
    """Whether the target says where the server is, not the operator: it must be a public one."""
    private_hosts: Collection[str] = ()
    """Hosts that may have private addresses all the same; `*.example.com` for all below."""
    recordings_dir: Path | None = None
    """Where files of recorded answers may be read; without it, nowhere."""


class ChatModel(Protocol):
    """Answers calls."""

    async def ask(self, call: ModelCall) -> ModelAnswer:
        """Return the answer, or raise CallFailed."""

    async def close(self) -> None:
        """Close the connections."""
