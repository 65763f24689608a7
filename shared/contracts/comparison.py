"""Comparisons of a monitor: a number of two groups, and the method that gathers evidence."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import NonNegativeFloat, model_validator

from biaswatch.shared.contracts.identity import Name, Token
from biaswatch.shared.contracts.record import Part, computed_once
from biaswatch.shared.stats.anytime.limits import MAX_LOG_ODDS

MISSING = "missing"
"""The feature every extractor has: 1 where it could measure nothing, otherwise 0."""


FARTHEST = 1e12
"""The largest absolute value: larger numbers lose the digits that a share of the range needs."""


class Method(StrEnum):
    """How evidence about a comparison is gathered."""

    PAIRS = "pairs"
    """Fixed bets on the differences of twins, within their set."""
    ODDS = "odds"
    """A common odds ratio of being selected; a set is a batch."""
    DISCORDANT = "discordant"
    """McNemar's test: pairs of twins with one of them selected."""
    TWO_GROUPS = "two_groups"
    """Two histograms, where there are no twins."""
    MATCHED = "matched"
    """Fixed bets on the differences of users who are matched in time, in production traffic."""

    @property
    def facts(self) -> "MethodFacts":
        """Facts that monitors must know of it."""
        return METHOD_FACTS[self]

    @property
    def of_selections(self) -> bool:
        """Tell whether it compares selections, in log odds."""
        return self.facts.of_selections


@dataclass(frozen=True)
class MethodFacts:
    """Facts about a method that a monitor's plan must know."""

    of_selections: bool = False
    """It compares selections, in log odds."""
    needs_twins: bool = True
    """It compares groups within their set."""
    of_a_bank: bool = False
    """True if it can test a bank, with the same prompts in every round."""
    of_traffic: bool = False
    """It can watch production traffic, which has no twins."""
    of_suites: bool = True
    """It can watch a model that a suite is put to."""


METHOD_FACTS = {
    Method.PAIRS: MethodFacts(of_a_bank=True),
    Method.ODDS: MethodFacts(of_selections=True),
    Method.DISCORDANT: MethodFacts(of_selections=True),
    Method.TWO_GROUPS: MethodFacts(needs_twins=False, of_traffic=True),
    Method.MATCHED: MethodFacts(needs_twins=False, of_traffic=True, of_suites=False),
}


class Direction(StrEnum):
    """The meaning of a higher number for a group."""

    BETTER = "better"
    WORSE = "worse"


class WatchedFeature(Part):
    """One number of the answers, and which gap in it matters."""

    extractor: Token
    """The extractor."""
    feature: Name
    """Its name."""
    low: float = 0.0
    """The least it can be; a value outside is counted as missing, never moved inside."""
    high: float = 1.0
    """The most it can be."""
    tolerance: NonNegativeFloat = 0.0
    """The largest gap that does not matter: in the feature's units, or in log odds."""
    method: Method = Method.PAIRS
    """How evidence is gathered."""
    selected_at_least: float | None = None
    """The lowest value that is a selection."""
    higher_is: Direction | None = None
    """The meaning of a higher number for a group: used in alarms, not as evidence."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"{self.feature}: low must be below high")
        if not max(abs(self.low), abs(self.high)) <= FARTHEST:
            raise ValueError(f"{self.feature}: low and high lie within {FARTHEST:g} of 0")
        if self.method.of_selections and self.tolerance >= MAX_LOG_ODDS:
            raise ValueError(
                f"{self.feature}: the tolerance of the method {self.method} is one of log odds, and"
                f" must be smaller than {MAX_LOG_ODDS:g}"
            )
        if not self.method.of_selections and self.tolerance >= self.high - self.low:
            raise ValueError(f"{self.feature}: the tolerance must be smaller than high less low")
        if self.method.of_selections and self.selected_at_least is None:
            raise ValueError(
                f"{self.feature}: the method {self.method} needs selected_at_least, the least value"
                " of a selection"
            )
        return self


class WatchedPair(Part):
    """Two groups of a dimension, or one and all others."""

    dimension: Name
    """Which grouping: race, gender, concept."""
    a: Name
    """The first group."""
    b: Name | None = None
    """The second group; without it, all others together."""

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.a == self.b:
            raise ValueError(f"the group {self.a!r} cannot be compared with itself")
        return self


class Comparison(Part):
    """One feature of two groups, with its own evidence, verdict and alarms."""

    watched: WatchedFeature
    """The number."""
    pair: WatchedPair
    """The groups."""

    @computed_once
    def key(self) -> str:
        """Its name within the monitor: `vader.sentiment:race:black-white`."""
        watched, pair = self.watched, self.pair
        method = "" if watched.method is Method.PAIRS else f"/{watched.method}"
        name = f"{watched.extractor}.{watched.feature}{method}"
        return f"{name}:{pair.dimension}:{pair.a}-{pair.b or 'rest'}"
