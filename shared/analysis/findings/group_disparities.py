"""How far the groups of a grouping lie apart in each statistic, and what chance alone gives."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biaswatch.shared.analysis.findings.groupings import Grouping
from biaswatch.shared.analysis.findings.observations import Floats, Observations, Whole
from biaswatch.shared.stats.groups.cells import Reason, Table, sentence
from biaswatch.shared.stats.groups.descriptive import Mean
from biaswatch.shared.stats.groups.disparity import Disparity, disparities
from biaswatch.shared.stats.groups.exchanges import unit_means
from biaswatch.shared.stats.groups.null_disparities import DisparityNull, disparity_null
from biaswatch.shared.stats.groups.registry import SelectionRate
from biaswatch.shared.stats.groups.summary import Statistic, Summary, summarise

SAME = {"Impact Ratio": "Min/Max"}
"""By metric, the one that is the same number of selection rates."""
Progress = Callable[[int, int], None]
"""Takes the number of random exchanges that are done, and of all."""


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
class GroupedTable:
    """The rows that belong to a group, and the codes of what their labels move with and in."""

    table: Table
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
        table = Table(
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
        found = summarise(self.table, statistics, ddof)
        if self.units is None:
            return found
        values = found.values.copy()
        for place, statistic in enumerate(statistics):
            if (measured := _averaged(statistic, self.table)) is not None:
                strata = np.zeros(len(measured), dtype=np.intp)
                units, _ = unit_means(replace(self.table, values=measured), self.units, strata)
                values[place] = summarise(replace(units, baseline=None), [Mean()]).values[0]
        return replace(found, values=values)


def _averaged(statistic: Statistic, table: Table) -> Floats | None:
    if isinstance(statistic, Mean):
        return table.values
    return statistic.selected(table.values) if isinstance(statistic, SelectionRate) else None


def disparity_statistics(
    rows: GroupedTable,
    grouping: Grouping,
    summary: Summary,
    statistics: Sequence[Statistic],
    *,
    ddof: int,
    permutations: int,
    rng: np.random.Generator,
    progress: Progress,
) -> Iterator[DisparityStatistic]:
    """Return every metric of every statistic, with its null where labels are exchanged."""
    domains = (grouping.domain_of, grouping.domains)
    null = None
    if permutations and len(rows.table.codes):
        null = disparity_null(
            rows.table, statistics, *domains, rng, permutations,
            rows.sets, rows.units, ddof, progress,
        )  # fmt: skip
    found = disparities(summary, *domains, rng)
    for where in np.ndindex(found.values.shape):
        if found.reasons[where] != Reason.NOT_A_RATE:
            yield _statistic(grouping, found, null, where)


def _statistic(
    grouping: Grouping, found: Disparity, null: DisparityNull | None, where: tuple[int, ...]
) -> DisparityStatistic:
    metric, domain, statistic, feature = where
    holder = int(found.holders[where])
    name = found.metrics[metric]
    median = p_value = None
    if null and SAME.get(name, name) in null.metrics:
        at = (null.metrics.index(SAME.get(name, name)), domain, statistic, feature)
        median, p_value = finite(null.null_median[at]), finite(null.p_values[at])
    return DisparityStatistic(
        feature=found.features[feature],
        statistic=found.statistics[statistic],
        dimension=grouping.name,
        domain=found.domains[domain],
        metric=name,
        value=finite(found.values[where]),
        group=grouping.groups[holder].name if holder >= 0 else None,
        reason=sentence(int(found.reasons[where])),
        null_median=median,
        p_value=p_value,
    )


def finite(value: float) -> float | None:
    """Return a number as results carry it: None for nan and infinity."""
    return float(value) if np.isfinite(value) else None
