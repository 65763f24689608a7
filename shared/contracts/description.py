"""What a window of production traffic looked like: described, and evidence of nothing."""

from pydantic import NonNegativeInt

from shared.contracts.diagnosis import GroupSummary
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
    """Answers that were sent in."""
    without_unit: NonNegativeInt
    """Those of them that name no user or conversation: they stand here and are no evidence."""
    known_units: dict[str, NonNegativeInt] = {}
    """By dimension: users that had entered the evidence of this epoch before, and do so once."""
    mixed_units: dict[str, NonNegativeInt] = {}
    """By dimension: users in two of the groups at once, who are evidence for neither."""
    described: tuple[Described, ...] = ()
    """The numbers."""
