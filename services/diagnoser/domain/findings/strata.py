"""Strata of a run: how answers lie under each condition of the question, without comparing them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from services.diagnoser.domain.findings.group_intervals import GroupIntervals
from services.diagnoser.domain.findings.groupings import grouping
from services.diagnoser.domain.findings.observations import (
    MeasuredResponse,
    by_extractor,
    observations_of,
)
from services.diagnoser.domain.findings.plans import AnalysisPlan
from services.diagnoser.domain.findings.run_findings import (
    NOT_FINITE,
    UNDEFINED,
    FindingKey,
    estimate_record,
)
from shared.contracts import GroupSummary


@dataclass(frozen=True)
class StratumDescription:
    """One feature under each level of one stratum, for one target and scaffold."""

    key: FindingKey
    groups: tuple[GroupSummary, ...]


def describe_strata(
    responses: Sequence[MeasuredResponse], plan: AnalysisPlan
) -> list[StratumDescription]:
    """Return a description of each feature under each stratum; there is none without strata."""
    if not any(response.strata for response in responses):
        return []
    found = (each for some in by_extractor(responses) for each in _described(some, plan))
    return sorted(found, key=lambda each: each.key)


def _described(
    responses: Sequence[MeasuredResponse], plan: AnalysisPlan
) -> Iterator[StratumDescription]:
    first = responses[0]
    names = sorted({name for response in responses for name in response.strata})
    levelled = [replace(response, groups=response.strata) for response in responses]
    for feature in _features(responses, plan):
        for name in names:
            key = FindingKey(first.target, first.scaffold, first.extractor, feature, name)
            yield StratumDescription(key, tuple(_summaries(levelled, feature, name, plan)))


def _features(responses: Sequence[MeasuredResponse], plan: AnalysisPlan) -> list[str]:
    """Return the features an extractor measures and the plan wants, sorted."""
    measured = {name for response in responses for name in response.values}
    measured |= set(plan.measured.get(responses[0].extractor, ()))
    return sorted(measured & set(plan.features) if plan.features else measured)


def _summaries(
    responses: Sequence[MeasuredResponse], feature: str, name: str, plan: AnalysisPlan
) -> Iterator[GroupSummary]:
    given = [response.values.get(feature) for response in responses]
    observations = observations_of(responses, {feature: given}, plan.ranges)
    levels = grouping(observations, (name,))
    of = GroupIntervals(observations, levels, plan.claim, plan.alpha)
    for code, level in enumerate(levels.groups):
        rows = np.flatnonzero(levels.codes == code).tolist()
        reasons = Counter(filter(None, (_why_missing(responses[row], feature) for row in rows)))
        yield GroupSummary(
            group=level.name,
            responses=len(rows),
            missing=reasons.total(),
            missing_reasons=dict(sorted(reasons.items())),
            units=len(of.units.values(code, 0)),
            mean=estimate_record(of.mean(code, 0)),
        )


def _why_missing(response: MeasuredResponse, feature: str) -> str | None:
    """Return why an answer has no number, or None where it has one."""
    value = response.values.get(feature)
    if value is None:
        return response.why_missing or UNDEFINED
    return None if isfinite(value) else NOT_FINITE
