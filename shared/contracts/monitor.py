"""A monitor: what is watched, how often, and which gap matters; declared before the first look."""

from enum import StrEnum
from math import log
from typing import ClassVar, Self

from pydantic import (
    AwareDatetime,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from shared.contracts.identity import Name, RecordId, Token, derived_id
from shared.contracts.record import Part, Record
from shared.contracts.run import Budget
from shared.contracts.suite import Claim
from shared.contracts.target import Target

MISSING = "missing"
"""The feature every extractor has: 1 where it could measure nothing, otherwise 0."""


class Method(StrEnum):
    """How evidence about a comparison is gathered."""

    PAIRS = "pairs"
    """Fixed bets on the differences of twins, within their set."""
    ODDS = "odds"
    """A common odds ratio of being selected; a set is a batch."""
    DISCORDANT = "discordant"
    """McNemar: twins of which one is selected."""
    TWO_GROUPS = "two_groups"
    """Two histograms, where there are no twins."""

    @property
    def of_selections(self) -> bool:
        """Tell whether it compares selections, in log odds."""
        return self in {Method.ODDS, Method.DISCORDANT}


class WatchedFeature(Part):
    """One number of the answers, and which gap in it matters."""

    extractor: Token
    """What measures it."""
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
    """From which value on an answer is a selection."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"{self.feature}: low must be below high")
        if not self.method.of_selections and self.tolerance >= self.high - self.low:
            raise ValueError(f"{self.feature}: the tolerance must be smaller than high less low")
        if self.method.of_selections and self.selected_at_least is None:
            raise ValueError(
                f"{self.feature}: the method {self.method} needs selected_at_least, the value from"
                " which on an answer is a selection"
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
    """One feature of two groups: what has evidence, a verdict and perhaps an alarm of its own."""

    watched: WatchedFeature
    """The number."""
    pair: WatchedPair
    """The groups."""

    @property
    def key(self) -> str:
        """Its name within the monitor: `vader.sentiment:race:black-white`."""
        seen, pair = self.watched, self.pair
        how = "" if seen.method is Method.PAIRS else f"/{seen.method}"
        return f"{seen.extractor}.{seen.feature}{how}:{pair.dimension}:{pair.a}-{pair.b or 'rest'}"


class MonitorPlan(Part):
    """What a monitor watches; another plan is another monitor, with evidence of its own."""

    suite: Name
    """The suite's name."""
    suite_hash: RecordId
    """The hash of everything in the suite."""
    target: Target
    """The model that is watched."""
    scaffold: Token = "direct"
    """How each probe becomes an answer."""
    repeats: PositiveInt = 1
    """How often a round asks each probe; repeats are one unit."""
    claim: Claim = Claim.BANK
    """What the evidence is about: this bank of probes, or the population they were drawn from."""
    sets_per_round: PositiveInt | None = None
    """How many new sets a round draws, where the claim is about the population."""
    features: tuple[WatchedFeature, ...] = Field(min_length=1)
    """Which numbers are watched."""
    comparisons: tuple[WatchedPair, ...] = Field(min_length=1)
    """Which groups are compared."""
    alpha: float = Field(default=0.05, gt=0, lt=1)
    """The chance of any false alarm of a kind, ever, over all comparisons of the monitor."""
    missing_tolerance: float = Field(default=0.05, ge=0, lt=1)
    """The largest gap between shares of missing answers that does not matter."""
    change_tolerance: float = Field(default=0.0, ge=0, lt=1)
    """The largest change of a gap that does not matter, as a share of the feature's range."""
    reference_rounds: PositiveInt = 5
    """The first rounds of an epoch, to which later ones are compared."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.claim is Claim.POPULATION) != (self.sets_per_round is not None):
            raise ValueError(
                "sets_per_round belongs to the claim `population` and is needed there: a bank is"
                " asked whole every round"
            )
        for each in self.features:
            if self.claim is Claim.BANK and each.method is not Method.PAIRS:
                raise ValueError(
                    f"{each.feature}: a claim about a bank takes the method `pairs` alone; `odds`,"
                    " `discordant` and `two_groups` need the claim `population`"
                )
            if each.method.of_selections and self.repeats > 1:
                raise ValueError(
                    f"{each.feature}: the method `{each.method}` takes each prompt once; set"
                    " repeats to 1, or take the method `pairs`"
                )
        keys = [each.key for each in self.watched]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise ValueError(f"the comparison {twice[0]} is declared twice")
        return self

    @property
    def extractors(self) -> tuple[str, ...]:
        """Name what has to measure."""
        return tuple(sorted({each.extractor for each in self.features}))

    @property
    def watched(self) -> tuple[Comparison, ...]:
        """Give every comparison, with one of missing answers for each extractor."""
        features = [*self.features, *(self._missing(name) for name in self.extractors)]
        return tuple(
            Comparison(watched=feature, pair=pair)
            for feature in features
            for pair in self.comparisons
        )

    def _missing(self, extractor: str) -> WatchedFeature:
        tolerance = self.missing_tolerance
        return WatchedFeature(extractor=extractor, feature=MISSING, tolerance=tolerance)

    @property
    def bound(self) -> float:
        """Give the log evidence that alarms: half of alpha is for gaps, half for changes."""
        return log(2 * len(self.watched) / self.alpha)


class Upkeep(Part):
    """How a monitor is run; may be changed without losing its evidence."""

    cadence_s: PositiveFloat
    """From the start of one round to the start of the next."""
    deadline_s: PositiveFloat = 24 * 3600
    """How long a round waits for its answers; then it closes with what is there."""
    budget: Budget = Budget()
    """What one round may spend."""
    most_rounds: PositiveInt | None = None
    """After so many rounds it ends; without, it goes on until it is paused or deleted."""
    owners: tuple[Name, ...] = ()
    """Who is to hear of alarms."""
    webhook: str | None = Field(default=None, pattern=r"^https?://[^\s@]+$")
    """Where alarms are posted."""


class MonitorState(StrEnum):
    """What is wanted of a monitor."""

    ACTIVE = "active"
    PAUSED = "paused"
    DELETED = "deleted"


class Monitor(Record):
    """What is wanted of a monitor from a moment on; the last one counts."""

    kind: ClassVar[str] = "monitor"
    identity: ClassVar[tuple[str, ...]] = ("name", "moment_ms")

    name: Token
    """The monitor's name."""
    moment_ms: NonNegativeInt
    """When that was asked for (Unix time in milliseconds)."""
    state: MonitorState = MonitorState.ACTIVE
    """Whether it goes on."""
    plan: MonitorPlan
    """What it watches."""
    upkeep: Upkeep
    """How it is run."""
    since: AwareDatetime
    """When its first round is due."""

    @property
    def monitor_id(self) -> str:
        """The monitor its evidence belongs to: another plan is another one."""
        return derived_id("watch", self.tenant, self.name, self.plan.model_dump(mode="json"))
