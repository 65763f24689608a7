"""The diagnosis of a table: comparisons at once, what no verdict reads at its first access."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from biaswatch.shared.analysis.findings.error_rates import (
    CalibrationBin,
    GroupRate,
    RatedGroups,
    calibration_bins,
    group_rates,
    rated_groups,
)
from biaswatch.shared.analysis.findings.families import ComparedPart, tested_parts
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.group_disparities import (
    DisparityStatistic,
    GroupMean,
    OverallStatistic,
)
from biaswatch.shared.analysis.findings.group_statistics import (
    GroupedMissingness,
    GroupStatistic,
    describe,
    missingness_by_group,
)
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan, grouping, groupings
from biaswatch.shared.analysis.findings.interactions import Interaction, interactions
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.parities import ParityMeasure, parities
from biaswatch.shared.stats.groups.summary import Statistic

Progress = Callable[[str, int, int], None]
"""Takes the name of the grouping under way, the number of those done, and of all."""


@dataclass
class TableDescription:
    """Statistics of the groups of a table, beside their comparisons."""

    statistics: list[GroupStatistic] = field(default_factory=list)
    disparities: list[DisparityStatistic] = field(default_factory=list)
    overall: list[OverallStatistic] = field(default_factory=list)
    means: list[GroupMean] = field(default_factory=list)
    missingness: list[GroupedMissingness] = field(default_factory=list)
    error_rates: list[GroupRate] = field(default_factory=list)
    """Empty without a truth; so are the next two."""
    parities: list[ParityMeasure] = field(default_factory=list)
    calibration: list[CalibrationBin] = field(default_factory=list)
    interactions: list[Interaction] = field(default_factory=list)
    """Empty with a single dimension."""


@dataclass
class TableDiagnosis:
    """The comparisons of a table, and its description, which no verdict reads."""

    comparisons: list[GroupComparison]
    describe: Callable[[], TableDescription] = field(repr=False)
    """Computes the description, with its null distributions."""
    p_anywhere: float | None = None
    """For no twins that are treated differently, in any comparison."""

    @cached_property
    def description(self) -> TableDescription:
        """The description, computed at the first access."""
        return self.describe()


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
    """Diagnose every dimension, and describe every crossing of dimensions.

    Groups are compared within single dimensions; crossings are described, not tested, so that the
    family stays as it was requested. All comparisons of answers are one family; where there is a
    truth, those of error rates are another.

    Labels of all groups together are exchanged `permutations` times, as often as those of each
    comparison unless it is given.
    """
    times = plan.permutations if permutations is None else permutations
    of_tests, of_twins = rng.spawn(2)
    single = [grouping(observations, (dimension,)) for dimension in observations.groups]
    rated = rated_groups(observations, single, plan)
    parts = [_part(SampledGroups(observations, dimension, plan)) for dimension in single]
    parts += [_part(of.sampled, is_rate=True) for of in rated if of.is_compared]
    tested = tested_parts(parts, plan, of_tests, of_twins)
    compared = [comparison for part in tested for comparison in part.compared]
    describe_rows = partial(
        _description, observations, statistics, plan, ddof, rng, times, progress, rated, compared
    )
    p_anywhere = tested[0].p_anywhere if tested else None
    return TableDiagnosis(compared, describe_rows, p_anywhere)


def _part(groups: SampledGroups, *, is_rate: bool = False) -> ComparedPart:
    return ComparedPart(lambda: groups, is_rate)


def _description(
    observations: Observations,
    statistics: Sequence[Statistic],
    plan: ComparisonPlan,
    ddof: int,
    rng: np.random.Generator,
    times: int,
    progress: Progress,
    rated: Sequence[RatedGroups],
    compared: Sequence[GroupComparison],
) -> TableDescription:
    description, crossings = TableDescription(), groupings(observations)
    for done, crossing in enumerate(crossings):
        progress(crossing.name, done, len(crossings))
        described = describe(
            observations,
            crossing,
            statistics,
            alpha=plan.alpha,
            ddof=ddof,
            permutations=times,
            rng=rng,
            claim=plan.claim,
        )
        description.statistics.extend(described.statistics)
        description.disparities.extend(described.disparities)
        description.overall.extend(described.overall)
        description.means.extend(described.means)
        if len(crossing.dimensions) == 1:
            missing = missingness_by_group(observations, crossing, alpha=plan.alpha, rng=rng)
            description.missingness.extend(missing)
    description.error_rates.extend(group_rates(rated))
    description.parities.extend(parities(rated, compared))
    description.calibration.extend(calibration_bins(rated, plan.alpha))
    description.interactions.extend(interactions(observations, crossings, plan.alpha))
    progress("", len(crossings), len(crossings))
    return description
