"""What the target said to one probe, or why it said nothing."""

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import NonNegativeFloat, NonNegativeInt

from shared.contracts.identity import Token
from shared.contracts.probe import Probe
from shared.contracts.record import TEXT, Part, Record


class Ending(StrEnum):
    """How the asking ended; every one of them is a recorded outcome."""

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


class Response(Record):
    """The answer to a probe; the probe travels inside, so that no later stage has to look it up."""

    kind: ClassVar[str] = "response"
    identity: ClassVar[tuple[str, ...]] = ("probe_id",)

    probe: Probe
    """What was asked."""
    ending: Ending
    """Whether there is an answer."""
    text: Annotated[str | None, TEXT] = None
    """The answer, when there is one."""
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

    @property
    def probe_id(self) -> str:
        """The id of the probe it answers."""
        return self.probe.id

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

    @property
    def embedded(self) -> tuple[Record, ...]:
        """The probe: it rides its response into the store (ADR 0004)."""
        return (self.probe,)
