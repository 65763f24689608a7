"""The statistics beside the test of a gap, each a function of the two samples.

To add one: name it here, and add a field of that name to `Gap` in `shared/contracts/diagnosis.py`,
which puts it into the records of runs, and a line to `GAP_COLUMNS` in
`shared/presentation/columns.py`, which puts it into reports. `biaswatch diagnose` writes whatever
is named here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.findings.observations import Floats
from biaswatch.shared.analysis.findings.plans import ComparisonPlan
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.effect_size import hedges_g, paired_d
from biaswatch.shared.stats.comparisons.ranks import mann_whitney
from biaswatch.shared.stats.comparisons.relabelling import label_permutation, sign_flip
from biaswatch.shared.stats.estimate import IntervalEstimate


@dataclass(frozen=True)
class GapSamples:
    """The values of two groups on one feature, none missing."""

    a: Floats
    """What the gap is tested on: one value per prompt, or per set where `paired`."""
    b: Floats
    paired: bool
    units_a: Floats
    """One value per unit of the claim: a prompt, or an answer where prompts are fixed."""
    units_b: Floats
    fixed_prompts: bool = False
    """Whether the claim is about these prompts alone."""

    @classmethod
    def of(cls, sampled: ComparedSamples, units_a: Floats, units_b: Floats) -> "GapSamples":
        """Return the pairs where there are any, else the prompts of both groups."""
        if sampled.pairs:
            return cls(sampled.paired_a, sampled.paired_b, True, units_a, units_b)
        return cls(units_a, units_b, False, units_a, units_b)


Value = IntervalEstimate | float | None
GapStatistic = Callable[[GapSamples, ComparisonPlan, np.random.Generator], Value]


def _effect_size(
    samples: GapSamples, plan: ComparisonPlan, _rng: np.random.Generator
) -> IntervalEstimate:
    if samples.fixed_prompts:
        return hedges_g(samples.units_a, samples.units_b, plan.alpha)
    return (paired_d if samples.paired else hedges_g)(samples.a, samples.b, plan.alpha)


def _permutation_p(
    samples: GapSamples, plan: ComparisonPlan, rng: np.random.Generator
) -> float | None:
    if not plan.permutations:
        return None
    if samples.paired:
        return sign_flip(samples.a, samples.b, rng=rng, resamples=plan.permutations).p_value
    a = {f"a{place}": [value] for place, value in enumerate(samples.a.tolist())}
    b = {f"b{place}": [value] for place, value in enumerate(samples.b.tolist())}
    return label_permutation(a, b, rng=rng, resamples=plan.permutations).p_value


GAP_STATISTICS: Mapping[str, GapStatistic] = {
    "effect_size": _effect_size,
    "mann_whitney_p": lambda samples, _, rng: (
        mann_whitney(samples.units_a, samples.units_b, rng=rng).p_value
    ),
    "permutation_p": _permutation_p,
}
