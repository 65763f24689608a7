"""A monitor: what is watched, how often, and which gap matters."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AwareDatetime,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from biaswatch.shared.contracts.comparison import (
    MISSING,
    Comparison,
    Method,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.contracts.identity import Name, RecordId, Token, derived_id
from biaswatch.shared.contracts.likelihood import LIKELIHOOD
from biaswatch.shared.contracts.providers import is_recorded
from biaswatch.shared.contracts.record import Part, Record, computed_once
from biaswatch.shared.contracts.run import Budget
from biaswatch.shared.contracts.suite import Claim
from biaswatch.shared.contracts.target import Target
from biaswatch.shared.contracts.traffic import LONGEST_S, TRAFFIC, Traffic
from biaswatch.shared.formatting import number_name
from biaswatch.shared.stats.anytime.limits import MAX_LOOKS

GREEDY: Mapping[str, Any] = {"temperature": 0, "top_p": 0, "top_k": 1, "do_sample": False}
"""Values of parameters without randomness."""
LEAST_ALPHA = 1e-12


class MonitorPlan(Part):
    """The plan of a monitor; another plan is another monitor, with its own evidence."""

    suite: Name | None = None
    """The suite's name; None where traffic is watched."""
    suite_hash: RecordId | None = None
    """The hash of everything in the suite."""
    traffic: Traffic | None = None
    """The production traffic to watch, for monitors without a suite."""
    target: Target
    """The model that is watched."""
    scaffold: Token = "direct"
    """How each probe becomes an answer."""
    repeats: PositiveInt = 1
    """How often a round asks each probe; repeats are one unit."""
    claim: Claim = Claim.BANK
    """The population of the evidence: this bank of probes, or the one they were drawn from."""
    sets_per_round: PositiveInt | None = None
    """How many new sets a round draws, where the claim is about the population."""
    features: tuple[WatchedFeature, ...] = Field(min_length=1)
    """Which numbers are watched."""
    comparisons: tuple[WatchedPair, ...] = Field(min_length=1)
    """Which groups are compared."""
    alpha: float = Field(default=0.05, ge=LEAST_ALPHA, lt=1)
    """The chance of any false alarm of a kind, ever, over all comparisons of the monitor."""
    missing_tolerance: float = Field(default=0.05, ge=0, lt=1)
    """The largest gap between shares of missing answers that does not matter."""
    change_tolerance: float = Field(default=0.0, ge=0, lt=1)
    """The largest change of a gap that does not matter, as a share of the feature's range."""
    reference_rounds: PositiveInt = 5
    """The first rounds of an epoch, to which later ones are compared."""
    random: tuple[Name, ...] = ()
    """Random factors: stimuli that are a sample, such as names and texts. A verdict about a group
    treats them as clusters; without any, it is about these names and texts."""
    looks: PositiveInt | None = Field(default=None, le=MAX_LOOKS)
    """The declared number of rounds: nine tenths of alpha are spent on group-sequential bounds
    within them, the rest on evidence that stays valid beyond."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.traffic is None:
            self._check_asking()
        else:
            self._check_traffic()
        if self.looks is not None and any(not _has_looks(feature) for feature in self.features):
            raise ValueError("looks are declared for the methods `pairs` and `matched` alone")
        keys = [comparison.key for comparison in self.all_comparisons]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise ValueError(f"the comparison {twice[0]} is declared twice")
        return self

    def _check_traffic(self) -> None:
        if self.suite_hash is not None or self.target.provider != TRAFFIC:
            raise ValueError("traffic has a target `traffic:NAME` and no suite")
        if self.random:
            raise ValueError("traffic has no random factors; declare the column `cluster`")
        if self.claim is not Claim.POPULATION or self.sets_per_round is not None:
            raise ValueError(
                "traffic is evidence about the population its users come from: the claim is"
                " `population`, and there is no sets_per_round"
            )
        for feature in self.features:
            if not feature.method.facts.of_traffic:
                raise ValueError(
                    f"{feature.feature}: traffic has no twins, so the method is `matched`"
                )

    def _check_asking(self) -> None:
        if self.suite_hash is None or self.target.provider == TRAFFIC:
            raise ValueError("give `suite` and a target to ask, or `traffic`, but not both")
        if (self.claim is Claim.POPULATION) != (self.sets_per_round is not None):
            raise ValueError(
                "sets_per_round is required for the claim `population`, and not allowed for a bank:"
                " every round takes the whole bank"
            )
        for feature in self.features:
            if not feature.method.facts.of_suites:
                raise ValueError(
                    f"{feature.feature}: users are matched in traffic alone; a suite takes the"
                    " methods `pairs`, `odds`, `discordant` and `two_groups`"
                )
            if self.claim is Claim.BANK and not feature.method.facts.of_a_bank:
                raise ValueError(
                    f"{feature.feature}: a claim about a bank takes the method `pairs` alone;"
                    " `odds`, `discordant` and `two_groups` need the claim `population`"
                )
            if feature.method.of_selections and self.repeats > 1:
                raise ValueError(
                    f"{feature.feature}: the method `{feature.method}` takes each prompt once; set"
                    " repeats to 1, or take the method `pairs`"
                )

    @property
    def extractors(self) -> tuple[str, ...]:
        """Return the extractors that it needs."""
        return tuple(sorted({feature.extractor for feature in self.features}))

    @property
    def renews_answers(self) -> bool:
        """Tell whether each round draws its answers anew, even to the same prompts.

        Likelihoods, recordings, a fixed seed and a model without randomness give the same answers
        again, which count once.
        """
        fixed = "seed" in self.target.parameters or is_recorded(self.target.provider)
        fixed |= self.scaffold == LIKELIHOOD
        greedy = any(self.target.parameters.get(n) == value for n, value in GREEDY.items())
        return self.claim is not Claim.BANK or not (fixed or greedy)

    @property
    def numbers(self) -> frozenset[tuple[str, str]]:
        """The extractors and features that are watched."""
        return frozenset((feature.extractor, feature.feature) for feature in self.features)

    @cached_property
    def all_comparisons(self) -> tuple[Comparison, ...]:
        """Return every comparison, and one of missing answers for each extractor."""
        features = [*self.features, *(self._missing(name) for name in self.extractors)]
        return tuple(
            Comparison(watched=feature, pair=pair)
            for feature in features
            for pair in self.comparisons
        )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy; what is kept beside the fields would be that of the original."""
        copied = super().model_copy(update=update, deep=deep)
        vars(copied).pop("all_comparisons", None)
        return copied

    def _missing(self, extractor: str) -> WatchedFeature:
        fields: dict[str, Any] = {
            "tolerance": self.missing_tolerance,
            "method": self._method_of_missing,
        }
        return WatchedFeature(extractor=extractor, feature=MISSING, **fields)

    @property
    def outside_identity(self) -> dict[str, Any]:
        """Return the fields that do not enter a monitor's id.

        A change of `higher_is` changes sentences alone. Without the fields of traffic that are not
        declared, monitors that are older than these fields keep their id.
        """
        undeclared = self.traffic.undeclared if self.traffic else True
        return {"features": {"__all__": {"higher_is"}}, "traffic": undeclared}

    @property
    def _method_of_missing(self) -> Method:
        """Return how missing answers are watched: in traffic, as its features are."""
        methods = {feature.method for feature in self.features}
        if self.traffic is None:
            return Method.PAIRS
        return Method.TWO_GROUPS if methods == {Method.TWO_GROUPS} else Method.MATCHED


