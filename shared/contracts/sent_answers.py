"""Answers that were sent in for windows of monitors, as the store accounts for them."""

from dataclasses import dataclass
from datetime import datetime

from shared.contracts.answer_accounts import AnswerAccounts
from shared.contracts.traffic import Window

AnswerKey = tuple[str, str]
"""The window's run and the answer."""


@dataclass(frozen=True)
class MonitoredWindow:
    """A window of one monitor."""

    run_id: str
    monitor_id: str
    window: Window


@dataclass(frozen=True)
class SentAnswer:
    """One sending of an answer, for one monitor."""

    of: MonitoredWindow
    answer_id: str
    """The id of its response."""
    sending: str
    """What distinguishes it from other sendings of the same answer."""
    late: bool = False
    """Whether it was taken in too late, by the moment of its intake."""

    @property
    def key(self) -> AnswerKey:
        """Return what is equal in all sendings of the answer."""
        return self.of.run_id, self.answer_id


@dataclass(frozen=True)
class UnwatchedSource:
    """A live system of which answers were sent in that no monitor watched."""

    tenant: str
    source: str
    answers: int
    """How many, ever; each sending counts. They were refused, and none of them is kept."""
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True)
class AccountedWindow:
    """A window, and what became of its answers up to now."""

    of: MonitoredWindow
    fixed_at: datetime | None
    """When the list of its members was fixed; None of a window that is not read yet."""
    accounts: AnswerAccounts
