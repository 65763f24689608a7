"""Statistics of every group of a grouping, with intervals, and what is missing in each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.diagnoser.domain.findings.groupings import Grouping
from services.diagnoser.domain.findings.observations import Observations, coded
from services.diagnoser.domain.findings.units import FixedPrompts, Units
from shared.contracts import Claim
from shared.stats.comparisons.fixed_prompts import fixed_prompts_mean
from shared.stats.comparisons.means_and_rates import mean_of, rate_of
from shared.stats.comparisons.missingness import Missingness, missingness
from shared.stats.estimate import IntervalEstimate
from shared.stats.groups.cells import Table
from shared.stats.groups.descriptive import Mean
from shared.stats.groups.disparity import disparities
from shared.stats.groups.permutations import PermutationNull, permute_labels
from shared.stats.groups.reasons import Reason, sentence
from shared.stats.groups.selection import SelectionRate
from shared.stats.groups.summary import Statistic, Summary, summarise

NO_INTERVAL = IntervalEstimate()


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


@dataclass(frozen=True)
class DisparityStatistic:
    """How far groups lie apart in one statistic, in one way of saying it."""

    feature: str
    statistic: str
    dimension: str
    domain: str
    metric: str
    value: float | None
    group: str | None
    """The group that holds the extreme, for metrics that have one."""
    reason: str | None
    null_median: float | None = None
    """The median under random exchanges of labels."""
    p_value: float | None = None
    """The share of random exchanges that give at least as much."""


@dataclass(frozen=True)
class GroupingDescription:
    """A grouping's statistics, and how far its groups lie apart."""

    statistics: tuple[GroupStatistic, ...]
    disparities: tuple[DisparityStatistic, ...]


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
    """Describe the groups of a grouping; intervals are of what the claim is about."""
    table = _table(observations, grouping)
    summary = summarise(table, statistics, ddof)
    null = _null(observations, grouping, table, permutations, rng)
    return GroupingDescription(
        tuple(_statistics(observations, grouping, summary, statistics, alpha, claim)),
        tuple(_disparities(grouping, summary, null, rng)),
    )


def _table(observations: Observations, grouping: Grouping) -> Table:
    belongs = grouping.codes >= 0
    baseline = None if observations.baseline is None else observations.baseline[belongs]
    names = tuple(str(place) for place in range(len(grouping.groups)))
    return Table(
        observations.values[belongs],
        grouping.codes[belongs],
        names,
        observations.features,
        baseline,
    )


def _statistics(
    observations: Observations,
    grouping: Grouping,
    summary: Summary,
    statistics: Sequence[Statistic],
    alpha: float,
    claim: Claim,
) -> Iterator[GroupStatistic]:
    for place, statistic in enumerate(statistics):
        intervals = _intervals(observations, grouping, statistic, alpha, claim)
        for code, group in enumerate(grouping.groups):
            for index, feature in enumerate(summary.features):
                found = intervals[code][index] if intervals else NO_INTERVAL
                value = found.value if intervals else _number(summary.values[place, code, index])
                yield GroupStatistic(
                    feature=feature,
                    statistic=statistic.name,
                    group=group.levels,
                    domain=grouping.domains[group.domain],
                    value=value,
                    low=found.low,
                    high=found.high,
                    method=found.method,
                    n=int(summary.n[code, index]),
                    n_missing=int(summary.n_missing[code, index]),
                    reason=sentence(summary.reasons[place, code, index]) or found.reason,
                )


def _intervals(
    observations: Observations, grouping: Grouping, statistic: Statistic, alpha: float, claim: Claim
) -> list[list[IntervalEstimate]] | None:
    """Return each group's mean or rate over units with its interval; other statistics have none."""
    if isinstance(statistic, Mean):
        measured, estimate = observations, mean_of
    elif isinstance(statistic, SelectionRate):
        selected = statistic.selected(observations.values)
        measured, estimate = replace(observations, values=selected), rate_of
    else:
        return None
    prompts = FixedPrompts(measured, grouping) if claim is Claim.BANK else None
    units = Units.of(measured, grouping)
    return [
        [
            fixed_prompts_mean(prompts.by_prompt(group, feature), alpha)
            if prompts
            else estimate(units.values(group, feature).tolist(), alpha)
            for feature in range(len(observations.features))
        ]
        for group in range(len(grouping.groups))
    ]


def _null(
    observations: Observations,
    grouping: Grouping,
    table: Table,
    permutations: int,
    rng: np.random.Generator,
) -> PermutationNull | None:
    """Exchange labels at random, within sets where there are any; a unit keeps together."""
    if not permutations or not len(table.codes):
        return None
    belongs = grouping.codes >= 0
    sets = None if observations.sets is None else coded(observations.sets)[0][belongs]
    units = None if observations.units is None else observations.unit_codes()[belongs]
    return permute_labels(
        table, grouping.domain_of, grouping.domains, rng, permutations, sets=sets, units=units
    )


def _disparities(
    grouping: Grouping, summary: Summary, null: PermutationNull | None, rng: np.random.Generator
) -> Iterator[DisparityStatistic]:
    found = disparities(summary, grouping.domain_of, grouping.domains, rng)
    for place in np.ndindex(found.values.shape):
        metric, domain, statistic, feature = place
        if found.reasons[place] == Reason.NOT_A_RATE:
            continue  # an impact ratio is a matter of selection rates alone
        holder = found.holders[place]
        median = p_value = None
        of_means = found.statistics[statistic] == Mean().name
        if null and of_means and found.metrics[metric] in null.metrics:
            at = (null.metrics.index(found.metrics[metric]), domain, feature)
            median, p_value = _number(null.null_median[at]), _number(null.p_values[at])
        yield DisparityStatistic(
            feature=found.features[feature],
            statistic=found.statistics[statistic],
            dimension=grouping.name,
            domain=found.domains[domain],
            metric=found.metrics[metric],
            value=_number(float(found.values[place])),
            group=grouping.groups[holder].name if holder >= 0 else None,
            reason=sentence(int(found.reasons[place])),
            null_median=median,
            p_value=p_value,
        )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True)
class GroupedMissingness:
    """What is missing of one feature in one domain of a grouping."""

    feature: str
    dimension: str
    domain: str
    found: Missingness
    """Counts prompts with at least one missing answer: repeats go missing together."""


def missingness_by_group(
    observations: Observations, grouping: Grouping, *, alpha: float, rng: np.random.Generator
) -> Iterator[GroupedMissingness]:
    """Return the absence of every feature in every domain."""
    units = observations.unit_codes()
    missing = ~np.isfinite(observations.values)
    for domain, name in enumerate(grouping.domains):
        groups = np.flatnonzero(grouping.domain_of == domain)
        for index, feature in enumerate(observations.features):
            counted = {}
            for group in groups:
                mine = grouping.codes == group
                lacking = units[mine & missing[:, index]]
                counted[grouping.groups[group].name] = (
                    len(np.unique(lacking)),
                    len(np.unique(units[mine])),
                )
            found = missingness(counted, alpha, rng=rng)
            yield GroupedMissingness(feature, grouping.name, name, found)
