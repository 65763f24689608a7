"""What all groups of a dimension show together, in the words of a run's records."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from biaswatch.shared.analysis.findings.group_disparities import DisparityStatistic
from biaswatch.shared.analysis.findings.group_statistics import GroupingDescription, describe
from biaswatch.shared.analysis.findings.groupings import Grouping
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.plans import AnalysisPlan
from biaswatch.shared.contracts import Estimate, GroupDisparity, GroupSummary, OverallTest
from biaswatch.shared.lookup import first
from biaswatch.shared.stats.groups.registry import SelectionRate, SelectionStandard

SELECTION_RATE = "selection_rate"


def overall_record(described: GroupingDescription, feature: str) -> OverallTest | None:
    """Return the test over all groups, where there are three or more."""
    found = [each for each in described.overall if each.feature == feature]
    return OverallTest.model_validate(found[0], from_attributes=True) if found else None


def disparity_records(described: GroupingDescription, feature: str) -> tuple[GroupDisparity, ...]:
    """Return how far the groups lie apart in each statistic."""
    return tuple(
        GroupDisparity.model_validate(each, from_attributes=True)
        for each in described.disparities
        if each.feature == feature
    )


def with_standing(
    groups: tuple[GroupSummary, ...], described: GroupingDescription, feature: str
) -> tuple[GroupSummary, ...]:
    """Add each group's shrunken mean and its rank, where there are three groups or more."""
    found = {}
    for each in described.means:
        if each.feature == feature:
            shrunken = Estimate(
                value=each.shrunken_mean, method=each.shrunken_method, reason=each.shrunken_reason
            )
            rank = Estimate(
                value=each.rank, low=each.rank_low, high=each.rank_high, method=each.rank_method,
                reason=None if each.rank is not None else each.shrunken_reason,
            )  # fmt: skip
            found[first(each.group.values(), "A group has no level.")] = {
                "shrunken_mean": shrunken,
                "rank": rank,
            }
    return tuple(each.model_copy(update=found.get(each.group, {})) for each in groups)


def selection_disparities(
    observations: Observations, grouping: Grouping, plan: AnalysisPlan, rng: np.random.Generator
) -> Iterator[DisparityStatistic]:
    """Return how far the selection rates lie apart, of features that say what a selection is."""
    for feature, threshold in (plan.selected_at_least or {}).items():
        if feature not in observations.features:
            continue
        column = observations.values[:, [observations.features.index(feature)]]
        alone = replace(observations, features=(feature,), values=column)
        rate = SelectionRate(
            f"sr_{SELECTION_RATE}", "larger", SelectionStandard("fixed", threshold)
        )
        described = describe(
            alone, grouping, (rate,),
            alpha=plan.alpha, ddof=1, permutations=plan.permutations, rng=rng,
        )  # fmt: skip
        for each in described.disparities:
            yield replace(each, statistic=SELECTION_RATE)
