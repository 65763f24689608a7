"""Files of monitors become plans: what is watched, and how the monitor is run."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from services.gateway.monitors.requests import (
    TRAFFIC_PREFIX,
    FeatureRequest,
    MonitorFile,
    MonitorRequest,
    TrafficMonitorRequest,
)
from shared.contracts import (
    TRAFFIC,
    Budget,
    Claim,
    MonitorPlan,
    Suite,
    SuiteProbe,
    Target,
    Traffic,
    Upkeep,
    WatchedFeature,
    WatchedPair,
    parse_target,
)
from shared.contracts.mistakes import first_mistake
from shared.errors import UsageError


def _suite_plan(asked: MonitorRequest, suite: Suite) -> MonitorPlan:
    """Return what is to be watched.

    Raises
    ------
    UsageError
        The target cannot be understood, or the suite has nothing of what is to be compared.
    """
    for pair in asked.comparisons:
        _check_comparison(pair, suite, asked.features)
    target = parse_target(
        asked.target, parameters=asked.parameters, system_prompt=asked.system_prompt
    )
    with _as_usage_error():
        return MonitorPlan(
            suite=suite.name,
            suite_hash=suite.hash,
            target=target,
            features=tuple(WatchedFeature(**each.model_dump()) for each in asked.features),
            comparisons=_watched_pairs(asked),
            **asked.model_dump(include=COPIED),
        )


def _suite_upkeep(asked: MonitorRequest) -> Upkeep:
    """Return how the monitor is to be run."""
    with _as_usage_error():
        return Upkeep(
            cadence_s=asked.cadence,
            deadline_s=asked.deadline,
            budget=Budget(**asked.budget.model_dump()),
            most_rounds=asked.most_rounds,
            owners=asked.owners,
            webhook=asked.webhook,
        )


def _check_comparison(
    pair: WatchedPair, suite: Suite, features: tuple[FeatureRequest, ...]
) -> None:
    first = [probe for probe in suite.probes if probe.groups.get(pair.dimension) == pair.a]
    second = [probe for probe in suite.probes if _in_second_group(probe, pair)]
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
    if not paired and any(each.method.facts.needs_twins for each in features):
        raise UsageError(
            f"No set of the suite {suite.name} has both {pair.dimension} {pair.a} and"
            f" {pair.b or 'another'}: twins need the same `set`; without twins the method is"
            " `two_groups`, with the claim `population`."
        )


def _in_second_group(probe: SuiteProbe, pair: WatchedPair) -> bool:
    group = probe.groups.get(pair.dimension)
    return group is not None and group != pair.a and (pair.b is None or group == pair.b)


SHORTEST_WINDOW_S = 60


def plan_of(asked: MonitorRequest | TrafficMonitorRequest, suite: Suite | None) -> MonitorPlan:
    """Return what is to be watched, of either kind.

    Raises
    ------
    UsageError
        The parts of the file contradict one another, or the suite, or there is no suite.
    """
    if isinstance(asked, TrafficMonitorRequest):
        return _traffic_plan(asked)
    if suite is None:
        raise UsageError(f"There is no suite {asked.suite_hash}. Upload it first.")
    return _suite_plan(asked, suite)


def upkeep_of(asked: MonitorRequest | TrafficMonitorRequest) -> Upkeep:
    """Return how it is to be run."""
    if isinstance(asked, MonitorRequest):
        return _suite_upkeep(asked)
    with _as_usage_error():
        return Upkeep(
            cadence_s=asked.window,
            lateness_s=asked.lateness,
            deadline_s=asked.deadline,
            most_rounds=asked.most_rounds,
            owners=asked.owners,
            webhook=asked.webhook,
        )


def _traffic_plan(asked: TrafficMonitorRequest) -> MonitorPlan:
    if asked.window < SHORTEST_WINDOW_S or asked.window % 1:
        raise UsageError("The monitor, window: it is at least 1m, in whole seconds.")
    name = asked.target.removeprefix(TRAFFIC_PREFIX)
    with _as_usage_error():
        return MonitorPlan(
            traffic=Traffic(window_s=int(asked.window), mentions=asked.mentions),
            target=Target(name=asked.target, provider=TRAFFIC, model=name),
            claim=Claim.POPULATION,
            features=tuple(WatchedFeature(**each.model_dump()) for each in asked.features),
            comparisons=_watched_pairs(asked),
            alpha=asked.alpha,
            missing_tolerance=asked.missing_tolerance,
        )


def _watched_pairs(asked: MonitorFile) -> tuple[WatchedPair, ...]:
    """Return what is compared."""
    return tuple(WatchedPair(**each.model_dump()) for each in asked.comparisons)


@contextmanager
def _as_usage_error() -> Iterator[None]:
    """Turn what the parts say of one another into a mistake of the user."""
    try:
        yield
    except ValidationError as error:
        mistake = first_mistake(error)
        field = f"{mistake.field}: " if mistake.field else ""
        raise UsageError(f"The monitor, {field}{mistake.said}.") from None


COPIED = {
    "scaffold", "repeats", "claim", "sets_per_round", "alpha", "missing_tolerance",
    "change_tolerance", "reference_rounds",
}  # fmt: skip
