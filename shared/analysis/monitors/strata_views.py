"""A comparison of traffic by stratum: gaps, counts and intervals; described, and no evidence."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from pydantic import BaseModel

from biaswatch.shared.contracts import Comparison, Described, Estimate, Evidence, StratumUsers
from biaswatch.shared.stats.anytime.two_groups import VALUE_BINS
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval
from biaswatch.shared.stats.samples import Vector

NO_MATCH = "no users of both groups were neighbours"
NO_USER = "no user of the group has a number"
Places = Mapping[int, int]


class StratumView(BaseModel):
    """The users of one stratum."""

    facts: dict[str, str]
    """The declared facts that they share; empty for smaller strata together."""
    first_users: int
    second_users: int
    first_mean: Estimate
    second_mean: Estimate
    first_matched: int
    """Users of the first group who found a neighbour."""
    second_matched: int
    matches: int
    adjusted: Estimate
    """The gap between neighbours, at one look: what these users add to the adjusted gap."""
    unadjusted: Estimate
    """The gap between all users of the stratum, whenever they came, at one look."""


class StrataView(BaseModel):
    """A comparison within strata, and over all of them."""

    comparison: str
    title: str
    groups: tuple[str, str]
    """The first and the second."""
    names: tuple[str, ...]
    """The facts that the monitor compares within: topic, language."""
    since_round: int
    last_round: int
    """The rounds that are added up."""
    adjusted: Estimate | None
    """The gap between neighbours, with the interval that holds at every look; the evidence."""
    unadjusted: Estimate | None
    """The gap between all users; no evidence."""
    strata: list[StratumView]
    """Strata in order of decreasing numbers of users."""


def strata_view(
    evidence: Evidence,
    title: str,
    names: Sequence[str],
    described: Iterable[Described],
    rounds: tuple[int, int],
    alpha: float,
) -> StrataView:
    """Return a comparison's strata, added up over windows; `rounds` are the first and the last."""
    added = added_strata(part for description in described for part in description.strata)
    comparison = evidence.comparison
    views = [_view(comparison, names, users, alpha) for users in added]
    views.sort(key=lambda view: (not view.facts, -view.first_users - view.second_users))
    return StrataView(
        comparison=comparison.key,
        title=title,
        groups=(comparison.pair.a, comparison.pair.b or "the rest"),
        names=tuple(names),
        since_round=rounds[0],
        last_round=rounds[1],
        adjusted=evidence.gap,
        unadjusted=evidence.unadjusted,
        strata=views,
    )  # fmt: skip


def added_strata(parts: Iterable[StratumUsers]) -> list[StratumUsers]:
    """Return the sum of each stratum over windows: every user is in one of them."""
    by_facts: dict[tuple[str, ...], list[StratumUsers]] = defaultdict(list)
    for part in parts:
        by_facts[part.facts].append(part)
    return [
        StratumUsers(
            facts=facts,
            first=_sum(part.first for part in parts_),
            second=_sum(part.second for part in parts_),
            matched=(
                sum(part.matched[0] for part in parts_),
                sum(part.matched[1] for part in parts_),
            ),
            differences=_sum(part.differences for part in parts_),
        )
        for facts, parts_ in by_facts.items()
    ]


def _view(
    comparison: Comparison, names: Sequence[str], users: StratumUsers, alpha: float
) -> StratumView:
    watched = comparison.watched
    span, bounds = watched.high - watched.low, (watched.low, watched.high)
    first, second = (
        _values(histogram, VALUE_BINS, *bounds) for histogram in (users.first, users.second)
    )
    gaps = _values(users.differences, DIFFERENCE_BINS, -span, span)
    return StratumView(
        facts=dict(zip(names, users.facts, strict=False)),
        first_users=len(first),
        second_users=len(second),
        first_mean=_mean(first, bounds, alpha, NO_USER),
        second_mean=_mean(second, bounds, alpha, NO_USER),
        first_matched=users.matched[0],
        second_matched=users.matched[1],
        matches=len(gaps),
        adjusted=_mean(gaps, (-span, span), alpha, NO_MATCH),
        unadjusted=_gap(first, second, bounds, alpha),
    )


def _sum(histograms: Iterable[Places]) -> dict[int, int]:
    total: Counter[int] = Counter()
    for histogram in histograms:
        total.update(histogram)
    return dict(sorted(total.items()))


def _values(counts: Places, places: int, low: float, high: float) -> Vector:
    """Return a value for each that was counted, at the place where it was counted."""
    ends = np.linspace(low, high, places)
    values_at, amounts = (
        np.array([*column], dtype=np.intp) for column in (counts, counts.values())
    )
    return np.repeat(ends[values_at], amounts)


def _mean(values: Vector, bounds: tuple[float, float], alpha: float, reason: str) -> Estimate:
    if not len(values):
        return Estimate(reason=reason)
    return mean_interval(values, bounds, alpha)


def _gap(first: Vector, second: Vector, bounds: tuple[float, float], alpha: float) -> Estimate:
    if not len(first) or not len(second):
        return Estimate(reason=NO_USER)
    samples = ComparedSamples(only_a=first, only_b=second, bounds=bounds)
    return compare_samples(samples, alpha=alpha, tolerance=0.0).marginal
