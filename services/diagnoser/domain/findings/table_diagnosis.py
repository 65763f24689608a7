"""The diagnosis of a table: every grouping is described, compared and searched for gaps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.diagnoser.domain.findings.comparisons import (
    ComparisonPlan,
    GroupComparison,
    compare,
    corrected,
)
from services.diagnoser.domain.findings.group_statistics import (
    DisparityStatistic,
    GroupStatistic,
    describe,
)
from services.diagnoser.domain.findings.groupings import Grouping, groupings
from services.diagnoser.domain.findings.missingness import GroupedMissingness, missingness_by_group
from services.diagnoser.domain.findings.observations import Observations
from shared.stats.groups.summary import Statistic

Told = Callable[[str, int, int], None]
"""Hears how far the work is: what is done, how much of it, out of how much."""


@dataclass
class TableDiagnosis:
    """All that was found."""

    statistics: list[GroupStatistic] = field(default_factory=list)
    disparities: list[DisparityStatistic] = field(default_factory=list)
    comparisons: list[GroupComparison] = field(default_factory=list)
    missingness: list[GroupedMissingness] = field(default_factory=list)


def diagnose_table(
    seen: Observations,
    statistics: Sequence[Statistic],
    declared: ComparisonPlan,
    *,
    ddof: int,
    rng: np.random.Generator,
    told: Told = lambda what, done, of: None,
) -> TableDiagnosis:
    """Diagnose every dimension, and every crossing of dimensions.

    Groups are compared within single dimensions; crossings are described, not tested, so that the
    family stays what was asked for. All comparisons together are one family.
    """
    found = TableDiagnosis()
    every = groupings(seen)
    for done, grouping in enumerate(every):
        told(grouping.name, done, len(every))
        _add(found, seen, grouping, statistics, declared, ddof, rng)
    found.comparisons = corrected(found.comparisons, declared)
    told("", len(every), len(every))
    return found


def _add(
    found: TableDiagnosis,
    seen: Observations,
    grouping: Grouping,
    statistics: Sequence[Statistic],
    declared: ComparisonPlan,
    ddof: int,
    rng: np.random.Generator,
) -> None:
    described = describe(
        seen,
        grouping,
        statistics,
        alpha=declared.alpha,
        ddof=ddof,
        permutations=declared.permutations,
        rng=rng,
    )
    found.statistics.extend(described.statistics)
    found.disparities.extend(described.disparities)
    if len(grouping.dimensions) == 1:
        found.comparisons.extend(compare(seen, grouping, declared, rng))
        found.missingness.extend(
            missingness_by_group(seen, grouping, alpha=declared.alpha, rng=rng)
        )
