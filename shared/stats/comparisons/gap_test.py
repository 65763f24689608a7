"""The gap of two groups: intervals at any level and tests at any tolerance, whatever the shape.

Where the range of the values is known, the curves of bounded means serve flat, tiny, rare and
unbalanced samples alike. A sample that is spread over part of a known range, large enough and
hardly skew, has Student's curve, which is narrower; so does any sample of an unknown range. Then a
test that exchanges labels or signs has to agree. Two samples that are spread over a known range are
tested for equal means by Welch's t and an exchange of labels, and a limit of their interval moves
to 0 with it. A sample without any spread and of an unknown range has no interval.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from biaswatch.shared.stats.comparisons.bounded_mean import bounded_mean_curve
from biaswatch.shared.stats.comparisons.compared_samples import (
    MIN_STUDENT_UNITS,
    ComparedSamples,
    SamplePart,
    SampleParts,
)
from biaswatch.shared.stats.comparisons.confidence_curve import Curve, gap_curve, joined_curve
from biaswatch.shared.stats.comparisons.label_tests import exchange_p
from biaswatch.shared.stats.comparisons.mean_interval import mean_curve, student_with_ends
from biaswatch.shared.stats.comparisons.sample_shape import shape_of
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.comparisons.spread_samples import (
    boundary_group_p,
    equal_means_p,
    spreads_differ,
)
from biaswatch.shared.stats.comparisons.tolerance_tests import (
    PValues,
    TailFunction,
    agreeing_limits,
    curve_tails,
    disparity_p,
    equivalence_p,
    joined_p,
    p_values_of,
    sided,
)
from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.samples import ensure_sorted

NO_VALUES = "a group has no values"
ONE_UNIT = "a group has one unit, which shows no spread: two are needed"
SECOND_TEST_BELOW = 0.2
"""P-value up to which a test of labels has to agree; a larger one decides nothing anyway."""
END_DIFFERENCE_WEIGHT = 0.5
"""Weight of a difference added at each end: it takes both twins, at opposite ends of the range."""
NO_SPREAD = "equal values do not show how much they could differ: declare the range"
NO_RANGE = "all values are equal, and how much they could differ is not known: declare the range"


@dataclass(frozen=True)
class GapResult:
    """A gap with its intervals and tests; what is undefined is None with a reason."""

    marginal: Estimate
    """With an interval of coverage 1 - alpha by itself."""
    simultaneous: Estimate
    """With an interval that covers jointly with those of the whole family (Bonferroni)."""
    p_disparity: float | None
    """For a gap of at most the tolerance, in either direction."""
    p_equivalence: float | None
    """For a gap of at least the tolerance; None at tolerance 0, which cannot be shown."""
    known: bool = False
    """True where no answer to these prompts ever varied, so that the gap needs no interval."""
    is_constant: bool = False
    """True where no answer to these prompts ever varied, whether or not that makes it known."""


def compare_samples(
    samples: ComparedSamples, *, alpha: float, tolerance: float, family: int = 1
) -> GapResult:
    """Return mean(a) - mean(b), its intervals, and the tests against the tolerance.

    Pairs are compared by their differences, single units by their means, and both are joined with
    weights by numbers of units. A p-value is at most alpha / family where, and only where, the
    simultaneous interval lies wholly beyond the tolerance (p_disparity) or within it
    (p_equivalence). The order of the units changes nothing, to the last digits.

    Parameters
    ----------
    samples
        The units of both groups, with the range of values where it is known.
    alpha
        1 minus the coverage, in (0, 1).
    tolerance
        The largest gap that does not matter, at least 0, in the unit of the values.
    family
        Number of comparisons that are declared together.

    Returns
    -------
    GapResult
        Without tests where a group has no values, or a single unit.

    Raises
    ------
    ValueError
        A value lies outside the declared range.

    References
    ----------
    Gaffke (2005) and Zou and Donner (2008) for means of bounded values and their difference; Welch
    (1947) and Fisher (1935) elsewhere; Stouffer et al. (1949) for joining; Schuirmann (1987) for
    equivalence; Dunn (1961) for families. See `bounded_mean`, `confidence_curve`, `label_tests`.

    Examples
    --------
    >>> a, b = np.linspace(0.5, 1, 30), np.linspace(0, 0.5, 30)
    >>> samples = ComparedSamples(only_a=a, only_b=b, bounds=(0.0, 1.0))
    >>> gap = compare_samples(samples, alpha=0.05, tolerance=0.0)
    >>> round(gap.marginal.value, 2), gap.p_disparity < 0.001
    (0.5, True)
    """
    if not samples.testable:
        value = mean_gap(samples)
        return untested_gap(NO_VALUES if value is None else ONE_UNIT, value)
    if samples.bounds is None and samples.all_equal:
        return untested_gap(NO_RANGE, 0.0, p_values=(1.0, 1.0 if tolerance else None))
    parts = SampleParts.of(samples)
    curve = _curve(samples, parts)
    p_values = p_values_of(curve_tails(curve), tolerance)
    is_unpaired = parts.pairs is None
    boundary_p = 0.0
    if is_unpaired and tolerance > 0:
        boundary_p = boundary_group_p(parts.single, samples.bounds, tolerance)
    method, agreement, regular = _method(parts), parts.need_agreement, parts.all_regular
    unlike_spreads = is_unpaired and _spreads_differ(parts)
    del parts  # a test of labels on millions of units needs as much memory again
    p_equal = None
    if is_unpaired and not tolerance:
        p_equal = equal_means_p(samples.only_a, samples.only_b, samples.bounds)
    if p_equal is not None:
        p_values = p_equal, None
    elif (agreement and not unlike_spreads) or _needs_exact_agreement(samples, tolerance):
        p_values = _agreed(p_values, samples, tolerance)
    result = gap_result(
        curve,
        mean_gap(samples),
        method,
        (max(p_values[0], boundary_p), p_values[1]),
        alpha=alpha,
        tolerance=tolerance,
        family=family,
    )
    return result if samples.bounds is not None or regular else disparity_only(result)


def _spreads_differ(parts: SampleParts) -> bool:
    return parts.single is not None and spreads_differ(
        *(shape_of(part.values) for part in parts.single)
    )


def disparity_only(result: GapResult) -> GapResult:
    """Return the result of a sample without spread and of an unknown range.

    Its gap can be tested for lying beyond the tolerance. It has no interval, and cannot be shown to
    be small.
    """
    gap = result.marginal
    p_equivalence = None if result.p_equivalence is None else 1.0
    return untested_gap(
        NO_SPREAD, gap.value, gap.method, p_values=(result.p_disparity, p_equivalence)
    )


def untested_gap(
    reason: str,
    value: float | None,
    method: str = "",
    *,
    p_values: tuple[float | None, float | None] = (None, None),
    known: bool = False,
) -> GapResult:
    """Return a gap without an interval, and the reason."""
    gap = undefined(reason, value=value, method=method)
    return GapResult(gap, gap, *p_values, known=known, is_constant=known)


def _needs_exact_agreement(samples: ComparedSamples, tolerance: float) -> bool:
    """Return whether mid-p errs above its level: no pairs, and under 15 units on both sides."""
    sizes = len(samples.only_a), len(samples.only_b)
    return tolerance == 0 and not samples.pairs and max(sizes) < MIN_STUDENT_UNITS


def gap_result(
    curve: Curve,
    value: float | None,
    method: str,
    p_values: PValues,
    *,
    alpha: float,
    tolerance: float,
    family: int,
) -> GapResult:
    """Return a gap's p-values with the intervals of its curve that agree with them."""
    limits = (
        agreeing_limits(curve, alpha / size, tolerance=tolerance, p_values=p_values)
        for size in (1, family)
    )
    marginal, simultaneous = (Estimate(value, *ends, method) for ends in limits)
    return GapResult(marginal, simultaneous, *p_values)


