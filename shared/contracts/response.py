"""The response of a target, and the features read from it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt, StringConstraints

from biaswatch.shared.contracts.identity import BEGINNING_HEX_DIGITS, Name, RecordId, Token
from biaswatch.shared.contracts.likelihood import ScoredOption
from biaswatch.shared.contracts.probe import Probe
from biaswatch.shared.contracts.record import TEXT, Part, Record, empty_mapping
from biaswatch.shared.contracts.tools import ToolStep

TraceId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
SpanId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]


class CallSpan(Part):
    """Which span of its owner's traces a call is."""

    trace_id: TraceId
    """The trace, in hexadecimal digits."""
    span_id: SpanId
    """The span within it, in hexadecimal digits."""
    response_id: Name | None = None
    """The provider's id of the answer, where the span names it."""


class EvaluatedSpan(Part):
    """Which measurements of an answer go back to its span."""

    span: CallSpan
    """The span of the call."""
    extractors: tuple[Token, ...]
    """Whose measurements: of an answer that several monitors watch, each goes back once."""


class Ending(StrEnum):
    """How the call ended; each of these is recorded."""

    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"


class Usage(Part):
    """Tokens and cost of the answer."""

    prompt_tokens: NonNegativeInt | None = None
    """Tokens read, or null where the provider did not say."""
    completion_tokens: NonNegativeInt | None = None
    """Tokens written, or null where the provider did not say."""
    calls: NonNegativeInt = 1
    """Model calls the scaffold made."""
    retries: NonNegativeInt = 0
    """Calls that had to be made again."""
    latency_s: NonNegativeFloat | None = None
    """From the first call to the last answer."""
    cost: NonNegativeFloat | None = None
    """In the currency of the operator's price table, or null where it names no price."""


TOOL_STEP = "step:"
"""The beginning of the name of a model call with tools; its number follows, from 1."""
STEP_LIMIT = "step_limit"
"""The reason of a missing answer: the model went on calling tools up to the limit of steps."""
TURN_STEP, USER_STEP = "turn:", "user:"
"""The beginnings of the names of steps in a conversation: the model's reply to a user message, and
the message of a simulated user; the number of the user message follows, from 1."""
CONSTRAINED_STEP = "constrained"
"""The name of the call that was held to a schema, as the free answer lacked the requested part."""


class Step(Part):
    """One of several calls of a scaffold; its text is in the response's `said`."""

    name: Name
    """The purpose: `criterion:skills`, `synthesis`."""
    rating: float | None = None
    """The rating it gave, if one was requested."""
    reason: Token | None = None
    """Why it gave none: `no_rating`, `timeout`, ..."""
    finish_reason: str | None = None
    """Why the provider stopped."""
    usage: Usage = Usage()
    """Tokens and cost of the call."""


class Response(Record):
    """The answer to a probe, with the probe inside, so that no later stage has to look it up."""

    kind = "response"
    identity = ("probe_id",)

    probe: Probe
    """The probe."""
    ending: Ending
    """How the call ended."""
    text: Annotated[str | None, TEXT] = None
    """The answer, when there is one."""
    reasoning: Annotated[str | None, TEXT] = None
    """The model's text before its answer; it is kept and not measured. For several calls, each
    below the name of its step."""
    reason: Token | None = None
    """Why the answer is missing: `timeout`, `rate_limited`, `content_filter`, ..."""
    detail: Annotated[str | None, TEXT] = None
    """One sentence more about the reason."""
    model: str | None = None
    """The model's name as the provider reported it."""
    fingerprint: str | None = None
    """The provider's fingerprint of the system that answered."""
    finish_reason: str | None = None
    """Why the provider stopped."""
    from_cache: bool = False
    """True if a cache of a proxy or the provider gave the answer, or that to one of its calls."""
    usage: Usage = Usage()
    """Tokens, calls and time."""
    steps: tuple[Step, ...] = ()
    """The calls of a scaffold that makes several, in the order of its plan."""
    redacted: dict[Token, PositiveInt] = empty_mapping()
    """Numbers of replacements in the texts at intake, by the replacement."""
    evaluated: EvaluatedSpan | None = None
    """The span that measurements go back to; None unless requested."""
    said: Annotated[dict[str, str], TEXT] = empty_mapping()
    """The text of each of those calls, by the step's name."""
    tool_steps: Annotated[tuple[ToolStep, ...], TEXT] = ()
    """The calls of tools that led to the answer, in their order."""
    scored: tuple[ScoredOption, ...] = ()
    """The answers that were scored, in their declared order; none where the target wrote one."""

    @property
    def probe_id(self) -> str:
        """The id of the probe it answers."""
        return self.probe.id

    @property
    def id_beginning(self) -> str:
        """The probe's."""
        return self.probe.id_beginning

    @property
    def lane(self) -> str:
        """The target's."""
        return self.probe.lane

    @property
    def run(self) -> str:
        """The probe's run."""
        return self.probe.run_id

    @property
    def unit(self) -> str:
        """The probe's unit."""
        return self.probe.unit_id


class Reservation(StrEnum):
    """A reservation about a number that counts nevertheless."""

    CUT_OFF = "cut_off"
    """The answer ended at its limit of tokens, after the requested part was complete."""
    CONSTRAINED = "constrained"
    """The free answer had no such part; it comes from a second call with a schema."""


LARGEST_VALUE = 1e150
"""Values beyond it count as missing: their squares would overflow."""


class Features(Record):
    """One extractor's measurement of one response."""

    kind = "features"
    identity = ("response_id", "extractor", "extractor_version")

    run_id: RecordId
    """The run of the response."""
    probe_id: RecordId
    """The probe it answers; groups and set are read there."""
    response_id: RecordId
    """The response that was measured."""
    unit_id: Name
    """The unit of analysis."""
    extractor: Token
    """The extractor."""
    extractor_version: Name
    """At which version; numbers of different versions are never mixed."""
    instrument: str = ""
    """The instrument in a few words: a lexicon, a model by its name, patterns."""
    values: dict[str, float | None] = empty_mapping()
    """Feature by name; null where this one is undefined for the response."""
    baseline: dict[str, float | None] = empty_mapping()
    """The same features of the probe's baseline text, where it has one."""
    unscorable: str | None = None
    """Why there are no values at all."""
    reservation: Reservation | None = None
    """Reservation about the values, if any."""
    span: CallSpan | None = None
    """The span of its owner's traces that these measurements go back to, if they do."""

    @property
    def id_beginning(self) -> str:
        """The prefix of the ids of probe and response, where they are ordered.

        Two hashes do not begin with the same 16 digits.
        """
        beginning = self.response_id[: 2 * BEGINNING_HEX_DIGITS]
        return beginning if self.probe_id.startswith(beginning) else ""

    @property
    def lane(self) -> str:
        """The extractor's own."""
        return self.extractor


@dataclass(frozen=True)
class ExtractorStatus:
    """One extractor at one version, how it does, and when it was last heard of."""

    name: str
    version: str
    features: tuple[str, ...]
    seen_at: datetime
    instrument: str = ""
    """The instrument in a few words."""
    kind: str = "built in"
    """Built in, or a drop-in that some other process serves."""
    lag: int | None = None
    """Responses that wait for it, where it has a durable of its own."""
    rate_per_s: float | None = None
    """Texts a second since it was last heard of."""
    last_error: str | None = None
    """The last error, in our words."""
    refused: str | None = None
    """Why it is not asked to measure, where it is there but breaks the contract."""
