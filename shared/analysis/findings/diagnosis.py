"""The diagnosis of a closed run, of its strata, and of a table."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from biaswatch.shared.analysis.findings.error_rates import RatedGroups, rate_name, rates_of
from biaswatch.shared.analysis.findings.families import ComparedPart, tested_parts
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.group_statistics import GroupIntervals
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan, crossed_name, grouping
from biaswatch.shared.analysis.findings.interactions import DIFFERENCE, Interaction, interactions
from biaswatch.shared.analysis.findings.measured_columns import MeasuredColumns
from biaswatch.shared.analysis.findings.observations import Observations, within
from biaswatch.shared.analysis.findings.parities import parities
from biaswatch.shared.analysis.findings.run_findings import (
    NOT_FINITE,
    FindingKey,
    GroupedResponses,
    RunFinding,
    findings,
)
from biaswatch.shared.analysis.findings.scales import scaled_run
from biaswatch.shared.analysis.findings.strata import at_levels, crossed_with
from biaswatch.shared.contracts import Gap, GroupInteraction, GroupParity, GroupSummary, OwnGap
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.groups.error_rates import Rate

Source = tuple[str, str, str]


def diagnose(
    measured: Sequence[MeasuredColumns], plan: AnalysisPlan, rng: np.random.Generator
) -> list[RunFinding]:
    """Return a finding for each feature and dimension, in a family of answers or of error rates.

    The responses of a part are grouped again for each use and freed in between.
    """
    measured, plan = scaled_run(measured, plan)
    levels = list(at_levels(measured, plan.gaps_by))
    named = {
        name for columns in (*measured, *(of for of, _ in levels)) for name in columns.features
    }
    plan = plan.with_derived(named)
    parts_and_rates = [*_parts(measured, plan), *_parts_at_levels(levels, plan)]
    parts = [part for part in parts_and_rates if part.rate is None or not part.rate.is_feature]
    compared_parts = [
        ComparedPart(
            partial(_sampled, part, plan),
            part.rate is not None,
            source="\n".join((*part.source, part.level)),
        )
        for part in parts
    ]
    tested = tested_parts(compared_parts, plan.comparisons, rng, rng.spawn(1)[0])
    diagnosed: list[RunFinding] = []
    of_source: dict[Source, list[GroupComparison]] = defaultdict(list)
    for part, of in zip(parts, tested, strict=True):
        of_source[part.source] += of.compared
        diagnosed.extend(
            replace(finding, p_anywhere=of.p_anywhere, is_error_rate=part.rate is not None)
            for finding in findings(part.grouped(plan), of.compared, of.family, plan, rng)
        )
    measures = _parities(parts_and_rates, of_source, plan)
    crossed = _interactions(measured, plan)
    diagnosed = [
        replace(
            finding, parities=tuple(measures[finding.key]), interactions=tuple(crossed[finding.key])
        )
        for finding in diagnosed
    ]
    return sorted(diagnosed, key=lambda finding: finding.key)


def _parities(
    parts: Iterable["_Part"],
    of_source: Mapping[Source, Sequence[GroupComparison]],
    plan: AnalysisPlan,
) -> Mapping[FindingKey, list[GroupParity]]:
    """Return the parities of features with error rates, by the finding of the feature."""
    rated: dict[Source, list[RatedGroups]] = defaultdict(list)
    for part in parts:
        if part.rate is not None:
            sampled = part.grouped(plan).sampled
            rated[part.source].append(RatedGroups(**vars(part.rate), sampled=sampled))
    measures: dict[FindingKey, list[GroupParity]] = defaultdict(list)
    for source, rates in rated.items():
        for measure in parities(rates, of_source[source]):
            key = FindingKey(*source, measure.feature, measure.dimension)
            measures[key].append(GroupParity.model_validate(measure, from_attributes=True))
    return measures


def _interactions(
    measured: Sequence[MeasuredColumns], plan: AnalysisPlan
) -> Mapping[FindingKey, list[GroupInteraction]]:
    """Return the tests that two dimensions add up, by the finding of the first of them."""
    tests = [test for columns in measured for test in _interactions_of(columns, plan)]
    family = sum(test.test.p_value is not None for _, test in tests)
    by_finding: dict[FindingKey, list[GroupInteraction]] = defaultdict(list)
    for source, test in tests:
        p_value = test.test.p_value
        by_finding[FindingKey(*source, test.feature, test.dimensions[0])].append(
            GroupInteraction(
                dimensions=crossed_name(test.dimensions),
                p_adjusted=None if p_value is None else min(1.0, family * p_value),
                contrast=replace(test.contrast, reason=test.test.reason),
                contrast_of=test.contrast_of,
            )
        )
    return by_finding


def _interactions_of(
    columns: MeasuredColumns, plan: AnalysisPlan
) -> Iterator[tuple[Source, Interaction]]:
    """Yield the tests of two dimensions, and of a dimension and a stratum that gaps are by."""
    names = plan.features_of(columns.extractor, columns.features)
    crossed = [(columns, list(combinations(columns.dimensions, 2)))]
    for stratum in plan.gaps_by:
        pairs = [(dimension, stratum) for dimension in columns.dimensions]
        crossed.append((crossed_with(columns, stratum), pairs))
    for of, pairs in crossed:
        if names and pairs:
            observations = of.observations(names, plan.ranges)
            crossings = [grouping(observations, pair) for pair in pairs]
            tests = interactions(observations, crossings, plan.alpha)
            yield from ((columns.source, test) for test in tests if test.scale == DIFFERENCE)


@dataclass(frozen=True)
class RateOf:
    """A rate of a feature, as a part of a run."""

    feature: str
    rate: Rate
    is_feature: bool
    """True where it is the mean of the feature itself, which is compared already."""


@dataclass(frozen=True)
class _Part:
    responses: MeasuredColumns
    features: Sequence[str]
    dimension: str
    bounds: Bounds | None = None
    """The range of a single feature that the plan does not name."""
    rate: RateOf | None = None
    """The rate that the single feature is."""
    level: str = ""
    """The level of a stratum that the responses are under, if they are under one alone."""

    @property
    def source(self) -> Source:
        """Whose answers they are: target, scaffold and extractor."""
        return self.responses.source

    def grouped(self, plan: AnalysisPlan) -> GroupedResponses:
        ranges = dict.fromkeys(self.features, self.bounds) if self.bounds else plan.ranges
        observations = self.responses.observations(self.features, ranges)
        groups = grouping(observations, (self.dimension,))
        selected = _selected(observations, plan)
        return GroupedResponses(
            responses=self.responses,
            sampled=SampledGroups(observations, groups, plan.comparisons),
            selected=GroupIntervals(selected, groups, plan.claim, plan.alpha),
        )


def _sampled(part: _Part, plan: AnalysisPlan) -> SampledGroups:
    return part.grouped(plan).sampled


def _parts(measured: Sequence[MeasuredColumns], plan: AnalysisPlan) -> Iterator[_Part]:
    for columns in measured:
        if names := plan.features_of(columns.extractor, columns.features):
            yield from (_Part(columns, names, dimension) for dimension in columns.dimensions)
        for part, bounds, rate in _rated(columns, names, plan):
            yield from (_Part(part, part.features, d, bounds, rate) for d in columns.dimensions)


def _parts_at_levels(
    levels: Sequence[tuple[MeasuredColumns, str]], plan: AnalysisPlan
) -> Iterator[_Part]:
    for columns, level in levels:
        if names := plan.wanted(columns.features):
            for dimension in columns.dimensions:
                yield _Part(columns, names, dimension, level=level)


def _rated(
    columns: MeasuredColumns, names: Sequence[str], plan: AnalysisPlan
) -> Iterator[tuple[MeasuredColumns, Bounds, RateOf]]:
    """Yield the responses that each declared error rate is about, its range, and which it is."""
    if columns.truth is None:
        return
    thresholds = plan.selected_at_least or {}
    for feature in (name for name in names if name in plan.error_rates):
        values = within(columns.column(feature), plan.ranges.get(feature))
        for rated in rates_of(feature, values, columns.truth, thresholds.get(feature)):
            if rated.rows.any():
                of = RateOf(feature, rated.rate, rated.is_feature)
                name = feature if rated.is_feature else rate_name(feature, rated.rate)
                part = columns.of_rows(np.flatnonzero(rated.rows), name, rated.values)
                yield part, rated.bounds, of


def _selected(observations: Observations, plan: AnalysisPlan) -> Observations:
    """Return 1 for every value at or above its feature's threshold, 0 below; nan without one."""
    thresholds = plan.selected_at_least or {}
    if not thresholds:  # of a million responses, a copy would be large
        return replace(observations, values=np.broadcast_to(np.nan, observations.values.shape))
    limits = np.array([thresholds.get(name, np.nan) for name in observations.features])
    known = np.isfinite(observations.values) & np.isfinite(limits)
    return replace(observations, values=np.where(known, observations.values >= limits, np.nan))


