"""Requests and responses about administration, channels and the platform's status."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from biaswatch.shared.contracts import AlarmKind, AlarmState
from biaswatch.shared.contracts.alarm import ChannelStatus, DeliveryState
from biaswatch.shared.contracts.audit import purge_subject
from biaswatch.shared.contracts.identity import Moment, Name, RecordId
from biaswatch.shared.lookup import first
from biaswatch.shared.requests.run_views import RunProgress

MAX_ENTRIES = 10_000
ON_THE_BUS = (
    "Copies on the bus go within 7 days (dead letters 30); those, and copies in the archive, go at"
    " once when an operator runs `biaswatch purge --pending`. Prompts stay in the suites they were"
    " uploaded with."
)


class AuditRequest(BaseModel):
    """Which entries of the audit trail are wanted."""

    model_config = ConfigDict(extra="forbid")

    about: str | None = None
    """What was acted on: the name of a monitor, the id of a run, a target."""
    by: str | None = None
    """Who acted."""
    action: str | None = None
    """`monitor.pause`, or `monitor` for all that is done to monitors."""
    since: Moment | None = None
    """The earliest moment."""
    last: int = Field(default=100, ge=1, le=MAX_ENTRIES)
    """The most entries."""


class PurgeRequest(BaseModel):
    """Whose texts are to be removed: exactly one of these."""

    model_config = ConfigDict(extra="forbid")

    run: RecordId | None = None
    """Those of a run."""
    unit: Name | None = None
    """Those of a prompt, a user or a conversation."""
    before: Moment | None = None
    """Those of records made before this moment."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(each is not None for each in (self.run, self.unit, self.before)) != 1:
            raise ValueError("say what to purge with one of run, unit and before")
        return self

    @property
    def what(self) -> str:
        """Which of the three it is."""
        return first(self.model_dump(exclude_none=True), "Nothing is to be purged.")

    @property
    def subject(self) -> str:
        """What the audit trail says was purged."""
        return purge_subject(self.what, str(getattr(self, self.what)))


class PurgedTexts(BaseModel):
    """What a purge removed."""

    texts: int
    """Texts that were removed from the store; none comes back, however late a copy arrives."""
    prompts: int = 0
    """Probes of stored suites whose texts were removed: those of the unit."""
    remains: str
    """What is left, and where."""


class ChannelView(BaseModel):
    """A channel, and what became of the alarms that were sent to it."""

    name: str
    """Its name; of a webhook in a monitor's file, `webhook/` and the monitor."""
    status: ChannelStatus | None
    """What the diagnoser says of it; null where no diagnoser has it now."""
    alarms: dict[DeliveryState, int]
    """The alarms of the last seven days, by how far they have come."""
    last_failure: str | None
    """Why the last of those that were not delivered has failed."""


class RetriedChannel(BaseModel):
    """How many alarms are sent again."""

    alarms: int


class AlarmLine(BaseModel):
    """An alarm in one line."""

    alarm_id: str
    monitor: str
    comparison: str
    what: AlarmKind
    state: AlarmState
    at: datetime
    words: str
    """Who is worse off, by how much and how sure."""


class OverdueMonitor(BaseModel):
    """A monitor whose next round should have begun."""

    name: str
    due_at: datetime


class PlatformTrouble(BaseModel):
    """Something that keeps the platform from its work, in a sentence."""

    what: str
    said: str


class DaySpending(BaseModel):
    """What runs, rounds and windows that began in the last day have spent by now."""

    runs: int
    tokens: int
    cost: float | None
    """By the price table; null where that names no price of any of their models."""
    unpriced_calls: int
    """Calls whose price is not known."""


class PlatformStatus(BaseModel):
    """What whoever opens the platform in the morning has to know."""

    at: datetime
    alarms: list[AlarmLine]
    """Those that stand, the latest first."""
    changes: list[AlarmLine]
    """Raised or cleared in the last day, the latest first."""
    overdue: list[OverdueMonitor]
    troubles: list[PlatformTrouble]
    """What waits for a person: targets, extractors and channels."""
    monitors: int
    """Monitors that are active."""
    under_way: list[RunProgress]
    """Runs that people asked for and that have not ended."""
    ended: list[RunProgress]
    """Those that began in the last day and have ended."""
    spending: DaySpending
    unwatched: dict[str, int] = {}
    """By live system: answers that were sent in, ever, and that nobody watches; of those systems
    that sent some in the last day."""

    @property
    def waits(self) -> bool:
        """Tell whether anything waits for a person."""
        return bool(self.troubles or self.overdue)