def _method(parts: SampleParts) -> str:
    kind = "Student's t and relabelling" if parts.need_agreement else "bounded means"
    if parts.pairs is None:
        return f"{kind}, over units"
    return f"{kind}, over pairs" + (" and single units" if parts.single else "")


def mean_gap(samples: ComparedSamples) -> float | None:
    """Return mean(a) - mean(b), pairs and single units weighed as `compare_samples` does."""
    pairs, weight = samples.pairs, samples.weight
    if not samples.testable:
        a = np.concatenate([samples.paired_a, samples.only_a])
        b = np.concatenate([samples.paired_b, samples.only_b])
        return float(a.mean() - b.mean()) if len(a) and len(b) else None
    gap = 0.0
    if pairs:
        gap += weight * float(samples.differences.mean())
    if weight < 1:
        mean_a, mean_b = (
            float(np.sort(units).mean()) for units in (samples.only_a, samples.only_b)
        )
        gap += (1 - weight) * (mean_a - mean_b)
    return gap


def sample_curve(samples: ComparedSamples) -> Curve:
    """Return the confidence curve of a gap; ValueError with neither pairs nor single units."""
    return _curve(samples, SampleParts.of(samples))


def _curve(samples: ComparedSamples, parts: SampleParts) -> Curve:
    paired = None if parts.pairs is None else _paired_curve(parts.pairs, samples)
    if parts.single is None:
        if paired is None:
            raise ValueError("there are neither pairs nor single units to compare")
        return paired
    single = gap_curve(*(_mean_curve(part, samples) for part in parts.single))
    return single if paired is None else joined_curve(paired, single, samples.weight)


