"""What administrators ask for, and what they are told."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from biaswatch.shared.contracts.audit import purge_subject
from biaswatch.shared.contracts.identity import Moment, Name, RecordId
from biaswatch.shared.lookup import first

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
