"""The files of monitors, as the command line sends them."""

import re
from math import log
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    NonNegativeFloat,
    PositiveFloat,
    Tag,
    TypeAdapter,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from biaswatch.shared.contracts import (
    ASKS,
    LEAST_ALPHA,
    LIKELIHOOD,
    LISTENS,
    LONGEST_S,
    TRAFFIC,
    Budget,
    Claim,
    Method,
    Name,
    RecordId,
    Token,
    WatchedFeature,
    WatchedPair,
    Words,
)
from biaswatch.shared.contracts.derived_features import Scale, on_scale
from biaswatch.shared.stats.anytime.limits import MAX_LOOKS

UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")


def seconds_of(value: Any) -> Any:
    """Return `6h` in seconds; a number is returned unchanged."""
    if not isinstance(value, str):
        return value
    if not (match := DURATION.fullmatch(value.strip())):
        raise ValueError("a duration is a number and one of s, m, h, d, w: 30m, 6h, 1d")
    return float(match[1]) * UNITS_S[match[2]]


def within_longest(duration_s: float) -> float:
    """Return a duration; raise ValueError if it is too long."""
    if duration_s > LONGEST_S:
        raise ValueError(f"a duration is at most {LONGEST_S / UNITS_S['d']:g}d")
    return duration_s


DURATION_SCHEMA = {
    "anyOf": [
        {"type": "number", "exclusiveMinimum": 0},
        # A number that is not 0, and its unit.
        {"type": "string", "pattern": r"^(\d*[1-9]\d*(\.\d+)?|\d+\.\d*[1-9]\d*)\s*[smhdw]$"},
    ]
}
Duration = Annotated[
    PositiveFloat,
    AfterValidator(within_longest),
    BeforeValidator(seconds_of),
    WithJsonSchema(DURATION_SCHEMA),
]
STRICT = ConfigDict(extra="forbid", frozen=True)
NO_TOLERANCE = (
    "choose a tolerance, the largest gap that does not matter: in the units of the feature, for the"
    " methods `odds` and `discordant` in log odds (0.2 is about 5 percentage points around a half);"
    " `tolerance: 0` says that any gap matters, however small, and one that wobbles around 0 may"
    " alarm, too"
)

NO_SCALE = (
    "a monitor takes `scale: log` alone, for the methods `pairs`, `matched` and `two_groups`: a"
    " rank depends on the other answers of its round, so that rounds do not add up, and selections"
    " are the same on any scale"
)


