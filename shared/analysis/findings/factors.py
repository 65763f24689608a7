"""Does the group matter beyond these names and texts? The gap with random factors as clusters."""

from dataclasses import replace
from functools import cached_property
from math import exp, log

import numpy as np
from scipy.special import gammaln

from biaswatch.shared.analysis.findings.groupings import ComparisonPlan, Grouping, GroupPair
from biaswatch.shared.analysis.findings.observations import Observations, Whole
from biaswatch.shared.lookup import first
from biaswatch.shared.stats.arrays import Bools
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.comparisons.confidence_curve import student_curve
from biaswatch.shared.stats.comparisons.gap_test import GapResult, gap_result, untested_gap
from biaswatch.shared.stats.comparisons.random_factors import (
    METHOD,
    MIN_LEVELS,
    MIN_SURE_LEVELS,
    NO_SPREAD,
    FactorGap,
    LevelCounts,
    contains,
    random_factor_gap,
)
from biaswatch.shared.stats.comparisons.tolerance_tests import p_values_of

SET, UNIT = "set", "prompt"
"""The sample beside declared factors, unless it lies within their values."""


class RandomFactors:
    """The random factors of a grouping's answers."""

    def __init__(self, observations: Observations, grouping: Grouping) -> None:
        self._observations, self._grouping = observations, grouping

    @cached_property
    def codes(self) -> dict[str, Whole]:
        """By factor, [rows]: its value; with sets, or prompts, that no declared factor contains."""
        declared = self._observations.factor_codes
        sets, units = self._observations.set_codes, self._observations.unit_codes
        sample = (SET, sets) if (sets >= 0).any() else (UNIT, units)
        if any(contains(codes, sample[1]) for codes in declared.values()):
            return declared
        return declared | dict([sample])

    def gap(self, pair: GroupPair, feature: int, ends: Bounds | None = None) -> FactorGap:
        """Return the gap of a pair; `ends` take the place of missing answers of a, and of b."""
        of_a, rows = self._rows(pair)
        values = self._observations.values[rows, feature]
        if ends is not None:
            values = np.where(np.isfinite(values), values, np.where(of_a, *ends))
        known = np.isfinite(values)
        factors = {name: codes[rows][known] for name, codes in self.codes.items()}
        gap = random_factor_gap(values[known], of_a[known], factors)
        bounds = self._observations.bounds(feature)[self._grouping.groups[pair[0]].domain]
        if bounds is None and gap.reason == NO_SPREAD:
            bounds = float(values[known].min()), float(values[known].max())
        return replace(gap, width=bounds[1] - bounds[0]) if bounds else gap

    def planned_few(self, pair: GroupPair) -> bool:
        """Return whether the plan has too few values of a factor for a claim beyond them."""
        return any(level.few for level in self.levels(pair))

    def levels(self, pair: GroupPair) -> list[LevelCounts]:
        """Return how many values of each declared factor both groups have."""
        of_a, rows = self._rows(pair)
        names = self._observations.random
        return [_levels(name, self.codes[name][rows], of_a) for name in names]

    def _rows(self, pair: GroupPair) -> tuple[Bools, Whole]:
        a, b = self._grouping.members(pair)
        of_a = np.isin(self._grouping.codes, a)
        rows = np.flatnonzero(of_a | np.isin(self._grouping.codes, b))
        return of_a[rows], rows


def _levels(name: str, codes: Whole, of_a: Bools) -> LevelCounts:
    in_a, in_b = (np.unique(codes[side & (codes >= 0)]) for side in (of_a, ~of_a))
    return LevelCounts(name, len(in_a), len(in_b), len(np.intersect1d(in_a, in_b)))


def group_effect_p(factor: FactorGap | None) -> float | None:
    """Return the p-value of no effect of the group; None where it cannot be tested."""
    if factor is None or factor.few:
        return None
    return constant_gap_p(factor) if factor.reason == NO_SPREAD else factor.p_value


def constant_gap_p(factor: FactorGap) -> float:
    """Return the p-value of no effect of the group, of a gap without any spread.

    Without an effect, each of k texts differs in either direction with a probability of 1/2 at
    most: all agree with 2 / 2^k. Names of both groups come from one population: that all k of one
    group lie above all k of the other has 2 / C(2k, k). The p-value is the sum over the factors.
    """
    if not factor.gap:
        return 1.0
    logarithms = (
        level.clusters * log(2.0)
        if level.crossed
        else gammaln(2 * level.clusters + 1) - 2 * gammaln(level.clusters + 1)
        for level in factor.levels
    )
    return min(1.0, sum(2 * exp(-float(logarithm)) for logarithm in logarithms))


def few_reason(factor: FactorGap) -> str:
    """Return how many values of a random factor there are, and how many are needed."""
    few = first((level for level in factor.levels if level.few), "No factor has too few values.")
    return (
        f"{few.clusters} values of {few.factor} in a group: a conclusion beyond them needs"
        f" {MIN_LEVELS}"
    )


def sure_factor(factor: FactorGap) -> str | None:
    """Return a single factor with too few values for its intervals to reach beyond them."""
    if len(factor.levels) == 1 and factor.levels[0].clusters < MIN_SURE_LEVELS:
        return factor.levels[0].factor
    return None


def gap_of_factors(factor: FactorGap, plan: ComparisonPlan, family: int = 1) -> GapResult:
    """Return the gap with intervals and tests that take all random factors as clusters."""
    method = f"{METHOD} over {', '.join(level.factor for level in factor.levels)}"
    tolerance = plan.tolerance
    if factor.reason == NO_SPREAD:
        p_values = flat_p(factor, tolerance), 1.0 if tolerance else None
        return untested_gap(NO_SPREAD, factor.gap, method, p_values=p_values)
    if factor.error is None or factor.dof is None or factor.gap is None:
        return untested_gap(factor.reason or NO_SPREAD, factor.gap, method)
    curve = student_curve(factor.gap, factor.error, factor.dof)
    if factor.width is not None:
        curve = np.clip(curve, -factor.width, factor.width)
    p_values = p_values_of(factor.tails, tolerance)
    return gap_result(
        curve, factor.gap, method, p_values, alpha=plan.alpha, tolerance=tolerance, family=family
    )


def flat_p(factor: FactorGap, tolerance: float = 0.0) -> float:
    """Return the p-value of a mean gap, where it is the same for every value of every factor.

    With a gap of at most the tolerance t in the mean, and answers in a range of width w, the
    difference of a text is d with a probability of at most (w + t) / (w + d), since the others are
    -w at least; k texts all have it with that to the power of k. The means of two groups of k names
    are d apart in every name with at most (1 - (d - t) / (2 w)) to the power of 2 k. Both sides
    count, and the factor with the fewest values decides.
    """
    if factor.gap is None or factor.width is None or abs(factor.gap) <= tolerance:
        return 1.0
    gap, width = abs(factor.gap), max(factor.width, abs(factor.gap))
    crossed = (width + tolerance) / (width + gap)
    nested = (1 - (gap - tolerance) / (2 * width)) ** 2
    return max(
        min(1.0, 2 * (crossed if level.crossed else nested) ** level.clusters)
        for level in factor.levels
    )
