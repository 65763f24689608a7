"""The diagnosis of a table: statistics, disparities, comparisons and absences of every grouping."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.diagnoser.domain.absent import Absence, absences
from services.diagnoser.domain.comparing import Comparison, Declared, compare, corrected
from services.diagnoser.domain.groupings import Grouping, groupings
from services.diagnoser.domain.observations import Observations
from services.diagnoser.domain.summaries import GroupDisparity, GroupStatistic, describe
from shared.stats.groups.summary import Statistic

Told = Callable[[str, int, int], None]
"""Hears how far the work is: what is done, how much of it, out of how much."""


@dataclass
class TableDiagnosis:
    """All that was found."""

    statistics: list[GroupStatistic] = field(default_factory=list)
    disparities: list[GroupDisparity] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    absences: list[Absence] = field(default_factory=list)


def diagnose_table(
    seen: Observations,
    statistics: Sequence[Statistic],
    declared: Declared,
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
    declared: Declared,
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
        found.absences.extend(absences(seen, grouping, alpha=declared.alpha, rng=rng))
