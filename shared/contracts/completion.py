"""A run, a round or a pair has every record it expects, or waits no longer."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from pydantic import NonNegativeInt

from biaswatch.shared.contracts.identity import RecordId, Token
from biaswatch.shared.contracts.record import Record

FEATURES = "features"
"""What a run waits for: every extractor's features of every response, also of a failed one."""
RUN_GATHER = f"planner-{FEATURES}"
JUDGING_GATHER = "oracle"
"""The planner's gathers of runs, by which others read the progress of a run."""


FOLLOWED_UP_FOR = timedelta(days=7)
"""How long it is looked whether the store has what followed: as long as the bus keeps it."""


class ClosedBy(StrEnum):
    """What ended the waiting."""

    ARRIVAL = "arrival"
    DEADLINE = "deadline"
    CANCELLATION = "cancellation"


@dataclass(frozen=True)
class GatherState:
    """The state of a gather."""

    expected: int
    arrived: int
    opening: int
    closed_by: ClosedBy | None
    """None while it is open."""
    followed_up: bool = False
    """Whether the store was found to have all that follows from its closing."""


class Completion(Record):
    """The end of waiting for a known number of records."""

    kind = "completion"
    identity = ("run_id", "stage", "opening", "closed_by", "arrived")

    run_id: RecordId
    """The run that closed."""
    stage: Token
    """What was waited for: `responses` or `features`."""
    opening: NonNegativeInt = 0
    """How often the gather was reopened."""
    closed_by: ClosedBy
    """Whether everything came."""
    expected: NonNegativeInt
    """How many records were expected."""
    arrived: NonNegativeInt
    """How many were there when it closed; what comes later is counted, not added."""
