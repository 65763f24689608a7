"""Comparisons of groups in pairs, before and after the correction of their family."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.diagnoser.domain.findings.gap_statistics import GAP_STATISTICS, GapSamples, Value
from services.diagnoser.domain.findings.groupings import Grouping
from services.diagnoser.domain.findings.observations import Observations
from services.diagnoser.domain.findings.plans import ComparisonPlan
from services.diagnoser.domain.findings.units import FixedPrompts, Units
from shared.contracts import Claim
from shared.stats.comparisons.exact import exact_difference, t_suffices
from shared.stats.comparisons.means_and_rates import MeanDifference, difference
from shared.stats.comparisons.multiplicity import adjust
from shared.stats.comparisons.verdicts import Conclusion, conclude, conclude_by_test, conclude_known
from shared.stats.estimate import IntervalEstimate

LEAST_PAIRS = 2


@dataclass(frozen=True)
class GroupComparison:
    """One group compared with another on one feature."""

    feature: str
    dimension: str
    domain: str
    a: str
    b: str
    gap: IntervalEstimate
    p_value: float | None
    statistics: Mapping[str, Value]
    """Those of `GAP_STATISTICS`, by name."""
    n_a: int
    """Answers with a value."""
    n_b: int
    n_missing_a: int
    n_missing_b: int
    units_a: int
    """Prompts with a value."""
    units_b: int
    by_set: MeanDifference | None = None
    """With sets as units, beside a declared comparison that takes answers as units."""
    p_at_tolerance: float | None = None
    """Where a test decides: for a gap on the other side of the tolerance."""
    known: bool = False
    """The answers never vary: the gap of these prompts is known."""
    p_adjusted: float | None = None
    conclusion: Conclusion | None = None


def compare(
    observations: Observations, grouping: Grouping, plan: ComparisonPlan, rng: np.random.Generator
) -> Iterator[GroupComparison]:
    """Compare every pair of groups of a domain on every feature; nothing is corrected yet."""
    units = Units.of(observations, grouping)
    prompts = FixedPrompts(observations, grouping) if plan.claim is Claim.BANK else None
    belongs = grouping.codes >= 0
    rows = np.bincount(grouping.codes[belongs], minlength=len(grouping.groups))
    counts = np.zeros((len(grouping.groups), len(observations.features)))
    np.add.at(counts, grouping.codes[belongs], np.isfinite(observations.values)[belongs])
    for a, b in grouping.pairs():
        for index, feature in enumerate(observations.features):
            samples = _samples(units, prompts, a, b, index)
            found, by_set = _difference(samples, plan, rng), None
            if prompts is not None:
                by_set = found
                found = prompts.difference(a, b, index, plan.alpha, plan.tolerance, rng)
            yield GroupComparison(
                feature=feature,
                dimension=grouping.name,
                domain=grouping.domains[grouping.groups[a].domain],
                a=grouping.groups[a].name,
                b=grouping.groups[b].name,
                gap=found.estimate,
                p_value=found.p_value,
                statistics={name: of(samples, plan, rng) for name, of in GAP_STATISTICS.items()},
                n_a=int(counts[a, index]),
                n_b=int(counts[b, index]),
                n_missing_a=int(rows[a] - counts[a, index]),
                n_missing_b=int(rows[b] - counts[b, index]),
                units_a=len(units.values(a, index)),
                units_b=len(units.values(b, index)),
                by_set=by_set,
                p_at_tolerance=found.p_at_tolerance,
                known=found.known,
            )


def corrected(found: Sequence[GroupComparison], plan: ComparisonPlan) -> list[GroupComparison]:
    """Correct all p-values as one family, and conclude."""
    adjusted = adjust([each.p_value for each in found], plan.correction)
    at_tolerance = adjust(
        [each.p_value if each.p_at_tolerance is None else each.p_at_tolerance for each in found],
        plan.correction,
    )
    return [
        replace(each, p_adjusted=p, conclusion=_concluded(each, p, p_at, plan))
        for each, p, p_at in zip(found, adjusted, at_tolerance, strict=True)
    ]


def _concluded(
    each: GroupComparison,
    p_adjusted: float | None,
    p_at_tolerance: float | None,
    plan: ComparisonPlan,
) -> Conclusion:
    tolerance, alpha = plan.tolerance, plan.alpha
    if each.known and each.gap.value is not None:
        return conclude_known(each.gap.value, tolerance=tolerance)
    if each.p_at_tolerance is None:
        return conclude(each.gap, p_adjusted, tolerance=tolerance, alpha=alpha)
    return conclude_by_test(each.gap, p_adjusted, p_at_tolerance, tolerance=tolerance, alpha=alpha)


def _difference(
    samples: GapSamples, plan: ComparisonPlan, rng: np.random.Generator
) -> MeanDifference:
    """Return a t test's, where it can be relied on; else an exact or a permutation test's."""
    a, b, paired, alpha = samples.a, samples.b, samples.paired, plan.alpha
    if not a or not b or t_suffices(a, b, paired=paired):
        return difference(a, b, alpha, paired=paired)
    return exact_difference(a, b, alpha, paired=paired, tolerance=plan.tolerance, rng=rng)


def _samples(
    units: Units, prompts: FixedPrompts | None, a: int, b: int, feature: int
) -> GapSamples:
    """Pair within counterfactual sets where both groups have at least two, else take prompts."""
    by_prompt = (units.values(a, feature), units.values(b, feature))
    in_a, in_b = units.by_set[a], units.by_set[b]
    _, of_a, of_b = np.intersect1d(in_a.keys, in_b.keys, assume_unique=True, return_indices=True)
    x, y = in_a.values[of_a, feature], in_b.values[of_b, feature]
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    paired = len(x) >= LEAST_PAIRS
    if not paired:
        x, y = by_prompt
    of_claim = (prompts.answers(a, feature), prompts.answers(b, feature)) if prompts else by_prompt
    return GapSamples(x.tolist(), y.tolist(), paired, *of_claim, prompts is not None)
