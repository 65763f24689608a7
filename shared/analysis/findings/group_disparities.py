"""All groups of a dimension together: disparities, one overall test, shrunken means and ranks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biaswatch.shared.analysis.findings.groupings import Grouping
from biaswatch.shared.analysis.findings.observations import Observations, Whole
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.groups.cells import Measurements, Reason, sentence
from biaswatch.shared.stats.groups.disparity import Disparity, disparities
from biaswatch.shared.stats.groups.exchanges import unit_means
from biaswatch.shared.stats.groups.group_means import group_means, shrunken_means
from biaswatch.shared.stats.groups.mean_ranks import BY_RANGE as RANKS_BY_RANGE
from biaswatch.shared.stats.groups.mean_ranks import METHOD as RANKS
from biaswatch.shared.stats.groups.mean_ranks import ranks_of_means, simultaneous_order
from biaswatch.shared.stats.groups.null_disparities import CHANCE_METRICS, disparities_by_chance
from biaswatch.shared.stats.groups.overall import METHOD as LABELS_PERMUTED
from biaswatch.shared.stats.groups.overall import overall_test
from biaswatch.shared.stats.groups.registry import SelectionRate
from biaswatch.shared.stats.groups.summary import Mean, Statistic, Summary, summarise

SAME = {"Impact Ratio": "Min/Max"}
"""By metric, the one that is the same number of selection rates."""


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
    """The median under random exchanges of labels, of ranges and ratios of means and rates."""


@dataclass(frozen=True)
class GroupedTable:
    """The rows that belong to a group, and the codes of what their labels move with and in."""

    table: Measurements
    units: Whole | None
    """[rows]: prompts; None where each row is one."""
    sets: Whole
    """[rows]: counterfactual sets or shared prompts, -1 for none."""

    @classmethod
    def of(cls, observations: Observations, grouping: Grouping) -> "GroupedTable":
        """Return the rows of all groups, ordered by what they say.

        Random exchanges then give the same numbers in whatever order a file has its rows.
        """
        belongs = np.flatnonzero(grouping.codes >= 0)
        values, baseline = observations.values, observations.baseline
        columns = [*values[belongs].T, *([] if baseline is None else baseline[belongs].T)]
        units, sets = observations.unit_codes[belongs], observations.set_codes[belongs]
        labels = [sets, grouping.codes[belongs]]
        named = observations.units is not None
        rows = belongs[np.lexsort((*columns, *([units] if named else []), *labels))]
        table = Measurements(
            values[rows],
            grouping.codes[rows],
            tuple(str(place) for place in range(len(grouping.groups))),
            observations.features,
            None if baseline is None else baseline[rows],
        )
        units, sets = observations.unit_codes[rows], observations.set_codes[rows]
        return cls(table, units if named else None, sets)

    def summary(self, statistics: Sequence[Statistic], ddof: int) -> Summary:
        """Return the statistics of each group; means and rates are over units."""
        summary = summarise(self.table, statistics, ddof)
        if self.units is None:
            return summary
        values = summary.values.copy()
        for place, statistic in enumerate(statistics):
            if (measured := _averaged(statistic, self.table)) is not None:
                strata = np.zeros(len(measured), dtype=np.intp)
                units, _ = unit_means(replace(self.table, values=measured), self.units, strata)
                values[place] = summarise(replace(units, baseline=None), [Mean()]).values[0]
        return replace(summary, values=values)


def _averaged(statistic: Statistic, table: Measurements) -> Floats | None:
    if isinstance(statistic, Mean):
        return table.values
    return statistic.selected(table.values) if isinstance(statistic, SelectionRate) else None


def disparity_statistics(
    rows: GroupedTable,
    grouping: Grouping,
    summary: Summary,
    statistics: Sequence[Statistic],
    *,
    permutations: int,
    rng: np.random.Generator,
) -> Iterator[DisparityStatistic]:
    """Return every metric of every statistic; those of means with what chance gives."""
    domains = (grouping.domain_of, grouping.domains)
    by_chance: dict[int, Floats] = {}
    if permutations and len(rows.table.codes):
        for place, statistic in enumerate(statistics):
            if (averaged := _averaged(statistic, rows.table)) is not None:
                by_chance[place] = disparities_by_chance(
                    replace(rows.table, values=averaged), *domains, rng, permutations,
                    rows.sets, rows.units,
                )  # fmt: skip
    disparity = disparities(summary, *domains)
    for where in np.ndindex(disparity.values.shape):
        if disparity.reasons[where] != Reason.NOT_A_RATE:
            yield _statistic(grouping, disparity, by_chance.get(where[2]), where)


def _statistic(
    grouping: Grouping, disparity: Disparity, by_chance: Floats | None, where: tuple[int, ...]
) -> DisparityStatistic:
    metric, domain, statistic, feature = where
    holder = int(disparity.holders[where])
    name, value = disparity.metrics[metric], finite(disparity.values[where])
    median = None
    if by_chance is not None and value is not None and SAME.get(name, name) in CHANCE_METRICS:
        place = CHANCE_METRICS.index(SAME.get(name, name))
        median = finite(by_chance[place, domain, feature])
    return DisparityStatistic(
        feature=disparity.features[feature],
        statistic=disparity.statistics[statistic],
        dimension=grouping.name,
        domain=disparity.domains[domain],
        metric=name,
        value=value,
        group=grouping.groups[holder].name if holder >= 0 else None,
        reason=sentence(int(disparity.reasons[where])),
        null_median=median,
    )


def finite(value: float) -> float | None:
    """Return a number as results carry it: None for nan and infinity."""
    return float(value) if np.isfinite(value) else None


MIN_GROUPS = 3
"""With two groups, their gap already says everything."""


@dataclass(frozen=True)
class OverallStatistic:
    """The test of whether any group of a domain differs in the mean of a feature."""

    feature: str
    dimension: str
    domain: str
    groups: int
    units: int
    statistic: float | None
    p_value: float | None
    permutations: int
    method: str
    reason: str | None


@dataclass(frozen=True)
class GroupMean:
    """A group's mean among those of all groups of its domain."""

    feature: str
    dimension: str
    domain: str
    group: dict[str, str]
    mean: float | None
    shrunken_mean: float | None
    """Drawn towards the other groups; for display, for no verdict."""
    shrunken_low: float | None
    shrunken_high: float | None
    """Its interval covers on average over all groups."""
    shrunken_method: str
    shrunken_reason: str | None
    rank: int | None
    """1 for the largest mean."""
    rank_low: int | None
    rank_high: int | None
    """All groups' ranks lie between their two bounds at once, with probability 1 - alpha."""
    rank_method: str


