"""Files of monitors become plans: what is watched, and how the monitor is run."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.analysis.monitors.blocks import SuiteBlocks
from biaswatch.shared.contracts import (
    TRAFFIC,
    Budget,
    Claim,
    Method,
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
from biaswatch.shared.contracts.expansion import set_of
from biaswatch.shared.contracts.mistakes import as_usage_error
from biaswatch.shared.contracts.suite_limits import number_shown
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.monitors import TRAFFIC_PREFIX, MonitorRequest, TrafficMonitorRequest
from biaswatch.shared.stats.anytime.limits import MAX_LOOKS
from biaswatch.shared.stats.arrays import Bools, Ints

Sets = NDArray[np.uint64]
"""64 bits of the name of each."""
HASH_BYTES = 8


def no_blocks(random: tuple[str, ...]) -> SuiteBlocks:
    """Return no blocks, for suites without random factors."""
    del random
    return SuiteBlocks((), ())


@dataclass(frozen=True)
class AskedSets:
    """The questions of a suite, a row each, without their words: a suite of a million is 17 MB."""

    name: str
    """The suite's name."""
    hash: str
    groups: Sequence[Mapping[str, str]]
    """The different groups that questions are about."""
    codes: Ints
    """[questions]: which of them."""
    sets: Sets
    """[questions]"""
    has_set: Bools
    """[questions]: whether the suite names the set; else the question is one by itself."""
    random: tuple[str, ...] = ()
    """Random factors that the suite declares."""
    blocks: Callable[[tuple[str, ...]], SuiteBlocks] = no_blocks
    """Read the blocks of names and texts of the suite, for some random factors."""

    @classmethod
    def of(
        cls,
        name: str,
        hash_: str,
        probes: Iterable[SuiteProbe],
        random: tuple[str, ...] = (),
        blocks: Callable[[tuple[str, ...]], SuiteBlocks] = no_blocks,
    ) -> "AskedSets":
        """Go through the questions of a suite without keeping any."""
        known: dict[tuple[tuple[str, str], ...], int] = {}
        codes, digests, has_set = array("q"), bytearray(), bytearray()
        for probe in probes:
            codes.append(known.setdefault(tuple(sorted(probe.groups.items())), len(known)))
            digests += blake2b(set_of(probe).encode(), digest_size=HASH_BYTES).digest()
            has_set.append(bool(probe.set))
        return cls(
            name,
            hash_,
            [dict(groups) for groups in known],
            np.frombuffer(codes, np.int64) if codes else np.empty(0, np.int64),
            np.frombuffer(bytes(digests), np.uint64),
            np.frombuffer(bytes(has_set), np.bool_),
            random,
            blocks,
        )

    @classmethod
    def of_suite(cls, suite: Suite) -> "AskedSets":
        """Go through a suite that is in memory."""
        return cls.of(
            suite.name, suite.hash, suite.probes, suite.random,
            lambda random: SuiteBlocks.of_probes(random, suite.probes),
        )  # fmt: skip

    @property
    def questions(self) -> int:
        """Return how many questions there are."""
        return len(self.codes)

    @property
    def different(self) -> int:
        """Return how many sets there are."""
        return len(np.unique(self.sets))

    def groups_of(self, dimension: str) -> list[str]:
        """Return the groups of a dimension, in their order."""
        return sorted({groups[dimension] for groups in self.groups if dimension in groups})

    def sides(self, pair: WatchedPair, *, named: bool = False) -> tuple[Sets, Sets]:
        """Return the set of each question of the first group, and of each of the second.

        Parameters
        ----------
        named
            Leave out questions whose set the suite does not name.
        """
        side = np.array([_side(pair, groups) for groups in self.groups], np.int64)[self.codes]
        has_answers = self.has_set if named else np.True_
        return self.sets[(side == 0) & has_answers], self.sets[(side == 1) & has_answers]

    def twins(self, pair: WatchedPair, *, named: bool = False) -> int:
        """Return how many sets have both groups."""
        return len(np.intersect1d(*self.sides(pair, named=named)))

    def largest_side(self, pairs: Iterable[WatchedPair]) -> int:
        """Return the most answers of one side that a set has."""
        sides = (side for pair in pairs for side in self.sides(pair) if len(side))
        return max((int(np.unique(side, return_counts=True)[1].max()) for side in sides), default=0)


