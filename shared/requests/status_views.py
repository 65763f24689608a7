"""The platform as a whole as the API shows it."""

from datetime import datetime

from pydantic import BaseModel

from biaswatch.shared.contracts import AlarmKind, AlarmState
from biaswatch.shared.requests.run_views import RunProgress


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
