"""Requests and responses about administration, channels and the platform's status."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from biaswatch.shared.contracts import AlarmKind, AlarmState, Moment, Name, RecordId, purge_subject
from biaswatch.shared.contracts.alarm_delivery import ChannelStatus, DeliveryState
from biaswatch.shared.lookup import first
from biaswatch.shared.requests.run_views import RunProgress

MAX_ENTRIES = 10_000
ON_THE_BUS = (
    "Copies on the bus go within 7 days (dead letters 30); those, and copies in the archive, go at"
    " once when an operator runs `biaswatch admin purge --pending`. Prompts stay in the suites they"
    " were uploaded with."
)


class AuditRequest(BaseModel):
    """A selection of entries of the audit trail."""

    model_config = ConfigDict(extra="forbid")

    about: str | None = None
    """The subject: the name of a monitor, the id of a run, a target."""
    by: str | None = None
    """The actor."""
    action: str | None = None
    """`monitor.pause`, or `monitor` for all actions on monitors."""
    since: Moment | None = None
    """The earliest moment."""
    last: int = Field(default=100, ge=1, le=MAX_ENTRIES)
    """Maximum number of entries."""


class SignInView(BaseModel):
    """How `biaswatch login` signs in."""

    issuer: str
    """The OpenID Connect issuer."""
    client: str
    """The public client for the device flow."""
    scopes: str
    """The scopes to ask for, separated by spaces."""


class PurgeRequest(BaseModel):
    """Texts to remove, by exactly one of these fields."""

    model_config = ConfigDict(extra="forbid")

    run: RecordId | None = None
    """All texts of a run."""
    unit: Name | None = None
    """All texts of a prompt, a user or a conversation."""
    before: Moment | None = None
    """All texts of records made before this moment."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(field is not None for field in (self.run, self.unit, self.before)) != 1:
            raise ValueError("say what to purge with one of run, unit and before")
        return self

    @property
    def what(self) -> str:
        """The name of the field."""
        return first(self.model_dump(exclude_none=True), "Nothing is to be purged.")

    @property
    def subject(self) -> str:
        """The subject in the audit trail."""
        return purge_subject(self.what, str(getattr(self, self.what)))


class PurgedTexts(BaseModel):
    """Numbers of removed texts."""

    texts: int
    """Texts removed from the store; late copies do not bring them back."""
    prompts: int = 0
    """Probes of stored suites whose texts were removed."""
    known: bool = True
    """False if the store has nothing of the unit."""
    remains: str
    """A sentence about the texts that remain."""


class ChannelView(BaseModel):
    """A channel and the deliveries of its alarms."""

    name: str
    """The name; for a webhook in a monitor's file, `webhook/` and the monitor."""
    status: ChannelStatus | None
    """The status that the notifier announced; null if no notifier has the channel."""
    alarms: dict[DeliveryState, int]
    """Number of alarms of the last seven days, by state of delivery."""
    last_failure: str | None
    """Reason of the last failed delivery."""

    def undelivered(self) -> str | None:
        """Return how many alarms do not reach the channel, or None."""
        ended = (DeliveryState.REFUSED, DeliveryState.EXPIRED)
        waiting = self.alarms.get(DeliveryState.WAITING, 0)
        if not (count := sum(self.alarms.get(state, 0) for state in ended)):
            if not (waiting and self.last_failure):
                return None
            return f"{self.name}: {waiting} waiting, tried again ({self.last_failure})."
        return (
            f"{self.name}: {count} within seven days ({self.last_failure or 'it was unavailable'})."
            f" Correct the cause, then run `biaswatch channels retry {self.name}`."
        )


class RetriedChannel(BaseModel):
    """Number of alarms that are sent again."""

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
    """A sentence: the disadvantaged group, the gap and its evidence."""
    handled: str = ""
    """Actions of people: acknowledged, resolved, assigned, silenced; empty without any."""


class OverdueMonitor(BaseModel):
    """A monitor whose next round should have begun."""

    name: str
    due_at: datetime


class PlatformTrouble(BaseModel):
    """A problem of the platform that needs a person, in a sentence."""

    what: str
    said: str


class DaySpending(BaseModel):
    """Spending of runs, rounds and windows that began in the last day."""

    runs: int
    answers: int = 0
    """Answers of these runs."""
    tokens: int
    cost: float | None
    """Cost by the price table; null if it has no price for any of their models."""
    unpriced_calls: int
    """Calls without a known price."""


class PlatformStatus(BaseModel):
    """The platform at a glance."""

    at: datetime
    alarms: list[AlarmLine]
    """Raised alarms, the latest first."""
    changes: list[AlarmLine]
    """Alarms raised or cleared in the last day, the latest first."""
    overdue: list[OverdueMonitor]
    troubles: list[PlatformTrouble]
    """The bus, and targets, monitors, extractors and channels that need a person."""
    monitors: int
    """Number of active monitors."""
    under_way: list[RunProgress]
    """Requested runs that have not ended."""
    ended: list[RunProgress]
    """Requested runs that began in the last day and have ended."""
    spending: DaySpending
    unwatched: dict[str, int] = {}
    """Number of answers ever sent that no monitor watches, by live system, for systems that sent
    some in the last day."""

    @property
    def waits(self) -> bool:
        """True if anything needs a person."""
        return bool(self.troubles or self.overdue)
