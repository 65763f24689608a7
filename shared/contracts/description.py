"""What a window of production traffic looked like: described, and evidence of nothing."""

from pydantic import NonNegativeInt

from shared.contracts.answer_accounts import MemberAccounts
from shared.contracts.diagnosis import GroupSummary
from shared.contracts.evidence import UserCounts
from shared.contracts.identity import Name, RecordId, Token
from shared.contracts.record import Part, Record
from shared.contracts.traffic import Window


class Described(Part):
    """One number of one dimension's groups."""

    extractor: Token
    """What measured."""
    feature: Name
    """The number."""
    dimension: Name
    """Which grouping."""
    groups: tuple[GroupSummary, ...]
    """The groups that are compared; a mean without units has no interval, and says why."""
    users: UserCounts | None = None
    """Where users are matched: how many of this window's new users found neighbours."""


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
    """What became of the members; null for windows that were read before this was kept."""
    declared_after_data: bool = False
    """Whether the comparisons were declared when the answers were known already."""
    without_unit: NonNegativeInt
    """Those of them that name no user or conversation: they stand here and are no evidence."""
    known_units: dict[str, NonNegativeInt] = {}
    """By dimension: users that had entered the evidence of this epoch before, and do so once."""
    mixed_units: dict[str, NonNegativeInt] = {}
    """By dimension: users in two of the groups at once, who are evidence for neither."""
    described: tuple[Described, ...] = ()
    """The numbers."""
