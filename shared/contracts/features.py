"""Numbers an extractor read from one response, or why it read none; and the extractor itself."""

from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.contracts.identity import BEGINNING_HEX_DIGITS, Name, RecordId, Token
from biaswatch.shared.contracts.record import Record, nothing_yet
from biaswatch.shared.contracts.spans import CallSpan

LARGEST_VALUE = 1e150
"""Values beyond it count as missing: their squares are no numbers that a computer holds."""


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
    """What measured."""
    extractor_version: Name
    """At which version; numbers of different versions are never mixed."""
    instrument: str = ""
    """What it measured with, in a few words: a lexicon, a model by its name, patterns."""
    values: dict[str, float | None] = nothing_yet()
    """Feature by name; null where this one is undefined for the response."""
    baseline: dict[str, float | None] = nothing_yet()
    """The same features of the probe's baseline text, where it has one."""
    unscorable: str | None = None
    """Why there are no values at all."""
    span: CallSpan | None = None
    """The span of its owner's traces that these measurements go back to, if they do."""

    @property
    def id_beginning(self) -> str:
        """What the ids of probe and response begin with, where they are in order.

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
    """What it measures with, in a few words."""
    kind: str = "built in"
    """Built in, or a drop-in that some other process serves."""
    lag: int | None = None
    """Responses that wait for it, where it has a durable of its own."""
    rate_per_s: float | None = None
    """Texts a second since it was last heard of."""
    last_error: str | None = None
    """What went wrong last, in words of ours."""
    refused: str | None = None
    """Why it is not asked to measure, where it is there but breaks the contract."""
