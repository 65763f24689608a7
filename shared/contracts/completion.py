"""How a run ends: complete or cancelled."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import NonNegativeInt

from biaswatch.shared.contracts.identity import RecordId, Token
from biaswatch.shared.contracts.record import TEXT, Record

FEATURES = "features"
"""A run's gather: every extractor's features of every response, also of a failed one."""
RUN_GATHER = f"planner-{FEATURES}"
"""The name of the planner's gathers of runs, for readers of their progress."""
JUDGING_GATHER = "oracle"
"""The name of the oracle's gathers of judgings."""

FOLLOWED_UP_FOR = timedelta(days=7)
"""How long it is looked whether the store has what followed: as long as the bus keeps it."""


class ClosedBy(StrEnum):
    """The reason why waiting ended."""

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
    """True if the store has all records that follow from its closing."""


class Completion(Record):
    """The end of waiting for a known number of records."""

    kind = "completion"
    identity = ("run_id", "stage", "opening", "closed_by", "arrived")

    run_id: RecordId
    """The run that closed."""
    stage: Token
    """The records that were awaited: `responses` or `features`."""
    opening: NonNegativeInt = 0
    """How often the gather was reopened."""
    closed_by: ClosedBy
    """Why waiting ended: arrival, deadline or cancellation."""
    expected: NonNegativeInt
    """How many records were expected."""
    arrived: NonNegativeInt
    """How many were there when it closed; what comes later is counted, not added."""


class Cancellation(Record):
    """The early end of a run; its results stay, and it can be started again.

    It concerns probes made before it. Probes made later, because the run was started again, are
    asked.
    """

    kind = "cancellation"
    identity = ("run_id", "moment_ms")

    run_id: RecordId
    """The run that is to end."""
    moment_ms: NonNegativeInt
    """When it was requested (Unix time in milliseconds)."""
    reason: Token | None = None
    """Why, where no person requested it: `budget_spent`, `usage_unknown`, `no_price`,
    `provider_errors`."""
    detail: Annotated[str | None, TEXT] = None
    """The provider's words, if they are the reason."""

    def came_after(self, moment: datetime) -> bool:
        """Tell whether this was requested after a moment."""
        return self.moment_ms > int(moment.timestamp() * 1000)

    def ends(self, record: Record) -> bool:
        """Tell whether a record of the run was made before this, and so is cancelled."""
        return int(record.at.timestamp() * 1000) <= self.moment_ms
