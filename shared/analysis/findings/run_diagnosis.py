"""The diagnosis of a closed run: every feature over every dimension, in one family."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from biaswatch.shared.analysis.findings.comparisons import compare, corrected
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_intervals import GroupIntervals
from biaswatch.shared.analysis.findings.groupings import grouping
from biaswatch.shared.analysis.findings.measured_columns import MeasuredColumns
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.plans import AnalysisPlan
from biaswatch.shared.analysis.findings.run_findings import GroupedResponses, RunFinding, findings


def diagnose(
    measured: Sequence[MeasuredColumns], plan: AnalysisPlan, rng: np.random.Generator
) -> list[RunFinding]:
    """Return a finding for each feature and dimension; all comparisons are one family.

    The responses of a part are grouped anew each time they are looked at, and let go of in between:
    of a million, groups with their units take more memory than all else.
    """
    parts = list(_parts(measured, plan))
    family = max(1, sum(part.grouped(plan).sampled.declared for part in parts))
    made = [list(compare(part.grouped(plan).sampled, rng, family)) for part in parts]
    every = corrected([each for some in made for each in some], plan.comparisons, family)
    ends = list(accumulate(map(len, made)))
    found: list[RunFinding] = []
    for part, some, end in zip(parts, made, ends, strict=True):
        compared = every[end - len(some) : end]
        found.extend(findings(part.grouped(plan), compared, family, plan, rng))
    return sorted(found, key=lambda finding: finding.key)


@dataclass(frozen=True)
class _Part:
    responses: MeasuredColumns
    features: Sequence[str]
    dimension: str

    def grouped(self, plan: AnalysisPlan) -> GroupedResponses:
        observations = self.responses.observations(self.features, plan.ranges)
        groups = grouping(observations, (self.dimension,))
        selected = _selected(observations, plan)
        return GroupedResponses(
            responses=self.responses,
            sampled=SampledGroups(observations, groups, plan.comparisons),
            selected=GroupIntervals(selected, groups, plan.claim, plan.alpha),
        )


def _parts(measured: Sequence[MeasuredColumns], plan: AnalysisPlan) -> Iterator[_Part]:
    for some in measured:
        if names := plan.features_of(some.extractor, some.features):
            yield from (_Part(some, names, dimension) for dimension in some.dimensions)


def _selected(observations: Observations, plan: AnalysisPlan) -> Observations:
    """Return 1 for every value at or above its feature's threshold, 0 below; nan without one."""
    thresholds = plan.selected_at_least or {}
    if not thresholds:  # of a million responses, a copy would be large
        return replace(observations, values=np.broadcast_to(np.nan, observations.values.shape))
    limits = np.array([thresholds.get(name, np.nan) for name in observations.features])
    known = np.isfinite(observations.values) & np.isfinite(limits)
    return replace(observations, values=np.where(known, observations.values >= limits, np.nan))
