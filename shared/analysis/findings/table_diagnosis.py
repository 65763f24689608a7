"""The diagnosis of a table: every grouping is described, compared and searched for gaps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from biaswatch.shared.analysis.findings.all_groups import GroupMean, OverallStatistic
from biaswatch.shared.analysis.findings.comparisons import GroupComparison, compare, corrected
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_disparities import DisparityStatistic
from biaswatch.shared.analysis.findings.group_statistics import (
    GroupedMissingness,
    GroupStatistic,
    describe,
    missingness_by_group,
)
from biaswatch.shared.analysis.findings.groupings import groupings
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.plans import ComparisonPlan
from biaswatch.shared.stats.groups.summary import Statistic

Progress = Callable[[str, int, int], None]
"""Takes the name of the grouping under way, the number of those done, and of all."""


@dataclass
class TableDiagnosis:
    """All that was found."""

    statistics: list[GroupStatistic] = field(default_factory=list)
    disparities: list[DisparityStatistic] = field(default_factory=list)
    overall: list[OverallStatistic] = field(default_factory=list)
    means: list[GroupMean] = field(default_factory=list)
    comparisons: list[GroupComparison] = field(default_factory=list)
    missingness: list[GroupedMissingness] = field(default_factory=list)


def diagnose_table(
    observations: Observations,
    statistics: Sequence[Statistic],
    plan: ComparisonPlan,
    *,
    ddof: int,
    rng: np.random.Generator,
    permutations: int | None = None,
    progress: Progress = lambda name, done, of: None,
) -> TableDiagnosis:
    """Diagnose every dimension, and every crossing of dimensions.

    Groups are compared within single dimensions; crossings are described, not tested, so that the
    family stays as it was requested. All comparisons together are one family.

    Labels of all groups together are exchanged `permutations` times, as often as those of each
    comparison unless it is given.
    """
    times = plan.permutations if permutations is None else permutations
    found = TableDiagnosis()
    every = groupings(observations)
    single = [each for each in every if len(each.dimensions) == 1]
    sampled = {each.name: SampledGroups(observations, each, plan) for each in single}
    family = max(1, sum(each.declared for each in sampled.values()))
    for done, grouping in enumerate(every):
        progress(grouping.name, done, len(every))
        described = describe(
            observations,
            grouping,
            statistics,
            alpha=plan.alpha,
            ddof=ddof,
            permutations=times,
            rng=rng,
            claim=plan.claim,
            progress=partial(_exchanged, progress, grouping.name, done, len(every)),
        )
        found.statistics.extend(described.statistics)
        found.disparities.extend(described.disparities)
        found.overall.extend(described.overall)
        found.means.extend(described.means)
        if len(grouping.dimensions) == 1:
            found.comparisons.extend(compare(sampled[grouping.name], rng, family))
            missing = missingness_by_group(observations, grouping, alpha=plan.alpha, rng=rng)
            found.missingness.extend(missing)
    found.comparisons = corrected(found.comparisons, plan, family)
    progress("", len(every), len(every))
    return found


def _exchanged(
    progress: Progress, name: str, done: int, of: int, exchanges: int, of_exchanges: int
) -> None:
    progress(f"{name}, relabelling {exchanges} of {of_exchanges}", done, of)
