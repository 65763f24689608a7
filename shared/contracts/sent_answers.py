"""Answers that were sent in for windows of monitors, as the store accounts for them."""

from dataclasses import dataclass
from datetime import datetime

from biaswatch.shared.contracts.answer_accounts import AnswerAccounts
from biaswatch.shared.contracts.traffic import Window

AnswerKey = tuple[str, str]
"""The window's run and the answer."""


@dataclass(frozen=True)
class MonitoredWindow:
    """A window of one monitor."""

    run_id: str
    monitor_id: str
    window: Window


@dataclass(frozen=True)
class FirstSending:
    """The sending of an answer that counts: all others are duplicates of it."""

    sending: str
    response_id: str
    """The id of the response that it led to: the answer's own, before ids were in order."""


@dataclass(frozen=True)
class SentAnswer:
    """One sending of an answer, for one monitor."""

    of: MonitoredWindow
    answer_id: str
    """A hash of the answer's own key, and of its window: equal in all sendings."""
    response_id: str
    """The id of its response, if it is this sending that comes first."""
    sending: str
    """What distinguishes it from other sendings of the same answer."""
    late: bool = False
    """Whether it was taken in too late, by the moment of its intake."""

    @property
    def key(self) -> AnswerKey:
        """Return what is equal in all sendings of the answer."""
        return self.of.run_id, self.answer_id

    @property
    def as_first(self) -> FirstSending:
        """Return it as the one that counts."""
        return FirstSending(self.sending, self.response_id)

    def comes_first(self, first: FirstSending) -> bool:
        """Tell whether it is the sending that counts, and not one that says another moment."""
        its_own = {self.response_id, self.answer_id}
        return self.sending == first.sending and first.response_id in its_own


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