def _side(pair: WatchedPair, groups: Mapping[str, str]) -> int:
    """Return 0 for the first group, 1 for the second, -1 for neither."""
    group = groups.get(pair.dimension)
    if group == pair.a:
        return 0
    return 1 if group is not None and pair.b in (None, group) else -1


COPIED = {"alpha", "missing_tolerance", "looks"}
COPIED_FROM_SUITE_MONITORS = COPIED | {
    "scaffold", "repeats", "claim", "sets_per_round", "change_tolerance", "reference_rounds"
}  # fmt: skip
MIN_WINDOW_S = 60


def plan_of(
    request: MonitorRequest | TrafficMonitorRequest, suite: AskedSets | None
) -> MonitorPlan:
    """Return what is watched.

    Raises
    ------
    UsageError
        The parts of the file contradict one another or the suite, or the suite is unknown.
    """
    if isinstance(request, TrafficMonitorRequest):
        watched = _watched_traffic(request)
    elif suite is None:
        raise NotFoundError(f"The suite {request.suite_hash} is not stored. Upload it first.")
    else:
        watched = _watched_suite(request, suite)
    with as_usage_error("The monitor"):
        return MonitorPlan(
            features=tuple(WatchedFeature(**feature.model_dump()) for feature in request.features),
            comparisons=tuple(WatchedPair(**pair.model_dump()) for pair in request.comparisons),
            **watched,
        )


def check_methods(plan: MonitorPlan, suite: AskedSets | None) -> None:
    """Refuse a method whose promise the suite's sets would break; raise UsageError."""
    methods = {watched.method for watched in plan.features}
    if suite is not None and Method.ODDS in methods and suite.largest_side(plan.comparisons) > 1:
        raise UsageError(
            "The method `odds` takes one odds ratio to hold in all sets, and the suite"
            f" {suite.name} has sets with several answers of a group: if the sets' own ratios"
            " differ, it alarms falsely more often than alpha says. Take `pairs`, which watches the"
            " shares selected and keeps its promise however sets differ."
        )


def check_round(plan: MonitorPlan, suite: AskedSets | None, most: int) -> None:
    """Refuse a monitor whose rounds would ask more than is allowed; raise UsageError."""
    questions = suite.questions * plan.repeats if suite else 0
    if plan.sets_per_round is None and questions > most:
        raise UsageError(
            f"A round would ask {number_shown(questions)} questions; {most:,} are allowed. Ask"
            " less, draw `sets_per_round`, or have its operator raise"
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
    if request.until is not None:
        copied["looks"] = _looks_until(request)
    random = suite.random if request.random is None else request.random
    asked = {"suite": suite.name, "suite_hash": suite.hash, "target": target, "random": random}
    return {**copied, **asked}


def _looks_until(request: MonitorRequest) -> int:
    """Return how many rounds end within the declared time."""
    if request.looks is not None:
        raise UsageError("The monitor: give `looks` or `until`, but not both.")
    return max(1, min(MAX_LOOKS, int((request.until or 0.0) // request.cadence)))


def _watched_traffic(request: TrafficMonitorRequest) -> dict[str, Any]:
    if request.window < MIN_WINDOW_S or request.window % 1:
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
                cluster=request.cluster,
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
    if not paired and any(feature.method.facts.needs_twins for feature in request.features):
        raise UsageError(
            f"No set of the suite {suite.name} has both {pair.dimension} {pair.a} and"
            f" {pair.b or 'another'}: twins need the same `set`; without twins the method is"
            " `two_groups`, with the claim `population`."
        )
