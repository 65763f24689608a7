"""Strata of a run: how answers lie under each condition of the question, without comparing them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.findings.group_intervals import GroupIntervals
from biaswatch.shared.analysis.findings.groupings import grouping
from biaswatch.shared.analysis.findings.measured_columns import MeasuredColumns
from biaswatch.shared.analysis.findings.plans import AnalysisPlan
from biaswatch.shared.analysis.findings.run_findings import (
    NOT_FINITE,
    UNDEFINED,
    FindingKey,
    estimate_record,
)
from biaswatch.shared.contracts import GroupSummary


@dataclass(frozen=True)
class StratumDescription:
    """One feature under each level of one stratum, for one target and scaffold."""

    key: FindingKey
    groups: tuple[GroupSummary, ...]


def describe_strata(
    measured: Sequence[MeasuredColumns], plan: AnalysisPlan
) -> list[StratumDescription]:
    """Return a description of each feature under each stratum; there is none without strata."""
    found = (each for some in measured for each in _described(some.by_stratum, plan))
    return sorted(found, key=lambda each: each.key)


def _described(responses: MeasuredColumns, plan: AnalysisPlan) -> Iterator[StratumDescription]:
    of = (responses.target, responses.scaffold, responses.extractor)
    for name in responses.dimensions:
        for feature in plan.features_of(responses.extractor, responses.features):
            summaries = tuple(_summaries(responses, feature, name, plan))
            yield StratumDescription(FindingKey(*of, feature, name), summaries)


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
            (responses.why_missing(row) or UNDEFINED) if np.isnan(numbers[row]) else NOT_FINITE
            for row in lacking
        )
        yield GroupSummary(
            group=level.name,
            responses=len(rows),
            missing=reasons.total(),
            missing_reasons=dict(sorted(reasons.items())),
            units=len(of.units.values(code, 0)),
            mean=estimate_record(of.mean(code, 0)),
        )
