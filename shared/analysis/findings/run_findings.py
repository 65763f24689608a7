"""Findings of a run: its statistics as records."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import Any

import numpy as np

from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.group_disparities import MIN_GROUPS, DisparityStatistic
from biaswatch.shared.analysis.findings.group_ranks import ranked_by_gaps, with_ranks
from biaswatch.shared.analysis.findings.group_statistics import (
    GroupingDescription,
    GroupIntervals,
    GroupStatistic,
    describe,
    missingness_by_group,
)
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan, Grouping
from biaswatch.shared.analysis.findings.measured_columns import MeasuredColumns
from biaswatch.shared.analysis.findings.observations import Observations, Whole
from biaswatch.shared.contracts import (
    Gap,
    GroupDisparity,
    GroupInteraction,
    GroupParity,
    GroupSummary,
    MissingTest,
    OverallTest,
    Verdict,
)
from biaswatch.shared.formatting import TOO_SMALL, computed_p
from biaswatch.shared.lookup import first
from biaswatch.shared.stats.comparisons.mean_interval import impact_ratio_of_means
from biaswatch.shared.stats.groups.registry import SelectionRate, SelectionStandard
from biaswatch.shared.stats.groups.summary import Mean, Median, StandardDeviation
from biaswatch.shared.stats.samples import within_deviation

SELECTION_RATE = "selection_rate"


def overall_record(described: GroupingDescription, feature: str) -> OverallTest | None:
    """Return the test over all groups, where there are three or more."""
    tests = [test for test in described.overall if test.feature == feature]
    return OverallTest.model_validate(tests[0], from_attributes=True) if tests else None


def disparity_records(described: GroupingDescription, feature: str) -> tuple[GroupDisparity, ...]:
    """Return how far the groups lie apart in each statistic."""
    return tuple(
        GroupDisparity.model_validate(disparity, from_attributes=True)
        for disparity in described.disparities
        if disparity.feature == feature
    )


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
        for disparity in described.disparities:
            yield replace(disparity, statistic=SELECTION_RATE)


STATISTICS = (Mean(), Median(), StandardDeviation())
"""The mean first; the others are shown beside it."""
NOT_FINITE = "not finite, or beyond 1e150"
OUTSIDE = "outside the declared range"


@dataclass(frozen=True, order=True)
class FindingKey:
    """One feature over one dimension, for one target and scaffold."""

    target: str
    scaffold: str
    extractor: str
    feature: str
    dimension: str


@dataclass(frozen=True)
class RunFinding:
    """Results of one feature over one dimension, or under one stratum, in a run."""

    key: FindingKey
    groups: tuple[GroupSummary, ...]
    gaps: tuple[Gap, ...] = ()
    disparities: tuple[GroupDisparity, ...] = ()
    missing: MissingTest | None = None
    family: int = 0
    overall: OverallTest | None = None
    p_anywhere: float | None = None
    """For no twins of the run that are treated differently."""
    random: tuple[str, ...] = ()
    """The random factors."""
    is_error_rate: bool = False
    """True for an error rate against the truth, which is in another family than answers."""
    is_stratum: bool = False
    """True for conditions of the question, which are described and never compared."""
    parities: tuple[GroupParity, ...] = ()
    """How far the groups are from equal error rates."""
    interactions: tuple[GroupInteraction, ...] = ()
    """Tests that its effect adds up with that of another dimension."""


@dataclass(frozen=True)
class GroupedResponses:
    """Measurements of one extractor for one target and scaffold, grouped by one dimension."""

    responses: MeasuredColumns
    sampled: SampledGroups
    """The groups, ready to be compared."""
    selected: GroupIntervals
    """1 for a selected answer, 0 for any other."""

    @property
    def observations(self) -> Observations:
        """One row for each response."""
        return self.sampled.observations

    @property
    def grouping(self) -> Grouping:
        """The groups of the dimension."""
        return self.sampled.grouping


def findings(
    part: GroupedResponses,
    compared: Sequence[GroupComparison],
    family: int,
    plan: AnalysisPlan,
    rng: np.random.Generator,
) -> Iterator[RunFinding]:
    """Return a finding for every feature of a part, with its corrected comparisons."""
    of, groups = part.responses, range(len(part.grouping.groups))
    many = len(groups) >= MIN_GROUPS
    units = part.sampled.unit_counts()
    part.sampled.free_units()  # before the tables of all groups are made
    described = describe(
        part.observations,
        part.grouping,
        STATISTICS,
        alpha=plan.alpha,
        ddof=1,
        permutations=plan.permutations if many else 0,
        rng=rng,
        claim=plan.claim,
    )
    if many and plan.permutations:
        rates = selection_disparities(part.observations, part.grouping, plan, rng.spawn(1)[0])
        described = replace(described, disparities=(*described.disparities, *rates))
    missing = missingness_by_group(part.observations, part.grouping, alpha=plan.alpha, rng=rng)
    by_group = _by_group(described)
    for index, (feature, missingness) in enumerate(
        zip(part.observations.features, missing, strict=True)
    ):
        of_groups = by_group[feature]
        summaries = tuple(
            _summary(part, code, index, plan, of_groups[code], int(units[code, index]))
            for code in groups
        )
        gaps = tuple(
            _gap(part, comparison, index, plan)
            for comparison in compared
            if comparison.feature == feature
        )
        yield RunFinding(
            FindingKey(of.target, of.scaffold, of.extractor, feature, part.grouping.name),
            ranked_by_gaps(with_ranks(summaries, described, feature), gaps),
            gaps,
            disparity_records(described, feature) if many else (),
            MissingTest(
                p_value=missingness.test.p_value,
                method=missingness.test.method,
                reason=missingness.test.reason,
            ),
            family,
            overall_record(described, feature),
            random=tuple(part.observations.random),
        )


def _by_group(described: GroupingDescription) -> dict[str, list[list[GroupStatistic]]]:
    """Return, by feature and group, the statistics in the order of `STATISTICS`."""
    by_group: dict[str, dict[str, list[GroupStatistic]]] = defaultdict(lambda: defaultdict(list))
    for statistic in described.statistics:
        by_group[statistic.feature][
            first(statistic.group.values(), "A group has no level.")
        ].append(statistic)
    return {feature: list(groups.values()) for feature, groups in by_group.items()}


def _summary(
    part: GroupedResponses,
    code: int,
    index: int,
    plan: AnalysisPlan,
    of_group: Sequence[GroupStatistic],
    units: int,
) -> GroupSummary:
    rows = np.flatnonzero(part.grouping.codes == code)
    reasons = _reasons(part, rows, index)
    valued = rows[np.isfinite(part.observations.values[rows, index])]
    values, prompts = part.observations.values[valued, index], part.observations.unit_codes[valued]
    rate = None
    if part.observations.features[index] in (plan.selected_at_least or {}):
        rate = part.selected.rate(code, index)
    return GroupSummary(
        group=part.grouping.groups[code].name,
        responses=len(rows),
        missing=reasons.total(),
        missing_reasons=dict(sorted(reasons.items())),
        reservations=part.responses.reservations_among(valued),
        units=units,
        mean=of_group[0].estimate,
        answer_sd=within_deviation(values, prompts),
        selection_rate=rate,
        statistics={statistic.statistic: statistic.value for statistic in of_group[1:]},
    )


def _reasons(part: GroupedResponses, rows: Whole, index: int) -> Counter[str]:
    """Count why answers of a group have no value."""
    feature = part.observations.features[index]
    reasons: Counter[str] = Counter()
    numbers = part.responses.column(feature)
    for row in rows[~np.isfinite(part.observations.values[rows, index])].tolist():
        value = float(numbers[row])
        if isnan(value):
            reasons[part.responses.why_missing(row)] += 1
        elif not isfinite(value):
            reasons[NOT_FINITE] += 1
        else:
            reasons[OUTSIDE] += 1
    return reasons


def _gap(part: GroupedResponses, compared: GroupComparison, index: int, plan: AnalysisPlan) -> Gap:
    impact = None
    if compared.feature in (plan.selected_at_least or {}):
        codes = {group.name: code for code, group in enumerate(part.grouping.groups)}
        a = part.selected.units.values(codes[compared.a], index)
        if compared.b in codes:
            b = part.selected.units.values(codes[compared.b], index)
        else:
            rest = part.selected.units.rest(codes[compared.a]).by_unit.values[:, index]
            b = rest[np.isfinite(rest)]
        impact = impact_ratio_of_means(a.tolist(), b.tolist(), plan.alpha)
    conclusion, by_set = compared.conclusion, compared.by_set
    statistics: dict[str, Any] = {
        name: computed_p(value) if isinstance(value, float) and name.endswith("_p") else value
        for name, value in compared.statistics.items()
        if name in Gap.model_fields
    }
    return Gap(
        a=compared.a,
        b=compared.b,
        gap=compared.gap,
        by_itself=compared.by_itself,
        twin_shift=compared.twin_shift,
        p_value=computed_p(compared.p_value),
        p_adjusted=computed_p(compared.p_adjusted),
        p_equivalence=computed_p(compared.p_equivalence_adjusted),
        p_reason=TOO_SMALL if compared.p_value == 0 else None,
        impact_ratio=impact,
        by_set=by_set.marginal if by_set else None,
        by_set_p=computed_p(by_set.p_disparity) if by_set else None,
        survives_missing=compared.survives_missing,
        reason=conclusion.reason if conclusion else None,
        **(dict(compared.verdicts) if compared.verdicts else {"verdict": Verdict.INCONCLUSIVE}),
        **statistics,
    )
