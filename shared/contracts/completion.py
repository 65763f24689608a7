"""How a run ends: complete, cancelled, or waiting for a paused target."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, NonNegativeInt

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


class PausedTarget(BaseModel):
    """The error of the target, as the generator saw it; its probes wait meanwhile."""

    model_config = ConfigDict(frozen=True)

    lane: str
    """The target's word in subjects."""
    target: str
    """The target as a person wrote it."""
    why: str
    """One sentence: what it answers, and what to correct."""
    since: datetime
    """When it was first refused."""
    refusals: int
    """How often it has been tried since, and refused."""
    next_try_at: datetime
    """When one probe tries it again."""

    def in_words(self) -> str:
        """Return what a person needs to know: what waits, why, until when, and what to do."""
        times = "once" if self.refusals == 1 else f"{self.refusals} times"
        return (
            f"{self.target} is paused since {self.since:%Y-%m-%d %H:%M} UTC, and its probes wait."
            f" {self.why} It was tried {times}; the next try is at {self.next_try_at:%H:%M:%S} UTC,"
            f" or at once after `biaswatch targets resume '{self.target}'`."
        )


class BatchProgress(BaseModel):
    """A batch of a run at its provider."""

    model_config = ConfigDict(frozen=True)

    target: str
    """The target as a person wrote it."""
    requests: int
    """How many calls are in the batch."""
    done: int
    """How many of them are answered, as far as the provider says."""
    submitted_at: datetime
    """When it was sent."""
    expires_at: datetime | None
    """When the provider ends it; null until the provider has confirmed it."""

    def in_words(self) -> str:
        """Return one sentence: how much is answered, and until when the rest may take."""
        since = f"{self.target}: {self.requests:,} calls in a batch"
        if self.expires_at is None:
            return f"{since}, which is being submitted since {self.submitted_at:%H:%M} UTC."
        return (
            f"{since}, {self.done:,} of them answered; submitted {self.submitted_at:%H:%M} UTC,"
            f" expires {self.expires_at:%Y-%m-%d %H:%M} UTC."
        )
