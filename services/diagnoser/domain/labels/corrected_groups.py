"""The groups of one dimension with their corrected values, ready to be compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from services.diagnoser.domain.findings.gap_samples import FEW_CLUSTERS, SampledGroups
from services.diagnoser.domain.findings.groupings import ComparedGroups, Grouping, grouping
from services.diagnoser.domain.findings.observations import Floats, Observations, within
from services.diagnoser.domain.findings.plans import ComparisonPlan
from services.diagnoser.domain.labels.labelled_rows import LabelledRows
from shared.contracts import Claim
from shared.stats.comparisons.compared_samples import LEAST_UNITS, Bounds
from shared.stats.comparisons.gap_test import GapResult
from shared.stats.estimate import IntervalEstimate, undefined
from shared.stats.labels.corrected_gap import CorrectedSide, corrected_gap, corrected_mean
from shared.stats.labels.corrected_ratio import corrected_ratio
from shared.stats.labels.corrected_values import LEAST_LABELS, corrected_values
from shared.stats.labels.instrument_error import LabelledReadings
from shared.stats.labels.planned_labels import widest_share


@dataclass(frozen=True)
class CorrectedGroups:
    """The groups of one dimension, by readings and as labels correct them."""

    rows: LabelledRows
    feature: str
    dimension: str
    bounds: Bounds
    """The least and the largest value that a label can be."""
    plan: ComparisonPlan
    ranges: Mapping[str, Bounds]
    """What the suite declares, so that readings have the numbers of the run's findings."""

    @cached_property
    def by_readings(self) -> SampledGroups:
        """The groups by what the instrument read."""
        return SampledGroups(self._by_readings, self.grouping, self.plan)

    @cached_property
    def grouping(self) -> Grouping:
        """Which row is of which group."""
        return grouping(self._by_readings, (self.dimension,))

    def of_group(self, group: int) -> Floats:
        """Return the rows of a group that have a reading and were drawn from."""
        there = np.isfinite(self.rows.readings) & np.isfinite(self.rows.probabilities)
        return np.asarray((self.grouping.codes == group) & there)

    def labelled(self, group: int) -> LabelledReadings:
        """Return the labelled answers of a group."""
        rows = self.of_group(group) & np.isfinite(self.rows.labels)
        of = self.rows
        return LabelledReadings(of.readings[rows], of.labels[rows], 1 / of.probabilities[rows])

    @cached_property
    def _corrected(self) -> tuple[Floats, dict[int, CorrectedSide], dict[int, float]]:
        """Return corrected values of all rows, and what is known of each group that has enough."""
        values = np.full(len(self.rows.readings), np.nan)
        sides, tunings = {}, {}
        for group in range(len(self.grouping.groups)):
            if len(self.labelled(group).labels) < LEAST_LABELS:
                continue
            rows = self.of_group(group)
            of = self.rows
            found = corrected_values(
                of.readings[rows], of.labels[rows], of.probabilities[rows], self.bounds
            )
            values[rows] = found.values
            sides[group], tunings[group] = CorrectedSide.of(found), found.tuning
        return values, sides, tunings

    def tuning(self, group: int) -> float | None:
        """Return how much a reading of a group counts; None where it has too few labels."""
        return self._corrected[2].get(group)

    def units_of(self, group: int) -> int:
        """Return how many prompts, or users, the answers of a group are of."""
        units = self.by_readings.observations.unit_codes
        return len(np.unique(units[self.of_group(group)]))

    def widest_share(self, group: int) -> float | None:
        """Return how far the interval of a mean can reach where labels hardly vary; else None."""
        side = self._corrected[1].get(group)
        if side is None or side.regular:
            return None
        answers = int(self.of_group(group).sum())
        labels = len(self.labelled(group).labels)
        return widest_share(answers, self.units_of(group), labels, self.plan.alpha)

    @cached_property
    def by_labels(self) -> SampledGroups:
        """The groups with corrected values; the claim is about what prompts were drawn from."""
        plan = replace(self.plan, claim=Claim.POPULATION)
        seen = self._observations(self._corrected[0], {self.feature: None})
        return SampledGroups(seen, self.grouping, plan)

    def mean(self, group: int) -> IntervalEstimate:
        """Return a group's corrected mean."""
        side = self._corrected[1].get(group)
        if side is None:
            return undefined(self._lacking([group]))
        units = self.by_labels.units.independent(group, 0)
        return corrected_mean(units, side, self.bounds, self.plan.alpha)

    def comparable(self, pair: ComparedGroups) -> bool:
        """Return whether every group of both sides has enough labels."""
        return all(group in self._corrected[1] for side in self._members(pair) for group in side)

    def gap(self, pair: ComparedGroups, family: int) -> GapResult:
        """Return the corrected gap of a pair."""
        members = self._members(pair)
        if not self.comparable(pair):
            nothing = undefined(self._lacking([group for side in members for group in side]))
            return GapResult(nothing, nothing, None, None)
        a, b = self.by_labels.pair_of(pair)
        samples = self.by_labels.sampled(a, b, 0, None)
        sides = [_joined([self._corrected[1][group] for group in side]) for side in members]
        found = corrected_gap(
            samples, *sides, alpha=self.plan.alpha, tolerance=self.plan.tolerance, family=family
        )
        width = self.bounds[1] - self.bounds[0]
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

    def selected(self, threshold: float) -> "CorrectedGroups":
        """Return the same groups, of which it is compared how many answers are selected."""
        if self.bounds == (0.0, 1.0) and self.yes_or_no:
            return self
        return replace(self, rows=self.rows.selected(threshold), bounds=(0.0, 1.0), ranges={})

    @property
    def yes_or_no(self) -> bool:
        """Whether every reading is at an end of the scale."""
        there = self.rows.readings[np.isfinite(self.rows.readings)]
        return bool(np.isin(there, self.bounds).all())

    def ratio(self, pair: ComparedGroups) -> tuple[IntervalEstimate, float | None]:
        """Return the ratio of a pair's means as labels correct them, and by the readings."""
        members = self._members(pair)
        by_readings = self._reading_ratio(*members)
        if not self.comparable(pair):
            lacking = self._lacking([group for side in members for group in side])
            return undefined(lacking), by_readings
        samples = self.by_labels.sampled(*self.by_labels.pair_of(pair), 0, None)
        sides = [_joined([self._corrected[1][group] for group in side]) for side in members]
        first, second = sides
        return corrected_ratio(samples, first, second, alpha=self.plan.alpha), by_readings

    def _reading_ratio(self, *sides: Sequence[int]) -> float | None:
        read = [self.rows.readings[np.isin(self.grouping.codes, side)] for side in sides]
        there = [values[np.isfinite(values)] for values in read]
        if not all(map(len, there)) or not there[1].mean() > 0:
            return None
        return float(there[0].mean() / there[1].mean())

    def labelled_side(self, groups: Sequence[int]) -> LabelledReadings:
        """Return the labelled answers of several groups."""
        parts = [self.labelled(group) for group in groups]
        return LabelledReadings(
            *(
                np.concatenate([getattr(each, name) for each in parts])
                for name in ("readings", "labels", "weights")
            )
        )

    def _members(self, pair: ComparedGroups) -> tuple[list[int], list[int]]:
        return self.by_readings.members(pair)

    def _lacking(self, groups: Sequence[int]) -> str:
        few = {
            self.grouping.groups[group].name: len(self.labelled(group).labels)
            for group in groups
            if group not in self._corrected[1]
        }
        said = ", ".join(f"{name} has {labels}" for name, labels in few.items())
        return f"a correction needs {LEAST_LABELS} labels of each group: {said}"

    @cached_property
    def _by_readings(self) -> Observations:
        ends = self.ranges.get(self.feature)
        ranges = {} if ends is None else {self.feature: ends}
        return self._observations(within(self.rows.readings, ends), ranges)

    def _observations(self, values: Floats, ranges: Mapping[str, Bounds | None]) -> Observations:
        of = self.rows.answers
        return Observations(
            (self.feature,), values[:, None], of.groups, of.units, of.sets, ranges=ranges
        )


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
