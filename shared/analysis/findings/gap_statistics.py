"""Statistics of a gap beside its tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.constant_shift import TwinDifferences
from biaswatch.shared.stats.comparisons.effect_size import hedges_g, paired_d
from biaswatch.shared.stats.comparisons.ranks import mann_whitney_p
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.comparisons.studentised_exchange import studentised_exchange_p
from biaswatch.shared.stats.estimate import Estimate


@dataclass(frozen=True)
class GapSamples:
    """The values of two groups on one feature, none missing."""

    a: Floats
    """The tested values: one value per prompt, or per set where `paired`."""
    b: Floats
    paired: bool
    units_a: Floats
    """One value per unit of the claim: a prompt, or an answer where prompts are fixed."""
    units_b: Floats
    fixed_prompts: bool = False
    """True if the claim is about these prompts alone."""


Value = Estimate | float | None
GapStatistic = Callable[[GapSamples, ComparisonPlan, np.random.Generator], Value]


def _effect_size(samples: GapSamples, plan: ComparisonPlan, _rng: np.random.Generator) -> Estimate:
    if samples.fixed_prompts:
        return hedges_g(samples.units_a, samples.units_b, plan.alpha)
    return (paired_d if samples.paired else hedges_g)(samples.a, samples.b, plan.alpha)


def _constant_shift(
    samples: GapSamples, plan: ComparisonPlan, _rng: np.random.Generator
) -> Estimate | None:
    return TwinDifferences.of(samples.a - samples.b).shift(plan.alpha) if samples.paired else None


def _permutation_p(
    samples: GapSamples, plan: ComparisonPlan, rng: np.random.Generator
) -> float | None:
    if not plan.permutations:
        return None
    if samples.paired:
        return sign_flip_p(samples.a - samples.b)
    return studentised_exchange_p(samples.a, samples.b, rng, plan.permutations)


GAP_STATISTICS: Mapping[str, GapStatistic] = {
    "effect_size": _effect_size,
    "constant_shift": _constant_shift,
    "mann_whitney_p": lambda samples, _, rng: mann_whitney_p(samples.units_a, samples.units_b, rng),
    "permutation_p": _permutation_p,
}
