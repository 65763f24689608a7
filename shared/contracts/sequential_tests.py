"""Tests of a monitor under way: gaps, ends of gaps, changes since earlier rounds."""

from pydantic import NonNegativeInt, PositiveInt

from biaswatch.shared.contracts.record import Part
from biaswatch.shared.stats.estimate import Estimate

Counts = dict[str, tuple[int, ...]]
"""Whole numbers by name; those of disjoint units add up, place by place, in any order."""


class Stretch(Part):
    """Rounds of an epoch, from one of them up to the record's own."""

    since_round: NonNegativeInt
    """The first of them."""
    before: Counts = {}
    """The sum of the epoch's rounds before it; empty where it is the epoch's first."""
    attempt: PositiveInt | None = None
    """Which attempt at a first round this is, where several were made, because of the data."""


class Bets(Part):
    """Bets that may have begun with any round."""

    log_wealth: tuple[float, ...] = ()
    """Log wealth of each bet; empty before the first round."""
    log_best: tuple[float, ...] = ()
    """Log wealth of each since its best beginning; 0 without gain."""
    starts: tuple[int, ...] = ()
    """That beginning."""


class GapTest(Part):
    """The test that is under way; every epoch and every cleared alarm begins another."""

    number: PositiveInt
    """Which test of this comparison it is, in all epochs."""
    share: float
    """Its share of the probability of false alarms."""
    left: float
    """The share that is left for all later tests."""
    rounds: Stretch
    """The rounds that it looks at."""
    late: Bets = Bets()
    """On a gap that began after the first of them; empty where rounds keep no pairs."""
    since_round: NonNegativeInt
    """The round since which the evidence of a gap is largest."""


class Recovery(Part):
    """The test for the end of the gap behind an open alarm."""

    alarm_round: NonNegativeInt
    """The round that raised the alarm."""
    limit: float
    """The gap must be shown to lie within it, on either side of 0; in the units of the gap."""
    rounds: Stretch
    """The rounds that are looked at: those since the gap last exceeded the limit."""
    gap: Estimate
    """The gap in them."""
    over: bool = False
    """True if it is over: this round has cleared the alarm."""


class Reference(Part):
    """Rounds that later rounds are compared with, and the evidence that they differ."""

    value: float
    """Their value, as a share of the range, or of selected answers."""
    allowed: float
    """The tolerance and the uncertainty of the value: smaller differences are not a change."""
    rounds: PositiveInt
    """How many rounds it sums up: all of the search, until it was made."""
    bets: Bets = Bets()
    """On a change after it."""


class Change(Part):
    """The search for a change since earlier rounds of the epoch."""

    number: PositiveInt = 1
    """Which search for a change it is, in all epochs; a change that was found begins another."""
    share: float = 1.0
    """Its share of the probability of false alarms."""
    left: float = 0.0
    """The share that is left for all later searches."""
    rounds: Stretch | None = None
    """The rounds that are searched; null in evidence of version 0.1."""
    references: tuple[Reference, ...] = ()
    """Each of twice as many rounds as the one before; the last few are kept."""
    reference: float | None = None
    """The value of the newest reference; null before the first."""
    allowed: float | None = None
    """The tolerance and its uncertainty: smaller differences are not a change."""
    steps: NonNegativeInt = 0
    """Rounds since the first reference."""
    log_evidence: float | None = None
    """Against no change; null before the first round after a reference."""
    bound: float | None = None
    """The bound for an alarm."""
    since_round: NonNegativeInt | None = None
    """The round since which the evidence of a change is largest; null where none speaks for one."""
    smallest: float | None = None
    """The smallest change that would be found by now, had it come with the first round after a
    reference; in the units of the reference."""
    no_smallest: str | None = None
    """Why it is undefined."""
