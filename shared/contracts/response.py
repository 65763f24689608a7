"""The answer of the target to one probe, or why there is none."""

from enum import StrEnum
from typing import Annotated

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.contracts.probe import Probe
from biaswatch.shared.contracts.record import TEXT, Part, Record, nothing_yet
from biaswatch.shared.contracts.spans import EvaluatedSpan


class Ending(StrEnum):
    """How the call ended; each of these is recorded."""

    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"


class Usage(Part):
    """What the answer cost."""

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


class Step(Part):
    """One of the several calls a scaffold made; its words stand in the response's `said`."""

    name: Name
    """What it was for: `criterion:skills`, `synthesis`."""
    rating: float | None = None
    """The rating it gave, where it was asked for one."""
    reason: Token | None = None
    """Why it gave none: `no_rating`, `timeout`, ..."""
    finish_reason: str | None = None
    """Why the provider stopped."""
    usage: Usage = Usage()
    """What it cost."""


class Response(Record):
    """The answer to a probe, with the probe inside, so that no later stage has to look it up."""

    kind = "response"
    identity = ("probe_id",)

    probe: Probe
    """What was asked."""
    ending: Ending
    """Whether there is an answer."""
    text: Annotated[str | None, TEXT] = None
    """The answer, when there is one."""
    reasoning: Annotated[str | None, TEXT] = None
    """What the model wrote before its answer; it is kept and not measured. Of several calls, each
    below the name of its step."""
    reason: Token | None = None
    """Why there is none: `timeout`, `rate_limited`, `content_filter`, ..."""
    detail: Annotated[str | None, TEXT] = None
    """One sentence more about the reason."""
    model: str | None = None
    """The model's name as the provider reported it."""
    fingerprint: str | None = None
    """The provider's fingerprint of the system that answered."""
    finish_reason: str | None = None
    """Why the provider stopped."""
    usage: Usage = Usage()
    """Tokens, calls and time."""
    steps: tuple[Step, ...] = ()
    """The calls of a scaffold that makes several, in the order of its plan."""
    redacted: dict[Token, PositiveInt] = nothing_yet()
    """How often something was replaced in the texts at intake, by what stands there instead."""
    evaluated: EvaluatedSpan | None = None
    """The span that measurements go back to; None where nobody has asked for that."""
    said: Annotated[dict[str, str], TEXT] = nothing_yet()
    """What each of those calls brought, by the step's name."""

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
