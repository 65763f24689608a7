"""The groups of one dimension: what an instrument read of them, and how many people labelled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.gap_samples import FEW_CLUSTERS, SampledGroups
from biaswatch.shared.analysis.findings.groupings import (
    ComparisonPlan,
    Grouping,
    GroupPair,
    grouping,
)
from biaswatch.shared.analysis.findings.observations import Observations, within
from biaswatch.shared.analysis.labels.labelled_rows import LabelledRows
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.comparisons.compared_samples import MIN_UNITS, Bounds
from biaswatch.shared.stats.comparisons.gap_test import GapResult
from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.labels.agreement import LabelledReadings
from biaswatch.shared.stats.labels.corrected_gap import (
    CorrectedSide,
    corrected_gap,
    corrected_mean,
    corrected_ratio,
)
from biaswatch.shared.stats.labels.corrected_values import MIN_LABELS, corrected_values
from biaswatch.shared.stats.labels.sampling import widest_share
from biaswatch.shared.stats.samples import chunks


@dataclass(frozen=True)
class CorrectedGroups:
    """The groups of one dimension: which there are, what was read of them, and who was labelled."""

    rows: LabelledRows
    feature: str
    dimension: str
    bounds: Bounds
    """The least and the largest value that a label can be."""
    plan: ComparisonPlan
    ranges: Mapping[str, Bounds | None]
    """The suite's plan, so that readings have the numbers of the run's findings."""

    @cached_property
    def grouping(self) -> Grouping:
        """The group of each row."""
        return grouping(self.observations(self._as_read, {}), (self.dimension,))

    @property
    def compared(self) -> list[GroupPair]:
        """Which groups are compared."""
        return self.grouping.compared(self.plan.against)

    def members(self, pair: GroupPair) -> tuple[list[int], list[int]]:
        """Return the groups of both sides."""
        return self.grouping.members(pair)

    def by_readings(self) -> SampledGroups:
        """Return the groups by readings; those of a large window are freed after use."""
        ends = self.ranges.get(self.feature)
        ranges = {} if ends is None else {self.feature: ends}
        seen = self.observations(within(self.rows.readings, ends), ranges)
        return SampledGroups(seen, self.grouping, self.plan)

    def of_group(self, group: int) -> Bools:
        """Return the rows of a group that have a reading and were drawn from."""
        return np.asarray((self.grouping.codes == group) & self.rows.present & self._possible)

    def read(self, group: int) -> int:
        """Return how many answers of a group have a reading."""
        return int(((self.grouping.codes == group) & self.rows.present).sum())

    def drawn(self, group: int) -> int:
        """Return how many answers of a group were drawn."""
        return int((self.grouping.codes[self.rows.drawn.rows] == group).sum())

    @cached_property
    def _possible(self) -> Bools:
        return self.rows.drawn.possible()

    def labelled(self, group: int) -> LabelledReadings:
        """Return the labelled answers of a group."""
        known, of = self.rows.drawn.labelled(), self.rows
        own = self.grouping.codes[known.rows] == group
        own &= of.present[known.rows] & np.isfinite(known.probabilities)
        return LabelledReadings(
            of.read(known.rows[own]), known.labels[own], 1 / known.probabilities[own]
        )

    def labelled_side(self, groups: Sequence[int]) -> LabelledReadings:
        """Return the labelled answers of several groups."""
        parts = [self.labelled(group) for group in groups]
        return LabelledReadings(
            *(
                np.concatenate([getattr(part, name) for part in parts])
                for name in ("readings", "labels", "weights")
            )
        )

    @cached_property
    def labels_of(self) -> tuple[int, ...]:
        """How many labelled answers each group has."""
        return tuple(len(self.labelled(group).labels) for group in range(len(self.grouping.groups)))

    def comparable(self, pair: GroupPair) -> bool:
        """Return whether every group of both sides has enough labels."""
        return all(
            self.labels_of[group] >= MIN_LABELS for side in self.members(pair) for group in side
        )

    def lacking(self, groups: Sequence[int]) -> str:
        """Say which of some groups have too few labels."""
        few = {
            self.grouping.groups[group].name: self.labels_of[group]
            for group in groups
            if self.labels_of[group] < MIN_LABELS
        }
        counts = ", ".join(f"{name} has {labels}" for name, labels in few.items())
        return f"a correction needs {MIN_LABELS} labels of each group: {counts}"

    def selected(self, threshold: float) -> "CorrectedGroups":
        """Return the same groups, compared by their shares of selected answers."""
        if self.bounds == (0.0, 1.0) and self.yes_or_no:
            return self
        ends = (0.0, 1.0)
        return replace(
            self, rows=self.rows.selected(threshold), bounds=ends, ranges={self.feature: ends}
        )

    @property
    def yes_or_no(self) -> bool:
        """True if every reading is at an end of the scale."""
        return self.rows.yes_or_no

    def rate_ratio(self, pair: GroupPair) -> float | None:
        """Return the ratio of the shares of both sides that are selected, where readings say it."""
        a, b = map(self._rate, self.members(pair))
        return a / b if a is not None and b is not None and b > 0 else None

    def _rate(self, side: Sequence[int]) -> float | None:
        """Return the share of a side's answers that is 1, where each is 0 or 1."""
        ones = answers = 0
        for chunk in chunks(len(self.grouping.codes)):
            own = np.isin(self.grouping.codes[chunk], side) & self.rows.present[chunk]
            answers += int(own.sum())
            ones += int(self.rows.read(chunk.start + np.flatnonzero(own)).sum())
        return ones / answers if answers else None

    @property
    def _as_read(self) -> Floats:
        return self.rows.answers.readings[self.feature]

    def observations(self, values: Floats, ranges: Mapping[str, Bounds | None]) -> Observations:
        """Return values of the rows as a table."""
        of = self.rows.answers
        return Observations(
            (self.feature,), values[:, None], of.groups, of.units, of.sets, ranges=ranges
        )


