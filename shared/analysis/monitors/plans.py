"""Files of monitors become plans: what is watched, and how the monitor is run."""

from typing import Any

from biaswatch.shared.analysis.monitors.asked_sets import AskedSets
from biaswatch.shared.contracts import (
    TRAFFIC,
    Budget,
    Claim,
    Method,
    MonitorPlan,
    Target,
    Traffic,
    Upkeep,
    WatchedFeature,
    WatchedPair,
    parse_target,
)
from biaswatch.shared.contracts.mistakes import as_usage_error
from biaswatch.shared.contracts.suite_limits import number_shown
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.monitors import TRAFFIC_PREFIX, MonitorRequest, TrafficMonitorRequest

COPIED = {"alpha", "missing_tolerance"}
COPIED_FROM_SUITE_MONITORS = COPIED | {
    "scaffold", "repeats", "claim", "sets_per_round", "change_tolerance", "reference_rounds"
}  # fmt: skip
SHORTEST_WINDOW_S = 60


def plan_of(
    request: MonitorRequest | TrafficMonitorRequest, suite: AskedSets | None
) -> MonitorPlan:
    """Return what is watched.

    Raises
    ------
    UsageError
        The parts of the file contradict one another or the suite, or there is no suite.
    """
    if isinstance(request, TrafficMonitorRequest):
        watched = _watched_traffic(request)
    elif suite is None:
        raise NotFoundError(f"There is no suite {request.suite_hash}. Upload it first.")
    else:
        watched = _watched_suite(request, suite)
    with as_usage_error("The monitor"):
        return MonitorPlan(
            features=tuple(WatchedFeature(**each.model_dump()) for each in request.features),
            comparisons=tuple(WatchedPair(**each.model_dump()) for each in request.comparisons),
            **watched,
        )


def check_methods(plan: MonitorPlan, suite: AskedSets | None) -> None:
    """Refuse a method whose promise the suite's sets would break; raise UsageError."""
    methods = {each.method for each in plan.features}
    if suite is not None and Method.ODDS in methods and suite.largest_side(plan.comparisons) > 1:
        raise UsageError(
            "The method `odds` takes one odds ratio to hold in all sets, and the suite"
            f" {suite.name} has sets with several answers of a group: if the sets' own ratios"
            " differ, it alarms falsely more often than alpha says. Take `pairs`, which watches the"
            " shares selected and keeps its promise however sets differ."
        )


def check_round(plan: MonitorPlan, suite: AskedSets | None, most: int) -> None:
    """Refuse a monitor whose rounds would ask more than is allowed; raise UsageError."""
    each_round = suite.questions * plan.repeats if suite else 0
    if plan.sets_per_round is None and each_round > most:
        raise UsageError(
            f"A round would ask {number_shown(each_round)} questions; {most:,} are allowed. Ask"
            " less, draw `sets_per_round`, or have whoever operates the gateway raise"
            " BIASWATCH_GATEWAY_RUN_PROBES."
        )


def upkeep_of(request: MonitorRequest | TrafficMonitorRequest) -> Upkeep:
    """Return how the monitor is run."""
    own: dict[str, Any] = (
        {"cadence_s": request.window, "lateness_s": request.lateness}
        if isinstance(request, TrafficMonitorRequest)
        else {"cadence_s": request.cadence, "budget": Budget(**request.budget.model_dump())}
    )
    with as_usage_error("The monitor"):
        return Upkeep(
            deadline_s=request.deadline,
            most_rounds=request.most_rounds,
            owners=request.owners,
            webhook=request.webhook,
            channels=request.channels,
            **own,
        )


def _watched_suite(request: MonitorRequest, suite: AskedSets) -> dict[str, Any]:
    for pair in request.comparisons:
        _check_comparison(pair, suite, request)
    target = parse_target(
        request.target, parameters=request.parameters, system_prompt=request.system_prompt
    )
    copied = request.model_dump(include=COPIED_FROM_SUITE_MONITORS)
    return {"suite": suite.name, "suite_hash": suite.hash, "target": target, **copied}


def _watched_traffic(request: TrafficMonitorRequest) -> dict[str, Any]:
    if request.window < SHORTEST_WINDOW_S or request.window % 1:
        raise UsageError("The monitor, window: it is at least 1m, in whole seconds.")
    within = request.neighbours_within
    if within is not None and (within < 1 or within % 1):
        raise UsageError("The monitor, neighbours_within: it is at least 1s, in whole seconds.")
    system = request.target.removeprefix(TRAFFIC_PREFIX)
    with as_usage_error("The monitor"):
        return {
            "traffic": Traffic(
                window_s=int(request.window),
                mentions=request.mentions,
                strata=request.strata,
                neighbours_within_s=None if within is None else int(within),
            ),
            "target": Target(name=request.target, provider=TRAFFIC, model=system),
            "claim": Claim.POPULATION,
            **request.model_dump(include=COPIED),
        }


def _check_comparison(pair: WatchedPair, suite: AskedSets, request: MonitorRequest) -> None:
    """Refuse a comparison that the suite has no probes or no twins for."""
    for sets, group in zip(suite.sides(pair), (pair.a, pair.b or f"any but {pair.a}"), strict=True):
        if not len(sets):
            raise UsageError(
                f"The suite {suite.name} has no probe of {pair.dimension} {group}; it has"
                f" {', '.join(suite.groups_of(pair.dimension)) or 'nothing of that dimension'}."
            )
    paired = suite.twins(pair, named=True)
    if not paired and any(each.method.facts.needs_twins for each in request.features):
        raise UsageError(
            f"No set of the suite {suite.name} has both {pair.dimension} {pair.a} and"
            f" {pair.b or 'another'}: twins need the same `set`; without twins the method is"
            " `two_groups`, with the claim `population`."
        )
