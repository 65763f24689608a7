"""Means and gaps of corrected values: the confidence curves of readings, for what labels say."""

from dataclasses import dataclass, replace
from math import exp, inf, isfinite, log

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.bounded_mean import bounded_mean_curve
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, ComparedSamples
from biaswatch.shared.stats.comparisons.confidence_curve import (
    Curve,
    confidence_limits,
    gap_curve,
    joined_curve,
    score_at,
)
from biaswatch.shared.stats.comparisons.gap_test import (
    DIFFERENCES_AT_ENDS,
    NO_VALUES,
    ONE_UNIT,
    GapResult,
    gap_result,
    mean_gap,
)
from biaswatch.shared.stats.comparisons.mean_interval import student_with_ends
from biaswatch.shared.stats.comparisons.tolerance_tests import curve_tails, p_values_of
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.labels.corrected_values import CorrectedValues
from biaswatch.shared.stats.samples import Vector

METHOD = "readings corrected by labels (PPI++)"
_FITTED = 2


@dataclass(frozen=True)
class CorrectedSide:
    """What is known of one side's corrected values beside the values themselves."""

    bounds: Bounds
    usual_bounds: Bounds
    regular: bool
    labelled: int

    @classmethod
    def of(cls, corrected: CorrectedValues) -> "CorrectedSide":
        """Return what is known of a group's corrected values."""
        return cls(corrected.bounds, corrected.usual_bounds, corrected.regular, corrected.labelled)

    def times(self, factor: float) -> "CorrectedSide":
        """Return what is known of the values times a factor above 0."""
        (low, high), (least, most) = self.bounds, self.usual_bounds
        return replace(
            self, bounds=(factor * low, factor * high), usual_bounds=(factor * least, factor * most)
        )

    @property
    def dof(self) -> int:
        """Degrees of freedom: chance comes from the labels, and some of it went into the fit."""
        return self.labelled - _FITTED


def corrected_mean(values: Vector, side: CorrectedSide, bounds: Bounds, alpha: float) -> Estimate:
    """Return the mean of a group's corrected units, with an interval within the scale.

    Chance can take the mean a little beyond the scale: it is then the end of it. Gaps are made of
    the values themselves.

    Parameters
    ----------
    values
        One corrected value for each independent unit, such as the mean of a prompt's answers.
    bounds
        The least and the largest value that a label can be; the interval does not leave it.
    alpha
        1 minus the coverage, in (0, 1).
    """
    check_alpha(alpha)
    value = float(np.sort(values).mean())
    low, high = confidence_limits(_mean_curve(values, side), alpha)
    shown = float(np.clip(value, *bounds))
    return Estimate(
        shown, min(max(low, bounds[0]), shown), max(min(high, bounds[1]), shown), METHOD
    )


def corrected_gap(
    samples: ComparedSamples,
    a: CorrectedSide,
    b: CorrectedSide,
    *,
    alpha: float,
    tolerance: float,
    family: int = 1,
) -> GapResult:
    """Return the gap of two groups as their labels correct it, its intervals and its tests.

    Where what labels differ by from their expectation is spread, the curves are Student's, with
    degrees of freedom by the number of labels; elsewhere those of bounded means, which know what a
    few labels cannot have shown: that all agreed with the instrument does not prove that others do.

    Parameters
    ----------
    samples
        The corrected values of both groups by unit, in pairs where twins share a set.
    a, b
        What is known of both sides' values.
    alpha, tolerance, family
        As `compare_samples` takes them.
    """
    value = mean_gap(samples)
    if not samples.testable:
        nothing = undefined(NO_VALUES if value is None else ONE_UNIT, value=value)
        return GapResult(nothing, nothing, None, None)
    curve = corrected_curve(samples, a, b)
    p_values = p_values_of(curve_tails(curve), tolerance)
    kind = "over pairs and single units" if samples.weight < 1 else "over pairs"
    method = f"{METHOD}, {kind if samples.pairs else 'over units'}"
    return gap_result(
        curve, value, method, p_values, alpha=alpha, tolerance=tolerance, family=family
    )


def corrected_curve(samples: ComparedSamples, a: CorrectedSide, b: CorrectedSide) -> Curve:
    """Return the confidence curve of the gap; there are two pairs, or two units a side."""
    paired = _paired_curve(samples.differences, a, b) if samples.pairs else None
    if samples.weight == 1 and paired is not None:
        return paired
    single = gap_curve(_mean_curve(samples.only_a, a), _mean_curve(samples.only_b, b))
    return single if paired is None else joined_curve(paired, single, samples.weight)


