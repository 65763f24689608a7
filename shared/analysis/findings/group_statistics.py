"""Statistics of every group of a grouping, with intervals, and what is missing in each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.group_disparities import (
    DisparityStatistic,
    GroupedTable,
    GroupMean,
    OverallStatistic,
    disparity_statistics,
    finite,
    group_mean_estimates,
    overall,
)
from biaswatch.shared.analysis.findings.groupings import Grouping
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.set_missingness import within_sets
from biaswatch.shared.analysis.findings.units import FixedPrompts, Units
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.comparisons.fixed_prompts import fixed_prompts_mean
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval, rate_interval
from biaswatch.shared.stats.comparisons.missingness import Missingness, missingness
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.groups.cells import sentence
from biaswatch.shared.stats.groups.registry import SelectionRate
from biaswatch.shared.stats.groups.summary import Mean, Statistic, Summary

SHARES: Bounds = (0.0, 1.0)


@dataclass(frozen=True)
class GroupIntervals:
    """The groups of a grouping, each by itself."""

    observations: Observations
    grouping: Grouping
    claim: Claim
    alpha: float

    known_units: Units | None = None
    """The units of every group, where they are known already."""

    @cached_property
    def units(self) -> Units:
        """The units of every group."""
        return self.known_units or Units(self.observations, self.grouping)

    def mean(self, group: int, feature: int) -> Estimate:
        """Return a group's mean of a feature, by the range that its domain's values have."""
        bounds = self._bounds[feature][self.grouping.groups[group].domain]
        if self.observations.claimed(self.claim) is Claim.BANK:
            return self._of_prompts(group, feature, bounds)
        return mean_interval(self.units.independent(group, feature), bounds, self.alpha)

    def rate(self, group: int, feature: int) -> Estimate:
        """Return a group's share of answers that are 1, where 0 are all others."""
        if self.observations.claimed(self.claim) is Claim.BANK:
            return self._of_prompts(group, feature, SHARES)
        return rate_interval(self.units.independent(group, feature), self.alpha)

    def _of_prompts(self, group: int, feature: int, bounds: Bounds | None) -> Estimate:
        return fixed_prompts_mean(self._prompts.by_prompt(group, feature), self.alpha, bounds)

    @cached_property
    def _bounds(self) -> list[list[Bounds | None]]:
        return [self.observations.bounds(index) for index in range(len(self.observations.features))]

    @cached_property
    def _prompts(self) -> FixedPrompts:
        return FixedPrompts(self.observations, self.grouping)


NO_INTERVAL = Estimate()
Intervals = list[list[Estimate]]
"""By group and feature."""


@dataclass(frozen=True)
class GroupStatistic:
    """One statistic of one group."""

    feature: str
    statistic: str
    group: dict[str, str]
    domain: str
    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    n_missing: int
    reason: str | None

    @property
    def estimate(self) -> Estimate:
        """The value with its interval."""
        return Estimate(self.value, self.low, self.high, self.method, self.reason)


@dataclass(frozen=True)
class GroupingDescription:
    """A grouping's statistics, and how far its groups lie apart."""

    statistics: tuple[GroupStatistic, ...]
    disparities: tuple[DisparityStatistic, ...]
    overall: tuple[OverallStatistic, ...]
    """Domains of three groups or more; so is the next."""
    means: tuple[GroupMean, ...]


def describe(
    observations: Observations,
    grouping: Grouping,
    statistics: Sequence[Statistic],
    *,
    alpha: float,
    ddof: int,
    permutations: int,
    rng: np.random.Generator,
    claim: Claim = Claim.POPULATION,
) -> GroupingDescription:
    """Describe the groups of a grouping, each by itself and all together.

    Intervals are of what the claim is about.
    """
    # Before the table: of a million answers, units and table together would be large.
    intervals = [
        _intervals(observations, grouping, statistic, alpha, claim) for statistic in statistics
    ]
    rows = GroupedTable.of(observations, grouping)
    summary = rows.summary(statistics, ddof)
    bounds = [observations.bounds(index) for index in range(len(observations.features))]
    disparities = disparity_statistics(
        rows, grouping, summary, statistics, permutations=permutations, rng=rng
    )
    return GroupingDescription(
        tuple(_statistics(grouping, summary, statistics, intervals)),
        tuple(disparities),
        tuple(overall(rows, grouping, permutations, rng)),
        tuple(group_mean_estimates(rows, grouping, alpha, bounds)),
    )


def _statistics(
    grouping: Grouping,
    summary: Summary,
    statistics: Sequence[Statistic],
    intervals: Sequence[Intervals | None],
) -> Iterator[GroupStatistic]:
    for place, (statistic, known) in enumerate(zip(statistics, intervals, strict=True)):
        for code, group in enumerate(grouping.groups):
            for index, feature in enumerate(summary.features):
                estimate = known[code][index] if known else NO_INTERVAL
                value = estimate.value if known else finite(summary.values[place, code, index])
                yield GroupStatistic(
                    feature=feature,
                    statistic=statistic.name,
                    group=group.levels,
                    domain=grouping.domains[group.domain],
                    value=value,
                    low=estimate.low,
                    high=estimate.high,
                    method=estimate.method,
                    n=int(summary.n[code, index]),
                    n_missing=int(summary.n_missing[code, index]),
                    reason=sentence(summary.reasons[place, code, index]) or estimate.reason,
                )


def _intervals(
    observations: Observations, grouping: Grouping, statistic: Statistic, alpha: float, claim: Claim
) -> Intervals | None:
    """Return each group's mean or rate over units with its interval; other statistics have none."""
    groups, features = range(len(grouping.groups)), range(len(observations.features))
    if isinstance(statistic, Mean):
        of = GroupIntervals(observations, grouping, claim, alpha)
        return [[of.mean(group, feature) for feature in features] for group in groups]
    if isinstance(statistic, SelectionRate):
        selected = replace(observations, values=statistic.selected(observations.values))
        of = GroupIntervals(selected, grouping, claim, alpha)
        return [[of.rate(group, feature) for feature in features] for group in groups]
    return None


@dataclass(frozen=True)
class GroupedMissingness:
    """The missing answers of one feature in one domain of a grouping."""

    feature: str
    dimension: str
    domain: str
    test: Missingness
    """Counts prompts with at least one missing answer: repeats go missing together."""


def missingness_by_group(
    observations: Observations, grouping: Grouping, *, alpha: float, rng: np.random.Generator
) -> Iterator[GroupedMissingness]:
    """Return the absence of every feature in every domain."""
    missing = ~np.isfinite(observations.values)
    rows = [np.flatnonzero(grouping.codes == group) for group in range(len(grouping.groups))]
    units = [observations.unit_codes[members] for members in rows]
    sets = [observations.set_codes[members] for members in rows]
    prompts = [len(np.unique(codes)) for codes in units]
    for domain, name in enumerate(grouping.domains):
        groups = np.flatnonzero(grouping.domain_of == domain).tolist()
        for index, feature in enumerate(observations.features):
            counted = {}
            for group in groups:
                lacking = units[group][missing[rows[group], index]]
                counted[grouping.groups[group].name] = (len(np.unique(lacking)), prompts[group])
            test = within_sets(
                missingness(counted, alpha, rng=rng),
                [missing[rows[group], index].astype(np.float64) for group in groups],
                [sets[group] for group in groups],
            )
            yield GroupedMissingness(feature, grouping.name, name, test)