def _has_looks(feature: WatchedFeature) -> bool:
    return feature.method in {Method.PAIRS, Method.MATCHED}


def _host_of(address: str) -> str | None:
    """Return the host in the form of DNS; None without one."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises for an invalid port
        return (parts.hostname or "").encode("idna").decode() or None
    except ValueError:  # an invalid host name is one, too
        return None


class Upkeep(Part):
    """How a monitor is run; may be changed without losing its evidence."""

    cadence_s: PositiveFloat = Field(le=LONGEST_S)
    """From the start of one round to the start of the next."""
    deadline_s: PositiveFloat = Field(default=24 * 3600, le=LONGEST_S)
    """How long a round waits for its answers; then it closes with those that arrived."""
    lateness_s: NonNegativeFloat = Field(default=60.0, le=LONGEST_S)
    """How long after a window's end its answers may still be sent in."""
    budget: Budget = Budget()
    """The budget of one round."""
    most_rounds: PositiveInt | None = None
    """The number of rounds after which it ends; null: until it is paused or deleted."""
    owners: tuple[Name, ...] = ()
    """Who is notified of alarms."""
    webhook: str | None = Field(default=None, pattern=r"^https?://[^\s@]+$")
    """Where alarms are posted."""
    channels: tuple[Token, ...] = ()
    """The operator's channels that alarms are sent by, by name."""

    @field_validator("webhook")
    @classmethod
    def _has_host(cls, webhook: str | None) -> str | None:
        if webhook is not None and not _host_of(webhook):
            raise ValueError("this is not an address with a host: write https://host/path")
        return webhook


