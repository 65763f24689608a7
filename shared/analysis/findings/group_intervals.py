"""The mean and the selection rate of one group, each with the interval of the run's claim."""

from dataclasses import dataclass
from functools import cached_property

from biaswatch.shared.analysis.findings.groupings import Grouping
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.units import FixedPrompts, Units
from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.comparisons.fixed_prompts import fixed_prompts_mean
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval, rate_interval
from biaswatch.shared.stats.estimate import IntervalEstimate

SHARES: Bounds = (0.0, 1.0)


@dataclass(frozen=True)
class GroupIntervals:
    """The groups of a grouping, each by itself."""

    observations: Observations
    grouping: Grouping
    claim: Claim
    alpha: float

    known_units: Units | None = None
    """The units of every group, where they are known already."""

    @cached_property
    def units(self) -> Units:
        """The units of every group."""
        return self.known_units or Units(self.observations, self.grouping)

    def mean(self, group: int, feature: int) -> IntervalEstimate:
        """Return a group's mean of a feature, by the range that its domain's values have."""
        bounds = self._bounds[feature][self.grouping.groups[group].domain]
        if self.claim is Claim.BANK:
            return self._of_prompts(group, feature, bounds)
        return mean_interval(self.units.independent(group, feature), bounds, self.alpha)

    def rate(self, group: int, feature: int) -> IntervalEstimate:
        """Return a group's share of answers that are 1, where 0 are all others."""
        if self.claim is Claim.BANK:
            return self._of_prompts(group, feature, SHARES)
        return rate_interval(self.units.independent(group, feature), self.alpha)

    def _of_prompts(self, group: int, feature: int, bounds: Bounds | None) -> IntervalEstimate:
        return fixed_prompts_mean(self._prompts.by_prompt(group, feature), self.alpha, bounds)

    @cached_property
    def _bounds(self) -> list[list[Bounds | None]]:
        return [self.observations.bounds(index) for index in range(len(self.observations.features))]

    @cached_property
    def _prompts(self) -> FixedPrompts:
        return FixedPrompts(self.observations, self.grouping)
