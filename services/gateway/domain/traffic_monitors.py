"""Monitors of production traffic as people ask for them, told from those that ask themselves."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, TypeAdapter

from services.gateway.domain.monitors import (
    Duration,
    Feature,
    MonitorRequest,
    Watching,
    compared,
    in_a_sentence,
    plan_of,
    upkeep_of,
)
from shared.contracts import (
    TRAFFIC,
    Claim,
    Method,
    MonitorPlan,
    Suite,
    Target,
    Traffic,
    Upkeep,
    WatchedFeature,
)
from shared.contracts.mistakes import ASKS, LISTENS
from shared.contracts.traffic import Words
from shared.errors import UsageError

PREFIX = f"{TRAFFIC}:"
SHORTEST_S = 60


class UnpairedFeature(Feature):
    """A feature of traffic, which has no twins."""

    method: Method = Method.TWO_GROUPS
    """How evidence is gathered; there is no other way without twins."""


class TrafficRequest(Watching):
    """The file of a monitor that watches production answers, which are sent in."""

    target: str = Field(pattern=rf"^{PREFIX}[A-Za-z0-9_-]{{1,80}}$")
    """The live system, as `traffic:name`."""
    features: tuple[UnpairedFeature, ...] = Field(min_length=1)
    """Which numbers are watched."""
    window: Duration
    """How long a round is: 1h, 1d; at least a minute, in whole seconds."""
    lateness: Duration = 60.0
    """How long after a window's end its answers may still be sent in."""
    deadline: Duration = 600.0
    """How long a window then waits for its measurements."""
    mentions: dict[str, dict[str, Words]] = Field(default_factory=dict)
    """Words by dimension and group, looked for in what users said."""


def _which(asked: Any) -> str:
    """Tell the two kinds apart by the target alone, so that a mistake is named once."""
    target = asked.get("target") if isinstance(asked, dict) else getattr(asked, "target", None)
    return LISTENS if isinstance(target, str) and target.startswith(PREFIX) else ASKS


Asked = Annotated[
    Annotated[MonitorRequest, Tag(ASKS)] | Annotated[TrafficRequest, Tag(LISTENS)],
    Discriminator(_which),
]
ASKED: TypeAdapter[MonitorRequest | TrafficRequest] = TypeAdapter(Asked)


def declared(asked: MonitorRequest | TrafficRequest, suite: Suite | None) -> MonitorPlan:
    """Return what is to be watched, of either kind.

    Raises
    ------
    UsageError
        The parts of the file contradict one another, or the suite, or there is no suite.
    """
    if isinstance(asked, TrafficRequest):
        return _traffic_plan(asked)
    if suite is None:
        raise UsageError(f"There is no suite {asked.suite_hash}. Upload it first.")
    return plan_of(asked, suite)


def kept_up(asked: MonitorRequest | TrafficRequest) -> Upkeep:
    """Return how it is to be run."""
    if isinstance(asked, MonitorRequest):
        return upkeep_of(asked)
    with in_a_sentence():
        return Upkeep(
            cadence_s=asked.window,
            lateness_s=asked.lateness,
            deadline_s=asked.deadline,
            most_rounds=asked.most_rounds,
            owners=asked.owners,
            webhook=asked.webhook,
        )


def _traffic_plan(asked: TrafficRequest) -> MonitorPlan:
    if asked.window < SHORTEST_S or asked.window % 1:
        raise UsageError("The monitor, window: it is at least 1m, in whole seconds.")
    name = asked.target.removeprefix(PREFIX)
    with in_a_sentence():
        return MonitorPlan(
            traffic=Traffic(window_s=int(asked.window), mentions=asked.mentions),
            target=Target(name=asked.target, provider=TRAFFIC, model=name),
            claim=Claim.POPULATION,
            features=tuple(WatchedFeature(**each.model_dump()) for each in asked.features),
            comparisons=compared(asked),
            alpha=asked.alpha,
            missing_tolerance=asked.missing_tolerance,
        )
