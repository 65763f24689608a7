"""An alarm of a monitor: raised once, cleared by rule, kept."""

from collections.abc import Iterable
from enum import StrEnum

from pydantic import AwareDatetime, NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.identity import Name, RecordId, Token
from biaswatch.shared.contracts.record import Part, Record
from biaswatch.shared.stats.estimate import Estimate


class AlarmKind(StrEnum):
    """The kinds of alarms."""

    DISPARITY = "disparity"
    CHANGE = "change"
    LEVEL = "level"
    """The gap may be the same; the answers to both groups are not."""
    LABELLED = "labelled"
    """A disparity as labels of people correct it, over the rounds that they labelled."""


class AlarmState(StrEnum):
    """State of an alarm: raised or cleared."""

    RAISED = "raised"
    CLEARED = "cleared"


class Twins(Part):
    """A large contribution: the answers of a set of a suite, or of matched users of traffic."""

    set_id: Name
    """The set; in traffic, the time of its users and their stratum."""
    gap: float
    """First group minus second, in the feature's units."""
    a: tuple[RecordId, ...]
    """Responses to the first group."""
    b: tuple[RecordId, ...]
    """Responses to the second group."""


class Alarm(Record):
    """Evidence has reached its bound, or an alarm is over."""

    kind = "alarm"
    identity = ("monitor_id", "epoch", "comparison_key", "what", "occurrence")

    monitor_id: RecordId
    """The monitor."""
    monitor: Token
    """Its name."""
    epoch: NonNegativeInt
    """The epoch it was raised in."""
    round: NonNegativeInt
    """The round that raised or cleared it."""
    run_id: RecordId
    """The run of that round."""
    comparison_key: Name
    """The comparison."""
    title: str = ""
    """The name of the comparison, for people; unknown in older alarms."""
    what: AlarmKind
    """The kind of alarm."""
    state: AlarmState
    """Raised or cleared."""
    occasion: NonNegativeInt = 0
    """Which alarm of its kind it is in the epoch, from 0; the same for raising and clearing."""
    since_round: NonNegativeInt | None = None
    """The round since which the evidence is largest: when it began, most likely."""
    since: AwareDatetime | None = None
    """The start of that round, or of its window of traffic."""
    first_mean: float | None = None
    """In a disparity, the first group's mean in the rounds that the gap is about: in the feature's
    units, or the share that is selected."""
    second_mean: float | None = None
    """The second group's."""
    test: PositiveInt | None = None
    """Which test of the comparison raised it, in all epochs."""
    reason: str
    """One sentence for a person."""
    words: str = ""
    """Who is worse off, or whose number is higher, by how much and how sure: for people."""
    promise: str = ""
    """How probable a false alarm is, in a sentence: what the alarm promises."""
    gap: Estimate
    """The gap at that moment."""
    log_evidence: float
    """The evidence at that moment."""
    owners: tuple[Name, ...] = ()
    """Who is notified."""
    webhook: str | None = None
    """Where it is posted."""
    declared_after_data: bool = False
    """True if the comparison was declared after the answers were known."""
    channels: tuple[Token, ...] = ()
    """The operator's channels that it is sent by."""
    twins: tuple[Twins, ...] = ()
    """The sets of the round, or the matches of its users, that contributed most."""

    @property
    def occurrence(self) -> str:
        """The part that distinguishes this record from others of the same kind in the epoch."""
        return f"{self.state}-{self.occasion}" if self.occasion else str(self.state)

    @property
    def called(self) -> str:
        """The name of the comparison in messages to people."""
        return self.title or self.comparison_key

    @property
    def occasion_key(self) -> tuple[str, AlarmKind, int, int]:
        """The key that an alarm and its clearing share."""
        return self.comparison_key, self.what, self.epoch, self.occasion


def open_alarms_of(history: Iterable[Alarm]) -> dict[tuple[str, AlarmKind], Alarm]:
    """Return the alarms of a monitor that were raised and not cleared, by comparison and kind."""
    alarms = list(history)
    over = {alarm.occasion_key for alarm in alarms if alarm.state is AlarmState.CLEARED}
    raised = (alarm for alarm in alarms if alarm.state is AlarmState.RAISED)
    in_order = sorted(raised, key=lambda alarm: (alarm.epoch, alarm.occasion))
    return {
        (alarm.comparison_key, alarm.what): alarm
        for alarm in in_order
        if alarm.occasion_key not in over
    }
