"""Accounts of production answers: each submitted answer is in exactly one."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pydantic import NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.diagnosis import GroupSummary
from biaswatch.shared.contracts.evidence import UserCounts
from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import Part, Record
from biaswatch.shared.contracts.traffic import Window


class MemberAccounts(Part):
    """Accounts of the members of a window; every member is in one."""

    evidence: NonNegativeInt = 0
    """Counted by at least one comparison."""
    described: NonNegativeInt = 0
    """Measured and described, and counted by no comparison: its user is not named, was counted
    before, is in two groups at once, lacks a fact that is compared within, or found no neighbour;
    or it came too long after the user's first answer, or in another stratum."""
    unmeasured: NonNegativeInt = 0
    """No extractor had measured it when the window closed."""
    without_text: NonNegativeInt = 0
    """There was no answer, for a reason that the sender gave; comparisons of missing answers
    count it."""
    without_group: NonNegativeInt = 0
    """It has none of the groups that are compared."""

    @property
    def members(self) -> int:
        """Return how many answers are members of the window."""
        return sum(getattr(self, name) for name in MemberAccounts.model_fields)


class AnswerAccounts(MemberAccounts):
    """Accounts of every submitted answer; they add up to `sent`."""

    waiting: NonNegativeInt = 0
    """Taken in time for a window that is not read yet."""
    late: NonNegativeInt = 0
    """Taken in after its window was read or passed over: kept, and in no evidence."""
    duplicate: NonNegativeInt = 0
    """Sent again with the same id in the same window."""
    refused: NonNegativeInt = 0
    """Not taken in: something is wrong with it or its batch, or the monitor pauses or has ended."""

    @property
    def sent(self) -> int:
        """Return how many answers were sent in."""
        return sum(getattr(self, name) for name in type(self).model_fields)

    @property
    def in_words(self) -> str:
        """Return the accounts that are not empty, as a person reads them."""
        counted = {name: getattr(self, name) for name in type(self).model_fields}
        parts = [f"{count:,} {account_label(name)}" for name, count in counted.items() if count]
        return ", ".join(parts) or "nothing"


ACCOUNTS = tuple(AnswerAccounts.model_fields)
"""The names of the accounts, in display order."""


def account_label(name: str) -> str:
    """Return the label of an account for people."""
    return "rejected" if name == "refused" else name.replace("_", " ")


def total(accounts: Iterable[AnswerAccounts]) -> AnswerAccounts:
    """Return the sums of several windows' accounts."""
    counted = list(accounts)
    return AnswerAccounts(
        **{name: sum(getattr(account, name) for account in counted) for name in ACCOUNTS}
    )


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
    """The key that distinguishes it from other submissions of the same answer."""
    late: bool = False
    """True if it arrived too late, by the moment of its intake."""

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
    """A live system that sent answers without any monitor to watch them."""

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


class StratumUsers(Part):
    """The new users of one stratum of a window, as one comparison counts them.

    Histograms hold whole numbers by place, as those of the evidence do: values of the range in 65
    places from its low end to its high end, differences of matches in 129 from -1 to 1. The
    counts of several windows add up.
    """

    facts: tuple[str, ...] = ()
    """The facts that its users share, in the order of the monitor's declaration, cut where long;
    empty for the smaller strata of a window with many, taken together."""
    first: dict[NonNegativeInt, PositiveInt] = {}
    """Users of the first group, by value."""
    second: dict[NonNegativeInt, PositiveInt] = {}
    """Users of the second group, by value."""
    matched: tuple[NonNegativeInt, NonNegativeInt] = (0, 0)
    """How many of either found a neighbour."""
    differences: dict[NonNegativeInt, PositiveInt] = {}
    """Matches, by first side minus second."""


class Described(Part):
    """One number of one dimension's groups."""

    extractor: Token
    """The extractor."""
    feature: Name
    """The number."""
    dimension: Name
    """Which grouping."""
    groups: tuple[GroupSummary, ...]
    """The groups that are compared; a mean without units has no interval, and says why."""
    users: UserCounts | None = None
    """Where users are matched: how many of this window's new users found neighbours."""
    comparison_key: str | None = None
    """The name of the comparison; null for windows that were read before this was kept."""
    strata: tuple[StratumUsers, ...] = ()
    """Where the monitor declares strata: its new users in each."""


class Description(Record):
    """The answers of one window, counted and averaged by group."""

    kind = "description"
    identity = ("monitor_id", "round")

    monitor_id: RecordId
    """The monitor."""
    monitor: Token
    """Its name."""
    round: NonNegativeInt
    """The round that the window is."""
    run_id: RecordId
    """Its run."""
    window: Window
    """From when to when."""
    answers: NonNegativeInt
    """Its members: the answers that were taken in time."""
    accounts: MemberAccounts | None = None
    """Accounts of the members; null for windows that were read before this was kept."""
    declared_after_data: bool = False
    """True if the comparisons were declared after the answers were known."""
    without_unit: NonNegativeInt
    """Answers without a user or conversation: they are described and are no evidence."""
    known_units: dict[str, NonNegativeInt] = {}
    """By dimension: users that had entered the evidence of this epoch before, and do so once."""
    mixed_units: dict[str, NonNegativeInt] = {}
    """By dimension: users in two of the groups at once, who are evidence for neither."""
    shared_facts: dict[str, NonNegativeInt] = {}
    """By fact: its number of values, where several users share them and no stratum or cluster
    declares it."""
    described: tuple[Described, ...] = ()
    """The numbers."""