@dataclass(frozen=True)
class GroupsByLabels:
    """Groups as labels correct them; those of a large window are freed after use."""

    groups: CorrectedGroups

    @cached_property
    def _corrected(self) -> tuple[Floats, dict[int, CorrectedSide], dict[int, float]]:
        """Return corrected values of all rows, and what is known of each group that has enough."""
        of = self.groups
        values = np.full(len(of.grouping.codes), np.nan)
        sides, tunings = {}, {}
        for group, labels in enumerate(of.labels_of):
            if labels < MIN_LABELS:
                continue
            rows = of.of_group(group)
            corrected = corrected_values(of.rows.read(rows), of.rows.drawn.subset(rows), of.bounds)
            values[rows] = corrected.values
            sides[group], tunings[group] = CorrectedSide.of(corrected), corrected.tuning
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

    def mean(self, group: int) -> Estimate:
        """Return a group's corrected mean."""
        side = self._corrected[1].get(group)
        if side is None:
            return undefined(self.groups.lacking([group]))
        units = self.sampled.units.independent(group, 0)
        return corrected_mean(units, side, self.groups.bounds, self.groups.plan.alpha)

    def gap(self, pair: GroupPair, family: int) -> GapResult:
        """Return the corrected gap of a pair."""
        plan = self.groups.plan
        if not self.groups.comparable(pair):
            no_interval = undefined(self._lacking(pair))
            return GapResult(no_interval, no_interval, None, None)
        a, b = self.sampled.pair_of(pair)
        samples = self.sampled.paired_samples(a, b, 0, None)
        gap = corrected_gap(
            samples, *self._sides(pair), alpha=plan.alpha, tolerance=plan.tolerance, family=family
        )
        width = self.groups.bounds[1] - self.groups.bounds[0]
        gap = replace(
            gap,
            marginal=_within(gap.marginal, width),
            simultaneous=_within(gap.simultaneous, width),
        )
        few = not samples.testable and min(len(samples.only_a), len(samples.only_b)) >= MIN_UNITS
        if few and (a.clustered or b.clustered):
            no_interval = undefined(FEW_CLUSTERS, value=gap.marginal.value)
            return GapResult(no_interval, no_interval, None, None)
        return gap

    def ratio(self, pair: GroupPair) -> Estimate:
        """Return the ratio of a pair's means."""
        if not self.groups.comparable(pair):
            return undefined(self._lacking(pair))
        samples = self.sampled.paired_samples(*self.sampled.pair_of(pair), 0, None)
        return corrected_ratio(samples, *self._sides(pair), alpha=self.groups.plan.alpha)

    def _sides(self, pair: GroupPair) -> tuple[CorrectedSide, CorrectedSide]:
        a, b = (
            _joined([self._corrected[1][group] for group in side])
            for side in self.groups.members(pair)
        )
        return a, b

    def _lacking(self, pair: GroupPair) -> str:
        return self.groups.lacking([group for side in self.groups.members(pair) for group in side])


def _within(gap: Estimate, width: float) -> Estimate:
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
