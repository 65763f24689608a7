"""What the rounds of a monitor leave behind: increments that never change, and their sum."""

from pydantic import NonNegativeInt

from shared.contracts.comparison import Comparison
from shared.contracts.completion import ClosedBy
from shared.contracts.diagnosis import Estimate, Verdict
from shared.contracts.identity import RecordId, Token
from shared.contracts.record import Part, Record

Counts = dict[str, tuple[int, ...]]
"""Whole numbers by name; those of disjoint units add up, place by place, in any order."""


class Round(Record):
    """A round that takes no more records: which epoch it belongs to, and what came."""

    kind = "round"
    identity = ("monitor_id", "round")

    monitor_id: RecordId
    """The monitor."""
    monitor: Token
    """Its name."""
    round: NonNegativeInt
    """Which round, counted from 0."""
    run_id: RecordId
    """The run that asked."""
    epoch: NonNegativeInt = 0
    """Rounds of one epoch were answered by one version of the model, measured by one version."""
    began_with: NonNegativeInt = 0
    """The first round of the epoch."""
    instruments: tuple[str, ...] = ()
    """What measured, each with its version."""
    models: tuple[str, ...] = ()
    """What answered, by the names and fingerprints it gave."""
    changed: tuple[str, ...] = ()
    """Why this round begins an epoch, where it does and is not the first."""
    closed_by: ClosedBy
    """Whether everything came."""
    expected: NonNegativeInt
    """How many measurements were expected."""
    arrived: NonNegativeInt
    """How many were there when it closed; what comes later is not added."""


class _OfComparison(Record):
    """What belongs to one comparison in one round."""

    identity = ("monitor_id", "epoch", "round", "comparison_key")

    monitor_id: RecordId
    """The monitor."""
    run_id: RecordId
    """The run of the round."""
    epoch: NonNegativeInt
    """The epoch."""
    round: NonNegativeInt
    """The round."""
    comparison: Comparison
    """What is compared."""

    @property
    def comparison_key(self) -> str:
        """The comparison's name."""
        return self.comparison.key


class Increment(_OfComparison):
    """What one closed round adds to the evidence of one comparison; never made twice."""

    kind = "increment"

    counts: Counts
    """What is added."""
    missing: NonNegativeInt = 0
    """Sets, or answers without twins, that have no number."""
    outside: NonNegativeInt = 0
    """Values beyond the declared range, which counted as missing."""


class Change(Part):
    """Whether the gap is still what it was in the first rounds of the epoch."""

    reference: float
    """The gap of the reference rounds, as a share of the range, or of what is selected."""
    allowed: float
    """What is no change: the tolerance and the uncertainty of the reference."""
    log_a: tuple[float, ...] = ()
    """The detector's state."""
    log_b: tuple[float, ...] = ()
    """The detector's state."""
    steps: NonNegativeInt = 0
    """Rounds since the reference."""
    log_evidence: float | None = None
    """Against no change; null before the first round after the reference."""


class Evidence(_OfComparison):
    """What all rounds of an epoch up to this one allow to say of one comparison."""

    kind = "evidence"

    rounds: NonNegativeInt
    """How many rounds were added up."""
    counts: Counts
    """The sum of their increments."""
    units: NonNegativeInt
    """How many units are in it."""
    missing: NonNegativeInt
    """How many have no number."""
    gap: Estimate
    """The gap, first group less second: in the feature's units, or as a log odds ratio."""
    log_e: float
    """The log evidence now, against every gap within the tolerance."""
    log_supremum: float
    """The largest it has been."""
    bound: float
    """What it must reach for an alarm."""
    verdict: Verdict
    """What follows."""
    reason: str
    """Why."""
    more_units: int | None = None
    """How many more units a decision is expected to need."""
    expected_verdict: Verdict | None = None
    """What that decision would be, if what comes is like what is there."""
    no_forecast: str | None = None
    """Why there is no forecast."""
    impact_ratio: Estimate | None = None
    """The ratio of selection rates, for the four-fifths rule; it never alarms."""
    change: Change | None = None
    """Whether the gap is still what it was; null during the reference rounds."""
    level_change: Change | None = None
    """Whether the level of both groups is still what it was."""
    before: Estimate | None = None
    """The gap at the end of the epoch before."""