class FeatureRequest(WatchedFeature):
    """A feature of a monitor's file; unknown fields are errors."""

    model_config = STRICT

    tolerance: NonNegativeFloat
    """The largest gap that does not matter: in the feature's units, or in log odds."""
    scale: Scale | None = Field(default=None, exclude=True)
    """`log`: compare logarithms; 0.1 of `tolerance` is then a tenth of the geometric mean."""

    @model_validator(mode="before")
    @classmethod
    def _on_scale(cls, fields: Any) -> Any:
        """Return the feature `log(words)` with the logarithms of the ends, where it is declared."""
        if not isinstance(fields, dict) or fields.get("scale") is None:
            return fields
        if fields["scale"] != Scale.LOG or "selected_at_least" in fields:
            raise ValueError(NO_SCALE)
        ends = {end: fields.get(end, 0) for end in ("low", "high")}
        if any(not isinstance(end, int | float) or end <= 0 for end in ends.values()):
            raise ValueError("`scale: log` needs `low` and `high` above 0")
        logs = {end: log(value) for end, value in ends.items()}
        name = on_scale(str(fields.get("feature")), Scale.LOG)
        return {**fields, **logs, "feature": name, "scale": None}

    @model_validator(mode="before")
    @classmethod
    def _require_tolerance(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and fields.keys() <= cls.model_fields.keys() - {"tolerance"}:
            raise ValueError(NO_TOLERANCE)
        return fields


class ComparisonRequest(WatchedPair):
    """A comparison of a monitor's file; unknown fields are errors."""

    model_config = STRICT


class BudgetRequest(Budget):
    """The budget of a round; unknown fields are errors."""

    model_config = STRICT


class MonitorFile(BaseModel):
    """The fields of every monitor's file."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: Token
    """The monitor's name."""
    features: tuple[FeatureRequest, ...] = Field(min_length=1)
    """The features that are watched."""
    comparisons: tuple[ComparisonRequest, ...] = Field(min_length=1)
    """The groups that are compared."""
    alpha: float = Field(default=0.05, ge=LEAST_ALPHA, lt=1)
    """The probability of any false alarm, ever."""
    missing_tolerance: float = Field(default=0.05, ge=0, lt=1)
    """The largest gap between shares of missing answers that does not matter."""
    looks: int | None = Field(default=None, ge=1, le=MAX_LOOKS)
    """The declared number of rounds within which gaps are found sooner."""
    most_rounds: int | None = Field(default=None, ge=1)
    """The number of rounds after which it ends."""
    owners: tuple[str, ...] = ()
    """People responsible for alarms; alarms name them."""
    webhook: str | None = None
    """URL to which alarms are posted."""
    channels: tuple[Token, ...] = ()
    """The operator's channels for alarms, by their names in `biaswatch channels list`."""


class MonitorRequest(MonitorFile):
    """The file of a monitor that asks a model, with its suite uploaded."""

    suite_hash: RecordId
    """The suite that was uploaded."""
    target: str
    """The model that is watched, as `provider:model[@base_url]`."""
    parameters: dict[str, JsonValue] = {}
    """Sampling parameters, handed to the provider unchanged."""
    system_prompt: str | None = None
    """The system prompt, such as a role."""
    scaffold: Token = "direct"
    """The scaffold that presents each probe to the model."""
    repeats: int = Field(default=1, ge=1)
    """Answers per probe in a round."""
    claim: Claim = Claim.BANK
    """Scope of the evidence: `bank` or `population`."""
    sets_per_round: int | None = Field(default=None, ge=1)
    """Number of new sets per round, for the claim `population`."""
    change_tolerance: float = Field(default=0.0, ge=0, lt=1)
    """The largest change of a gap that does not matter, as a share of the range."""
    reference_rounds: int = Field(default=5, ge=1)
    """The first rounds of an epoch, to which later ones are compared."""
    random: tuple[Name, ...] | None = None
    """Random factors, stimuli that are a sample: those of the suite, unless they are given."""
    until: Duration | None = None
    """How long after its first round the declared rounds end, instead of `looks`."""
    cadence: Duration
    """Time between the starts of rounds: 30m, 6h, 1d."""
    deadline: Duration = 24 * 3600
    """Maximum time that a round waits for answers."""
    budget: BudgetRequest = BudgetRequest()
    """Budget of one round."""

    @field_validator("scaffold")
    @classmethod
    def _draws_answers(cls, scaffold: str) -> str:
        if scaffold == LIKELIHOOD:
            raise ValueError(
                f"{scaffold} is for runs: a monitor draws new answers in every round, and"
                " log-probabilities are not drawn"
            )
        return scaffold


TRAFFIC_PREFIX = f"{TRAFFIC}:"


POOLED = (
    "the method `two_groups` adds up users of all windows, and alarms where groups are equal at"
    " every moment but levels and shares of groups move; take `matched`, the default"
)


class TrafficFeatureRequest(FeatureRequest):
    """A feature of a file of a traffic monitor; traffic has no twins."""

    method: Method = Method.MATCHED
    """The method of evidence; by default users are matched in time."""

    @field_validator("method")
    @classmethod
    def _compares_at_one_time(cls, method: Method) -> Method:
        if method is Method.TWO_GROUPS:
            raise ValueError(POOLED)
        return method


class TrafficMonitorRequest(MonitorFile):
    """The file of a monitor that watches production answers."""

    target: str = Field(pattern=rf"^{TRAFFIC_PREFIX}[A-Za-z0-9_-]{{1,80}}$")
    """The live system, as `traffic:name`."""
    features: tuple[TrafficFeatureRequest, ...] = Field(min_length=1)
    """The features that are watched."""
    window: Duration
    """Length of a round: 1h, 1d; at least a minute, in whole seconds."""
    lateness: Duration = 60.0
    """Time after a window's end during which its answers are still accepted."""
    deadline: Duration = 600.0
    """Maximum time that a window then waits for its measurements."""
    mentions: dict[str, dict[str, Words]] = Field(default_factory=dict)
    """Words by dimension and group that are detected in users' messages."""
    strata: tuple[Name, ...] = ()
    """Facts of the answers (topic, language, product) that compared users must share."""
    cluster: Name | None = None
    """A fact above users, such as `company` or `account`, whose users are not independent."""
    neighbours_within: Duration | None = None
    """Maximum time between the first answers of compared users; default an hour, or a window."""


def _kind_of(request: Any) -> str:
    """Return the kind by the target only, so that a mistake is reported once."""
    is_dict = isinstance(request, dict)
    target = request.get("target") if is_dict else getattr(request, "target", None)
    return LISTENS if isinstance(target, str) and target.startswith(TRAFFIC_PREFIX) else ASKS


AnyMonitorRequest = Annotated[
    Annotated[MonitorRequest, Tag(ASKS)] | Annotated[TrafficMonitorRequest, Tag(LISTENS)],
    Discriminator(_kind_of),
]
MONITOR_REQUEST: TypeAdapter[MonitorRequest | TrafficMonitorRequest] = TypeAdapter(
    AnyMonitorRequest
)
