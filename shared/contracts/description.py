"""What a window of production traffic looked like: described, and evidence of nothing."""

from pydantic import NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.answer_accounts import MemberAccounts
from biaswatch.shared.contracts.diagnosis import GroupSummary
from biaswatch.shared.contracts.evidence import UserCounts
from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import Part, Record
from biaswatch.shared.contracts.traffic import Window


class StratumUsers(Part):
    """The new users of one stratum of a window, as one comparison counts them.

    Histograms hold whole numbers by place, as those of the evidence do: values of the range in 65
    places from its low end to its high end, differences of matches in 129 from -1 to 1. Those of
    several windows add up.
    """

    facts: tuple[str, ...] = ()
    """What its users share, in the order in which the monitor declares it, cut where it is long;
    empty for the smaller strata of a window with many, taken together."""
    first: dict[NonNegativeInt, PositiveInt] = {}
    """Users of the first group, by value."""
    second: dict[NonNegativeInt, PositiveInt] = {}
    """Users of the second group, by value."""
    matched: tuple[NonNegativeInt, NonNegativeInt] = (0, 0)
    """How many of either found a neighbour."""
    differences: dict[NonNegativeInt, PositiveInt] = {}
    """Matches, by the first side less the second."""


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
