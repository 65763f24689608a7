"""The corrected values of the groups of one dimension: their means, gaps and ratios."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.gap_samples import FEW_CLUSTERS, SampledGroups
from biaswatch.shared.analysis.findings.groupings import ComparedGroups
from biaswatch.shared.analysis.findings.observations import Floats
from biaswatch.shared.analysis.labels.corrected_groups import CorrectedGroups
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.comparisons.compared_samples import LEAST_UNITS
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.estimate import IntervalEstimate, undefined
from biaswatch.shared.stats.labels.corrected_gap import (
    CorrectedSide,
    corrected_gap,
    corrected_mean,
    corrected_ratio,
)
from biaswatch.shared.stats.labels.corrected_values import LEAST_LABELS, corrected_values
from biaswatch.shared.stats.labels.sampling import widest_share


@dataclass(frozen=True)
class GroupsByLabels:
    """Groups as labels correct them; of a large window, they are let go of when they were asked."""

    groups: CorrectedGroups

    @cached_property
    def _corrected(self) -> tuple[Floats, dict[int, CorrectedSide], dict[int, float]]:
        """Return corrected values of all rows, and what is known of each group that has enough."""
        of = self.groups
        values = np.full(len(of.grouping.codes), np.nan)
        sides, tunings = {}, {}
        for group, labels in enumerate(of.labels_of):
            if labels < LEAST_LABELS:
                continue
            rows = of.of_group(group)
            found = corrected_values(of.rows.read(rows), of.rows.drawn.among(rows), of.bounds)
            values[rows] = found.values
            sides[group], tunings[group] = CorrectedSide.of(found), found.tuning
        return values, sides, tunings

    @cached_property
    def sampled(self) -> SampledGroups:
        """The groups with corrected values; the claim is about what prompts were drawn from."""
        plan = replace(self.groups.plan, claim=Claim.POPULATION)
        seen = self.groups.observations(self._corrected[0], {self.groups.feature: None})
        return SampledGroups(seen, self.groups.grouping, plan)

    def tuning(self, group: int) -> float | None:
        """Return how much a reading of a group counts; None where it has too few labels."""
        return self._corrected[2].get(group)

    def units_of(self, group: int) -> int:
        """Return how many prompts, or users, the answers of a group are of."""
        units = self.sampled.observations.unit_codes[self.groups.of_group(group)]
        units.sort()
        return int((units[1:] != units[:-1]).sum()) + min(1, len(units))

    def widest_share(self, group: int) -> float | None:
        """Return how far the interval of a mean can reach where labels hardly vary; else None."""
        side = self._corrected[1].get(group)
        if side is None or side.regular:
            return None
        answers, labels = int(self.groups.of_group(group).sum()), self.groups.labels_of[group]
        return widest_share(answers, self.units_of(group), labels, self.groups.plan.alpha)

    def mean(self, group: int) -> IntervalEstimate:
        """Return a group's corrected mean."""
        side = self._corrected[1].get(group)
        if side is None:
            return undefined(self.groups.lacking([group]))
        units = self.sampled.units.independent(group, 0)
        return corrected_mean(units, side, self.groups.bounds, self.groups.plan.alpha)

    def gap(self, pair: ComparedGroups, family: int) -> GapResult:
        """Return the corrected gap of a pair."""
        plan = self.groups.plan
        if not self.groups.comparable(pair):
            nothing = undefined(self._lacking(pair))
            return GapResult(nothing, nothing, None, None)
        a, b = self.sampled.pair_of(pair)
        samples = self.sampled.sampled(a, b, 0, None)
        found = corrected_gap(
            samples, *self._sides(pair), alpha=plan.alpha, tolerance=plan.tolerance, family=family
        )
        width = self.groups.bounds[1] - self.groups.bounds[0]
        found = replace(
            found,
            marginal=_within(found.marginal, width),
            simultaneous=_within(found.simultaneous, width),
        )
        few = not samples.testable and min(len(samples.only_a), len(samples.only_b)) >= LEAST_UNITS
        if few and (a.clustered or b.clustered):
            nothing = undefined(FEW_CLUSTERS, value=found.marginal.value)
            return GapResult(nothing, nothing, None, None)
        return found

    def ratio(self, pair: ComparedGroups) -> IntervalEstimate:
        """Return the ratio of a pair's means."""
        if not self.groups.comparable(pair):
            return undefined(self._lacking(pair))
        samples = self.sampled.sampled(*self.sampled.pair_of(pair), 0, None)
        return corrected_ratio(samples, *self._sides(pair), alpha=self.groups.plan.alpha)

    def _sides(self, pair: ComparedGroups) -> tuple[CorrectedSide, CorrectedSide]:
        a, b = (
            _joined([self._corrected[1][group] for group in side])
            for side in self.groups.members(pair)
        )
        return a, b

    def _lacking(self, pair: ComparedGroups) -> str:
        return self.groups.lacking([group for side in self.groups.members(pair) for group in side])


def _within(gap: IntervalEstimate, width: float) -> IntervalEstimate:
    """Return a gap whose limits leave out what no gap on the scale can be."""
    if gap.value is None or gap.low is None or gap.high is None:
        return gap
    low, high = max(gap.low, -width), min(gap.high, width)
    return replace(gap, low=min(low, gap.value), high=max(high, gap.value))


def _joined(sides: Sequence[CorrectedSide]) -> CorrectedSide:
    """Return what is known of several groups together."""
    return CorrectedSide(
        bounds=(min(s.bounds[0] for s in sides), max(s.bounds[1] for s in sides)),
        usual_bounds=(min(s.usual_bounds[0] for s in sides), max(s.usual_bounds[1] for s in sides)),
        regular=all(side.regular for side in sides),
        labelled=sum(side.labelled for side in sides) - 2 * (len(sides) - 1),
    )