def overall(
    rows: GroupedTable, grouping: Grouping, permutations: int, rng: np.random.Generator
) -> Iterator[OverallStatistic]:
    """Test every feature in every domain that has three groups or more."""
    if not permutations:
        return
    domain_of, domains, table = grouping.domain_of, grouping.domains, rows.table
    test = overall_test(table, domain_of, domains, rng, permutations, rows.sets, rows.units)
    sizes = np.bincount(domain_of, minlength=len(domains))
    for domain, feature in np.ndindex(test.p_values.shape):
        if sizes[domain] >= MIN_GROUPS:
            at = (domain, feature)
            yield OverallStatistic(
                feature=table.features[feature],
                dimension=grouping.name,
                domain=domains[domain],
                groups=int(sizes[domain]),
                units=int(test.units[at]),
                statistic=finite(float(test.statistic[at])),
                p_value=finite(float(test.p_values[at])),
                permutations=permutations,
                method=LABELS_PERMUTED,
                reason=sentence(int(test.reasons[at])),
            )


def group_mean_estimates(
    rows: GroupedTable, grouping: Grouping, alpha: float, bounds: Sequence[Sequence[Bounds | None]]
) -> Iterator[GroupMean]:
    """Return every group's mean, shrunken mean and rank in domains of three groups or more.

    Parameters
    ----------
    bounds
        By feature and domain, the range of values where it is known.
    """
    table, sets = unit_rows(rows)
    for domain, name in enumerate(grouping.domains):
        groups = np.flatnonzero(grouping.domain_of == domain)
        if len(groups) < MIN_GROUPS:
            continue
        design = additive_design(grouping, groups)
        for feature in range(len(table.features)):
            known = bounds[feature][domain]
            yield from _of_feature(
                table, sets, grouping, groups, feature, name, design, alpha, known
            )


def _of_feature(
    table: Measurements,
    sets: Whole,
    grouping: Grouping,
    groups: Whole,
    feature: int,
    domain: str,
    design: Floats | None,
    alpha: float,
    bounds: Bounds | None,
) -> Iterator[GroupMean]:
    values = table.values[:, feature]
    own = np.isin(table.codes, groups) & np.isfinite(values)
    codes = np.searchsorted(groups, table.codes[own])
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows has no rank
        means = group_means(values[own], codes, sets[own], len(groups))
        shrunken = shrunken_means(means.means, means.variance * means.shares, design)
        reach = shrunken.reach(alpha, means.freedom)
    surely = bounds and simultaneous_order(
        values[own], codes, sets[own], means.shared, bounds, alpha
    )
    ranks = ranks_of_means(means, alpha, surely)
    for place, group in enumerate(groups):
        ranked = bool(ranks.ranks[place])
        yield GroupMean(
            feature=table.features[feature],
            dimension=grouping.name,
            domain=domain,
            group=grouping.groups[group].levels,
            mean=finite(means.means[place]),
            shrunken_mean=finite(shrunken.means[place]),
            shrunken_low=finite(shrunken.means[place] - reach[place]),
            shrunken_high=finite(shrunken.means[place] + reach[place]),
            shrunken_method=shrunken.method,
            shrunken_reason=shrunken.reason or (None if ranked else sentence(Reason.NO_VALUES)),
            rank=int(ranks.ranks[place]) if ranked else None,
            rank_low=int(ranks.low[place]) if ranked else None,
            rank_high=int(ranks.high[place]) if ranked else None,
            rank_method=RANKS if surely is None else RANKS_BY_RANGE,
        )


def unit_rows(rows: GroupedTable) -> tuple[Measurements, Whole]:
    """Return a row for each prompt of a group, and its set."""
    if rows.units is None:
        return rows.table, rows.sets
    table, sets = unit_means(rows.table, rows.units, rows.sets)
    return table, np.asarray(sets, dtype=np.intp)


def additive_design(grouping: Grouping, groups: Whole) -> Floats | None:
    """Return [groups, columns] of additive effects of the dimensions; None for a single one."""
    if len(grouping.dimensions) == 1:
        return None
    columns = [np.ones(len(groups))]
    for dimension in grouping.dimensions:
        levels = [grouping.groups[group].levels[dimension] for group in groups]
        columns += [
            np.array([level == name for level in levels], dtype=np.float64)
            for name in sorted(set(levels))[1:]
        ]
    return np.column_stack(columns)
