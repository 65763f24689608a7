"""An alarm of a monitor: raised once, cleared by rule, kept."""

from enum import StrEnum

from pydantic import NonNegativeInt

from shared.contracts.diagnosis import Estimate
from shared.contracts.identity import Name, RecordId, Token
from shared.contracts.record import Part, Record


class AlarmKind(StrEnum):
    """What the alarm is about."""

    DISPARITY = "disparity"
    CHANGE = "change"
    LEVEL = "level"
    """The gap may be the same; the answers to both groups are not."""


class AlarmState(StrEnum):
    """Whether the alarm is raised or cleared."""

    RAISED = "raised"
    CLEARED = "cleared"


class Twins(Part):
    """A set that contributed much: the answers to its twins, by their ids."""

    set_id: Name
    """The set."""
    gap: float
    """First group less second, in the feature's units."""
    a: tuple[RecordId, ...]
    """Responses to the first group's probes."""
    b: tuple[RecordId, ...]
    """Responses to the second group's probes."""


class Alarm(Record):
    """Evidence has reached its bound, or an alarm is over."""

    kind = "alarm"
    identity = ("monitor_id", "epoch", "comparison_key", "what", "state")

    monitor_id: RecordId
    """The monitor."""
    monitor: Token
    """Its name."""
    epoch: NonNegativeInt
    """The epoch it was raised in."""
    round: NonNegativeInt
    """The round that raised or cleared it."""
    run_id: RecordId
    """The run of that round."""
    comparison_key: Name
    """The comparison."""
    what: AlarmKind
    """What the alarm is about."""
    state: AlarmState
    """Whether the alarm is raised or cleared."""
    reason: str
    """One sentence for a person."""
    gap: Estimate
    """The gap at that moment."""
    log_evidence: float
    """The evidence at that moment."""
    owners: tuple[Name, ...] = ()
    """Who is notified."""
    webhook: str | None = None
    """Where it is posted."""
    twins: tuple[Twins, ...] = ()
    """The sets of the round that contributed most."""