def describe_strata(measured: Sequence[MeasuredColumns], plan: AnalysisPlan) -> list[RunFinding]:
    """Return a description of each feature under each stratum; empty without strata."""
    plan = plan.with_derived(name for columns in measured for name in columns.features)
    descriptions = (
        description for columns in measured for description in _described(columns.by_stratum, plan)
    )
    return sorted(descriptions, key=lambda description: description.key)


def _described(responses: MeasuredColumns, plan: AnalysisPlan) -> Iterator[RunFinding]:
    of = (responses.target, responses.scaffold, responses.extractor)
    for name in responses.dimensions:
        for feature in plan.features_of(responses.extractor, responses.features):
            summaries = tuple(_summaries(responses, feature, name, plan))
            yield RunFinding(FindingKey(*of, feature, name), summaries, is_stratum=True)


def _summaries(
    responses: MeasuredColumns, feature: str, name: str, plan: AnalysisPlan
) -> Iterator[GroupSummary]:
    observations, numbers = (
        responses.observations((feature,), plan.ranges),
        responses.column(feature),
    )
    levels = grouping(observations, (name,))
    of = GroupIntervals(observations, levels, plan.claim, plan.alpha)
    for code, level in enumerate(levels.groups):
        rows = np.flatnonzero(levels.codes == code)
        lacking = rows[~np.isfinite(numbers[rows])].tolist()
        reasons = Counter(
            responses.why_missing(row) if np.isnan(numbers[row]) else NOT_FINITE for row in lacking
        )
        yield GroupSummary(
            group=level.name,
            responses=len(rows),
            missing=reasons.total(),
            missing_reasons=dict(sorted(reasons.items())),
            units=len(of.units.values(code, 0)),
            mean=of.mean(code, 0),
        )


def with_own_gaps(finding: RunFinding, own: Sequence[OwnGap]) -> RunFinding:
    """Add the extractor's own gap between the two names to each gap, where it is calibrated."""
    own_gaps = [own_gap for own_gap in own if own_gap.feature == finding.key.feature]
    gaps = (gap.model_copy(update={"instrument": _between(gap, own_gaps)}) for gap in finding.gaps)
    return replace(finding, gaps=tuple(gaps))


def _between(gap: Gap, own: Sequence[OwnGap]) -> Estimate | None:
    """Find the gap of the same two names, whatever their case and their order."""
    names = (gap.a.casefold(), gap.b.casefold())
    for own_gap in own:
        known = (own_gap.a.casefold(), own_gap.b.casefold())
        if known == names:
            return own_gap.gap
        if known == names[::-1]:
            return -own_gap.gap
    return None
