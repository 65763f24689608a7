"""Monitors as people ask for them, and how they stand."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PositiveFloat,
    ValidationError,
    WithJsonSchema,
)

from shared.contracts import (
    Budget,
    Claim,
    Method,
    MonitorPlan,
    Suite,
    SuiteProbe,
    Upkeep,
    WatchedFeature,
    WatchedPair,
    parse_target,
)
from shared.contracts.identity import RecordId, Token
from shared.contracts.mistakes import first_mistake
from shared.contracts.monitor import LEAST_ALPHA
from shared.contracts.traffic import LONGEST_S
from shared.errors import UsageError

UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")


def seconds_of(given: Any) -> Any:
    """Turn `6h` into seconds; a number is seconds already."""
    if not isinstance(given, str):
        return given
    if not (found := DURATION.fullmatch(given.strip())):
        raise ValueError("a duration is a number and one of s, m, h, d, w: 30m, 6h, 1d")
    return float(found[1]) * UNITS_S[found[2]]


def not_for_ever(duration_s: float) -> float:
    """Refuse what somebody waits too long for."""
    if duration_s > LONGEST_S:
        raise ValueError(f"a duration is at most {LONGEST_S / UNITS_S['d']:g}d")
    return duration_s


WRITTEN = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "string", "pattern": f"^{DURATION.pattern}$"},
    ]
}
Duration = Annotated[
    PositiveFloat,
    AfterValidator(not_for_ever),
    BeforeValidator(seconds_of),
    WithJsonSchema(WRITTEN),
]
STRICT = ConfigDict(extra="forbid", frozen=True)


class Feature(WatchedFeature):
    """A feature of a monitor's file, in which a misspelt word is a mistake."""

    model_config = STRICT


class Pair(WatchedPair):
    """A comparison of a monitor's file, in which a misspelt word is a mistake."""

    model_config = STRICT


class Money(Budget):
    """What a round may spend, as the file says it."""

    model_config = STRICT


class Watching(BaseModel):
    """What every monitor's file says."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: Token
    """The monitor's name."""
    features: tuple[Feature, ...] = Field(min_length=1)
    """Which numbers are watched."""
    comparisons: tuple[Pair, ...] = Field(min_length=1)
    """Which groups are compared."""
    alpha: float = Field(default=0.05, ge=LEAST_ALPHA, lt=1)
    """The chance of any false alarm, ever."""
    missing_tolerance: float = Field(default=0.05, ge=0, lt=1)
    """The largest gap between shares of missing answers that does not matter."""
    most_rounds: int | None = Field(default=None, ge=1)
    """After so many rounds it ends."""
    owners: tuple[str, ...] = ()
    """Who is to hear of alarms."""
    webhook: str | None = None
    """Where alarms are posted."""


class MonitorRequest(Watching):
    """The file of a monitor that asks, its suite uploaded."""

    suite_hash: RecordId
    """The suite that was uploaded."""
    target: str
    """The model that is watched, as `provider:model[@base_url]`."""
    parameters: dict[str, JsonValue] = {}
    """Sampling parameters, handed to the provider unchanged."""
    system_prompt: str | None = None
    """The role the model is put in."""
    scaffold: Token = "direct"
    """How each probe becomes an answer."""
    repeats: int = Field(default=1, ge=1)
    """How often a round asks each probe."""
    claim: Claim = Claim.BANK
    """What the evidence is about: `bank` or `population`."""
    sets_per_round: int | None = Field(default=None, ge=1)
    """How many new sets a round draws, for the claim `population`."""
    change_tolerance: float = Field(default=0.0, ge=0, lt=1)
    """The largest change of a gap that does not matter, as a share of the range."""
    reference_rounds: int = Field(default=5, ge=1)
    """The first rounds of an epoch, to which later ones are compared."""
    cadence: Duration
    """From the start of one round to that of the next: 30m, 6h, 1d."""
    deadline: Duration = 24 * 3600
    """How long a round waits for answers."""
    budget: Money = Money()
    """What one round may spend."""


def plan_of(asked: MonitorRequest, suite: Suite) -> MonitorPlan:
    """Return what is to be watched.

    Raises
    ------
    UsageError
        The target cannot be understood, or the suite has nothing of what is to be compared.
    """
    for pair in asked.comparisons:
        _check(pair, suite, asked.features)
    target = parse_target(
        asked.target, parameters=asked.parameters, system_prompt=asked.system_prompt
    )
    with in_a_sentence():
        return MonitorPlan(
            suite=suite.name,
            suite_hash=suite.hash,
            target=target,
            features=tuple(WatchedFeature(**each.model_dump()) for each in asked.features),
            comparisons=compared(asked),
            **asked.model_dump(include=AS_THEY_ARE),
        )


def compared(asked: Watching) -> tuple[WatchedPair, ...]:
    """Return what is compared."""
    return tuple(WatchedPair(**each.model_dump()) for each in asked.comparisons)


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """Turn what the parts say of one another into a mistake of the user."""
    try:
        yield
    except ValidationError as error:
        mistake = first_mistake(error)
        field = f"{mistake.field}: " if mistake.field else ""
        raise UsageError(f"The monitor, {field}{mistake.said}.") from None


AS_THEY_ARE = {
    "scaffold", "repeats", "claim", "sets_per_round", "alpha", "missing_tolerance",
    "change_tolerance", "reference_rounds",
}  # fmt: skip


def upkeep_of(asked: MonitorRequest) -> Upkeep:
    """Return how the monitor is to be run."""
    with in_a_sentence():
        return Upkeep(
            cadence_s=asked.cadence,
            deadline_s=asked.deadline,
            budget=Budget(**asked.budget.model_dump()),
            most_rounds=asked.most_rounds,
            owners=asked.owners,
            webhook=asked.webhook,
        )


def _check(pair: WatchedPair, suite: Suite, features: tuple[Feature, ...]) -> None:
    first = [probe for probe in suite.probes if probe.groups.get(pair.dimension) == pair.a]
    second = [probe for probe in suite.probes if _second(probe, pair)]
    for probes, group in ((first, pair.a), (second, pair.b or f"any but {pair.a}")):
        if not probes:
            known = sorted(
                {p.groups[pair.dimension] for p in suite.probes if pair.dimension in p.groups}
            )
            raise UsageError(
                f"The suite {suite.name} has no probe of {pair.dimension} {group}; it has"
                f" {', '.join(known) or 'nothing of that dimension'}."
            )
    paired = {probe.set for probe in first if probe.set} & {p.set for p in second if p.set}
    if not paired and any(each.method is not Method.TWO_GROUPS for each in features):
        raise UsageError(
            f"No set of the suite {suite.name} has both {pair.dimension} {pair.a} and"
            f" {pair.b or 'another'}: twins need the same `set`; without twins the method is"
            " `two_groups`, with the claim `population`."
        )


def _second(probe: SuiteProbe, pair: WatchedPair) -> bool:
    group = probe.groups.get(pair.dimension)
    return group is not None and group != pair.a and (pair.b is None or group == pair.b)
