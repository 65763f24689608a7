"""Interface between the generator and the adapters of providers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

from biaswatch.shared.contracts.tools import Tool, ToolCall, ToolStep

PURPOSE_HEADER = "X-Biaswatch-Purpose"
"""Header of every HTTP call; tells our questions from those of an application's users."""


Tokens = tuple[int | None, int | None]
"""Tokens read and written; None if the provider did not report them."""
UNKNOWN_TOKENS: Tokens = (None, None)
"""Usage of a paid reply that does not report it."""


@dataclass(frozen=True)
class AnswerSchema:
    """The JSON Schema of an answer, enforced by providers that support it."""

    name: str
    schema: Mapping[str, JsonValue]
    """In the form that every provider accepts: an object, every field required."""


@dataclass(frozen=True)
class Continuations:
    """Texts whose log-probabilities are requested instead of an answer."""

    texts: tuple[str, ...]
    """Not empty, each of them."""
    context: str | None = None
    """The raw text before them; None if they begin the answer to the messages. Empty for whole
    texts, whose context is the first token of the model."""


@dataclass(frozen=True)
class ModelCall:
    """One request to a model."""

    model: str
    messages: tuple[Mapping[str, Any], ...]
    """Each with `role` and `content`; calls of tools and their results as Chat Completions."""
    repeat_key: str
    """Differs between repeats, not between redeliveries; seeds recorded and simulated models."""
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    timeout_s: float = 120.0
    attempt: int = 0
    """Number of the attempt, from 0; simulated faults are drawn for each attempt."""
    recording: tuple[str, str, int] | None = None
    """Key, scaffold and repeat of the probe: the address of a recorded answer."""
    answer_schema: AnswerSchema | None = None
    """The schema of the answer, if the question asks for one."""
    enforced: bool = False
    """True if the schema is sent to servers that imitate a provider, too."""
    purpose: str = "study"
    """The purpose of the probe: study, monitor or judge."""
    continuations: Continuations | None = None
    """The texts to score; None for a call that asks for an answer."""
    tools: tuple[Tool, ...] = ()
    """The tools that the model may call."""


TokenScores = Sequence[tuple[str, float]]
"""Each token of a continuation, by its id or its text, and its log-probability."""


@dataclass(frozen=True)
class RecordedStep:
    """One step of a scaffold in a recording."""

    name: str
    """Its purpose, such as `criterion:skills`."""
    text: str = ""
    rating: float | None = None
    """The recorded rating; if None, it is read from the text."""


@dataclass(frozen=True)
class ModelAnswer:
    """The answer of a model."""

    text: str
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str | None = None
    fingerprint: str | None = None
    reasoning: str | None = None
    """Reasoning that the provider returned separately from the text."""
    steps: tuple[RecordedStep, ...] = ()
    """The steps that led to it, in a recording; other models answer one call at a time."""
    from_cache: bool = False
    """True if a proxy or the provider said that its cache answered."""
    calls: tuple[ToolCall, ...] = ()
    """The tools that the model calls instead of an answer, or beside a text."""
    tool_steps: tuple[ToolStep, ...] = ()
    """The tools that an application called by itself."""
    scores: Sequence[TokenScores] = ()
    """The scores of the requested continuations, in their order."""

    @property
    def tokens(self) -> Tokens:
        """Tokens read and written."""
        return self.prompt_tokens, self.completion_tokens


class Failure(StrEnum):
    """Reasons for a call without an answer; a closed set, used as a metric label."""

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
    NO_LOGPROBS = "no_logprobs"
    TOOL_CALL = "tool_call"


WITHHELD = frozenset({Failure.CONTENT_FILTER, Failure.REFUSAL})
"""Refusals by the model or the provider."""
MAY_PASS = frozenset(
    {
        Failure.RATE_LIMITED,
        Failure.SERVER_ERROR,
        Failure.TIMEOUT,
        Failure.UNREACHABLE,
        Failure.GARBAGE,
    }
)
"""Failures after which the same call may succeed."""


HOST_KEY_SOURCE = "the file named like the target's host in BIASWATCH_KEYS_DIR"
"""Location of the key for a server that is not the provider's own."""


class CallFailed(Exception):  # noqa: N818 - an outcome that is recorded, not an accident
    """A call ended without an answer."""

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
        """Tokens read and written by a paid call; None if nothing is paid."""


def off_limits(host: str) -> CallFailed:
    """Return the failure of a call to a server with a private address, which is not made."""
    return CallFailed(
        Failure.OFF_LIMITS,
        f"The host {host} has a private address. If the generator may call it, add it to"
        " BIASWATCH_GENERATOR_PRIVATE_HOSTS.",
    )


def key_refused(status: int, key_source: str) -> CallFailed:
    """Return the failure of a call answered with 401 or 403; it does not contain the key."""
    return CallFailed(
        Failure.KEY_REFUSED,
        f"The target refused the key (HTTP {status}). Correct {key_source}; after changing a"
        " variable, restart the generator.",
    )


TARGET_SAYS = " The target says: "
"""Precedes the message of a target that refuses a key."""


def unsendable(error: Exception) -> CallFailed:
    """Return the failure of a call whose request could not be built."""
    return CallFailed(
        Failure.BAD_REQUEST,
        f"The request could not be built ({type(error).__name__}); nothing was sent."
        " Check the target's parameters.",
    )


def no_logprobs(reason: str, *, tokens: Tokens | None = None) -> CallFailed:
    """Return the failure of a server that returns no log-probability for a requested text."""
    return CallFailed(
        Failure.NO_LOGPROBS,
        f"The target returned no log-probabilities for what was requested: {reason}. The scaffold"
        " `likelihood` needs llama.cpp, vLLM, or a provider with `logprobs`.",
        tokens=tokens,
    )


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint:
    """Address and key of one server."""

    url: str
    """Always explicit, as an SDK would otherwise read it from an environment variable."""
    key: str | None = None
    key_source: str = HOST_KEY_SOURCE
    """Where the operator sets the key; named in errors."""
    structured: bool = True
    """True if it supports answer schemas; servers that imitate a provider may not."""
    tell_repeat: bool = False
    """True if the number of the repeat and of the attempt are sent."""
    named_by_target: bool = False
    """True if the address comes from the target, not the operator; it must then be public."""
    private_hosts: Collection[str] = ()
    """Hosts that may have private addresses; `*.example.com` includes all subdomains."""
    recordings_dir: Path | None = None
    """The only folder to read recordings from; None disables them."""
    local_models: "LocalServers | None" = None
    """The models that the generator starts itself; None disables them."""


class LocalServer(Protocol):
    """The server of one model on this machine."""

    @property
    def runs(self) -> bool:
        """Tell whether the process is alive."""

    def address(self) -> str:
        """Return the address; start the server where it does not run."""


class LocalServers(Protocol):
    """The models that a generator starts itself."""

    def model(self, name: str, /) -> LocalServer:
        """Return the server of a model, which may not run yet."""


class ChatModel(Protocol):
    """Client of one model."""

    async def ask(self, call: ModelCall) -> ModelAnswer:
        """Return the answer, or raise CallFailed."""

    async def close(self) -> None:
        """Close the connections."""