class MonitorState(StrEnum):
    """The wanted state of a monitor."""

    ACTIVE = "active"
    PAUSED = "paused"
    DELETED = "deleted"


class PastTraffic(Part):
    """The past of a live system, which one monitor reads for another."""

    of: Token
    """The monitor that watches the same traffic live."""
    before: AwareDatetime
    """The beginning of the first window that is watched live."""


class Monitor(Record):
    """The wanted state of a monitor from a moment on; the last one counts."""

    kind = "monitor"
    identity = ("name", "moment_ms")

    name: Token
    """The monitor's name."""
    moment_ms: NonNegativeInt
    """The moment of that request (Unix time in milliseconds)."""
    state: MonitorState = MonitorState.ACTIVE
    """Active, paused or deleted."""
    plan: MonitorPlan
    """The plan."""
    upkeep: Upkeep
    """How it is run."""
    since: AwareDatetime
    """When its first round is due."""
    history: PastTraffic | None = None
    """The past that it reads, where it does not watch what happens now."""

    @computed_once
    def monitor_id(self) -> str:
        """The monitor its evidence belongs to: another plan is another one."""
        plan = self.plan.model_dump(mode="json", exclude=self.plan.outside_identity)
        return derived_id("watch", self.tenant, self.name, plan)


def comparison_titles(plan: MonitorPlan) -> dict[str, str]:
    """Return the title of each comparison by its key; no two of a monitor have the same."""
    titles = {
        comparison.key: comparison_title(comparison, plan.numbers)
        for comparison in plan.all_comparisons
    }
    several = {title for title in titles.values() if list(titles.values()).count(title) > 1}
    by_key = {comparison.key: comparison for comparison in plan.all_comparisons}
    return {
        key: f"{title} ({by_key[key].watched.method})" if title in several else title
        for key, title in titles.items()
    }


def comparison_title(comparison: Comparison, numbers: Collection[tuple[str, str]] = ()) -> str:
    """Return what is compared: the number, the groups, the grouping.

    `numbers` are the extractors and features of the whole monitor.
    """
    about, pair = comparison.watched, comparison.pair
    if about.feature == MISSING:
        extractor = about.extractor.replace("_", " ")
        article = "an" if extractor[0] in "aeiou" else "a"
        name = f"answers without {article} {extractor} measurement"
    else:
        name = number_name(about.extractor, about.feature, numbers)
        if about.method.of_selections:
            name = f"selected by {name}, in log odds"
    return f"{name}: {pair.a} minus {pair.b or 'all others'}, by {pair.dimension.replace('_', ' ')}"
