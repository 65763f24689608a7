"""Comparisons of groups in pairs, before and after the correction of their family."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from services.diagnoser.domain.findings.groupings import Grouping
from services.diagnoser.domain.findings.observations import Floats, Observations
from services.diagnoser.domain.findings.units import FixedPrompts, KeyedMeans, Units
from shared.contracts import Claim
from shared.stats.comparisons.effect_size import hedges_g, paired_d
from shared.stats.comparisons.exact import exact_difference, t_suffices
from shared.stats.comparisons.means_and_rates import MeanDifference, difference
from shared.stats.comparisons.multiplicity import adjust
from shared.stats.comparisons.permutation_test import label_permutation, sign_flip
from shared.stats.comparisons.ranks import mann_whitney
from shared.stats.comparisons.verdicts import (
    Conclusion,
    conclude,
    conclude_by_test,
    conclude_known,
)
from shared.stats.estimate import IntervalEstimate

LEAST_PAIRS = 2


@dataclass(frozen=True)
class ComparisonPlan:
    """What was declared before looking."""

    alpha: float = 0.05
    tolerance: float = 0.0
    correction: str = "holm"
    permutations: int = 0
    """Relabellings of each comparison for a p-value beside the declared one; a run shows none."""
    claim: Claim = Claim.POPULATION


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
    effect_size: IntervalEstimate
    n_a: int
    """Answers with a value."""
    n_b: int
    n_missing_a: int
    n_missing_b: int
    units_a: int
    """Prompts with a value."""
    units_b: int
    paired: bool
    mann_whitney_p: float | None
    """Over answers, where these prompts are what is claimed about; else over prompts."""
    permutation_p: float | None
    by_set: MeanDifference | None = None
    """With sets as units, beside a declared comparison that takes answers as units."""
    p_at_tolerance: float | None = None
    """Where a test decides: for a gap on the other side of the tolerance."""
    known: bool = False
    """The answers never vary: the gap of these prompts is known."""
    p_adjusted: float | None = None
    conclusion: Conclusion | None = None


@dataclass(frozen=True)
class ComparedSamples:
    """What of two groups is compared, one value per unit, or per set that both have."""

    a: list[float]
    b: list[float]
    paired: bool


def compare(
    seen: Observations, grouping: Grouping, declared: ComparisonPlan, rng: np.random.Generator
) -> Iterator[GroupComparison]:
    """Compare every pair of groups of a domain on every feature; nothing is corrected yet."""
    units = Units.of(seen, grouping)
    bank = FixedPrompts(seen, grouping) if declared.claim is Claim.BANK else None
    present = np.isfinite(seen.values)
    counts = _counts(present, grouping)
    rows = np.bincount(grouping.codes[grouping.codes >= 0], minlength=len(grouping.groups))
    for a, b in grouping.pairs():
        for index, feature in enumerate(seen.features):
            chosen = _samples(units, a, b, index)
            found = _difference(chosen, declared, rng)
            by_set = None
            if bank is not None:
                by_set, found = (
                    found,
                    bank.difference(a, b, index, declared.alpha, declared.tolerance, rng),
                )
            yield GroupComparison(
                feature=feature,
                dimension=grouping.name,
                domain=grouping.domains[grouping.groups[a].domain],
                a=grouping.groups[a].name,
                b=grouping.groups[b].name,
                gap=found.estimate,
                p_value=found.p_value,
                effect_size=_effect(chosen, bank, (a, b, index), declared.alpha),
                n_a=int(counts[a, index]),
                n_b=int(counts[b, index]),
                n_missing_a=int(rows[a] - counts[a, index]),
                n_missing_b=int(rows[b] - counts[b, index]),
                units_a=len(_present(units.by_unit[a].values[:, index])),
                units_b=len(_present(units.by_unit[b].values[:, index])),
                paired=chosen.paired,
                mann_whitney_p=_mann_whitney_p(bank or units, a, b, index, rng),
                permutation_p=_permutation_p(chosen, declared.permutations, rng),
                by_set=by_set,
                p_at_tolerance=found.p_at_tolerance,
                known=found.known,
            )


def corrected(found: Sequence[GroupComparison], declared: ComparisonPlan) -> list[GroupComparison]:
    """Correct all p-values as one family, and conclude."""
    adjusted = adjust([each.p_value for each in found], declared.correction)
    at_tolerance = adjust(
        [each.p_value if each.p_at_tolerance is None else each.p_at_tolerance for each in found],
        declared.correction,
    )
    return [
        replace(each, p_adjusted=p, conclusion=_concluded(each, p, p_at, declared))
        for each, p, p_at in zip(found, adjusted, at_tolerance, strict=True)
    ]


def _concluded(
    each: GroupComparison,
    p_adjusted: float | None,
    p_at_tolerance: float | None,
    declared: ComparisonPlan,
) -> Conclusion:
    tolerance, alpha = declared.tolerance, declared.alpha
    if each.known and each.gap.value is not None:
        return conclude_known(each.gap.value, tolerance=tolerance)
    if each.p_at_tolerance is None:
        return conclude(each.gap, p_adjusted, tolerance=tolerance, alpha=alpha)
    return conclude_by_test(each.gap, p_adjusted, p_at_tolerance, tolerance=tolerance, alpha=alpha)


def _difference(
    chosen: ComparedSamples, declared: ComparisonPlan, rng: np.random.Generator
) -> MeanDifference:
    """Return a t test's, where it can be relied on; else an exact or a permutation test's."""
    a, b, paired, alpha = chosen.a, chosen.b, chosen.paired, declared.alpha
    if not a or not b or t_suffices(a, b, paired=paired):
        return difference(a, b, alpha, paired=paired)
    return exact_difference(a, b, alpha, paired=paired, tolerance=declared.tolerance, rng=rng)


def _counts(present: np.ndarray[tuple[int, int], np.dtype[np.bool_]], grouping: Grouping) -> Floats:
    counts = np.zeros((len(grouping.groups), present.shape[1]))
    belongs = grouping.codes >= 0
    np.add.at(counts, grouping.codes[belongs], present[belongs])
    return counts


def _samples(units: Units, a: int, b: int, feature: int) -> ComparedSamples:
    """Pair within counterfactual sets where both groups have at least two, else take prompts."""
    x, y = _shared(units.by_set[a], units.by_set[b], feature)
    if len(x) >= LEAST_PAIRS:
        return ComparedSamples(x.tolist(), y.tolist(), paired=True)
    values = [_present(units.by_unit[group].values[:, feature]).tolist() for group in (a, b)]
    return ComparedSamples(values[0], values[1], paired=False)


def _shared(a: KeyedMeans, b: KeyedMeans, feature: int) -> tuple[Floats, Floats]:
    _, of_a, of_b = np.intersect1d(a.keys, b.keys, assume_unique=True, return_indices=True)
    x, y = a.values[of_a, feature], b.values[of_b, feature]
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]


def _effect(
    chosen: ComparedSamples, bank: FixedPrompts | None, where: tuple[int, int, int], alpha: float
) -> IntervalEstimate:
    if bank is not None:
        a, b, feature = where
        return hedges_g(bank.answers(a, feature), bank.answers(b, feature), alpha)
    return (paired_d if chosen.paired else hedges_g)(chosen.a, chosen.b, alpha)


def _present(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def _mann_whitney_p(
    units: Units | FixedPrompts, a: int, b: int, feature: int, rng: np.random.Generator
) -> float | None:
    if isinstance(units, FixedPrompts):
        x, y = (units.answers(group, feature) for group in (a, b))
    else:
        x, y = (_present(units.by_unit[group].values[:, feature]) for group in (a, b))
    return mann_whitney(x, y, rng=rng).p_value


def _permutation_p(chosen: ComparedSamples, times: int, rng: np.random.Generator) -> float | None:
    if not times:
        return None
    if chosen.paired:
        return sign_flip(chosen.a, chosen.b, rng=rng, resamples=times).p_value
    a = {f"a{place}": [value] for place, value in enumerate(chosen.a)}
    b = {f"b{place}": [value] for place, value in enumerate(chosen.b)}
    return label_permutation(a, b, rng=rng, resamples=times).p_value