def _paired_curve(part: SamplePart, samples: ComparedSamples) -> Curve:
    bounds, widest = samples.bounds, float(np.abs(part.values).max())
    if bounds is not None:
        widest = max(widest, bounds[1] - bounds[0])
    if not widest:  # equal twins do not show that all others are equal
        widest = float(np.ptp(np.concatenate([samples.paired_a, samples.paired_b])))
    if part.regular:
        ends = None if bounds is None else (-widest, widest)
        return student_with_ends(part.values, ends, END_DIFFERENCE_WEIGHT)
    return bounded_mean_curve(part.values, -widest, widest)


def _mean_curve(part: SamplePart, samples: ComparedSamples) -> Curve:
    if part.regular or samples.bounds is not None:
        return mean_curve(part, samples.bounds)
    values = np.concatenate([samples.only_a, samples.only_b])
    return bounded_mean_curve(part.values, float(values.min()), float(values.max()))


def _agreed(p_values: PValues, samples: ComparedSamples, tolerance: float) -> PValues:
    """Let a test of labels agree: the larger p-values of both."""
    tails = _relabelled_tails(samples)
    p_disparity, p_equivalence = p_values
    if p_disparity <= SECOND_TEST_BELOW:
        p_disparity = max(p_disparity, disparity_p(tails, tolerance))
    if p_equivalence is not None and p_equivalence <= SECOND_TEST_BELOW:
        p_equivalence = max(p_equivalence, equivalence_p(tails, tolerance) or 0.0)
    return p_disparity, p_equivalence


def _relabelled_tails(samples: ComparedSamples) -> TailFunction:
    """Return one-sided tests by relabelling; two parts are joined as their curves are."""

    @cache
    def tails(gap: float) -> tuple[float, float]:
        paired, single = (1.0, 1.0), (1.0, 1.0)
        if samples.pairs:
            moved = samples.differences - gap
            paired = sided(sign_flip_p(moved), float(moved.sum()))
        if samples.weight < 1:
            moved_a = samples.only_a - gap if gap else samples.only_a
            a, b = ensure_sorted(moved_a), ensure_sorted(samples.only_b)
            del moved_a
            single = sided(exchange_p(a, b), float(a.mean() - b.mean()))
        if not samples.pairs or samples.weight == 1:
            return paired if samples.pairs else single
        at_most, at_least = (
            joined_p(*both, samples.weight) for both in zip(paired, single, strict=True)
        )
        return at_most, at_least

    return tails