def _paired_curve(differences: Vector, a: CorrectedSide, b: CorrectedSide) -> Curve:
    if a.regular and b.regular:
        ends = _difference(a.usual_bounds, b.usual_bounds)
        return student_with_ends(differences, ends, DIFFERENCES_AT_ENDS, dof=a.dof + b.dof)
    return bounded_mean_curve(differences, *_holding(differences, _difference(a.bounds, b.bounds)))


def _mean_curve(values: Vector, side: CorrectedSide) -> Curve:
    if side.regular and len(values) > 1:
        dof = min(side.dof, len(values) - 1)
        return student_with_ends(np.sort(values), side.usual_bounds, dof=dof)
    return bounded_mean_curve(values, *_holding(values, side.bounds))


def _difference(a: Bounds, b: Bounds) -> Bounds:
    return a[0] - b[1], a[1] - b[0]


def _holding(values: Vector, bounds: Bounds) -> Bounds:
    """Return the range, as wide as large families of prompts need, which weigh more."""
    slack = 1e-9 * max(map(abs, bounds), default=inf)
    low, high = float(values.min()), float(values.max())
    return min(bounds[0] - slack, low), max(bounds[1] + slack, high)


RATIO_METHOD = "ratio of corrected rates, by the curve of a - ratio x b"
WIDEST = 1000.0
"""Ratios beyond it, or below its inverse, are not told apart from none and endless."""
_STEPS = 40
"""Halvings of the range of logarithms: to the ninth digit."""


def corrected_ratio(
    samples: ComparedSamples, a: CorrectedSide, b: CorrectedSide, *, alpha: float
) -> Estimate:
    """Return mean(a) / mean(b) of corrected values, with the interval of Fieller's kind.

    A ratio r is in the interval where the curve of a - r b, made as that of a gap is, does not rule
    0 out at alpha. So it holds where corrected gaps hold, and knows when the rate of b could be 0:
    then there is no upper limit, and no interval.

    Parameters
    ----------
    samples
        Corrected values of both groups by unit, of numbers that are at least 0; pairs by sets.
    a, b
        What is known of both sides' values.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Fieller (1954), Some problems in interval estimation; here with the curves of `corrected_gap` in
    place of Student's alone.
    """
    check_alpha(alpha)
    if not samples.testable:
        return undefined("a group has too few units")
    top, below = _mean(samples, first=True), _mean(samples, first=False)
    if below <= 0:
        return undefined("the corrected rate of the second group is not above 0")
    value = max(0.0, top / below)
    reach = -float(special.ndtri(alpha / 2))
    low = _crossing(samples, a, b, -reach)
    high = _crossing(samples, a, b, reach)
    if not isfinite(high):
        return undefined("the rate of the second group could be 0", value=value)
    return Estimate(value, min(low, value), max(high, value), RATIO_METHOD)


def _crossing(samples: ComparedSamples, a: CorrectedSide, b: CorrectedSide, score: float) -> float:
    """Return the ratio at which 0 has this score; the surer it is that a - r b < 0, the higher."""
    low, high = -log(WIDEST), log(WIDEST)
    if _score(samples, a, b, exp(low)) >= score:
        return 0.0
    if _score(samples, a, b, exp(high)) <= score:
        return inf
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _score(samples, a, b, exp(middle)) < score:
            low = middle
        else:
            high = middle
    return exp((low + high) / 2)


def _score(samples: ComparedSamples, a: CorrectedSide, b: CorrectedSide, ratio: float) -> float:
    scaled = replace(
        samples, paired_b=ratio * samples.paired_b, only_b=ratio * samples.only_b, bounds=None
    )
    return float(score_at(corrected_curve(scaled, a, b.times(ratio)), 0.0)[0])


def _mean(samples: ComparedSamples, *, first: bool) -> float:
    """Return a side's mean with the weights that the gap gives to pairs and single units."""
    paired, only = (
        (samples.paired_a, samples.only_a) if first else (samples.paired_b, samples.only_b)
    )
    parts: list[tuple[float, Vector]] = [
        (samples.weight if samples.pairs else 0.0, paired),
        (1 - samples.weight, only),
    ]
    return sum(weight * float(np.sort(values).mean()) for weight, values in parts if weight)
