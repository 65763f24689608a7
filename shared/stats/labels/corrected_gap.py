"""Means, gaps and ratios of values corrected by labels, by the confidence curves of readings."""

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
    END_DIFFERENCE_WEIGHT,
    NO_VALUES,
    ONE_UNIT,
    GapResult,
    gap_result,
    mean_gap,
    untested_gap,
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
    """Range and degrees of freedom of one side's corrected values."""

    bounds: Bounds
    usual_bounds: Bounds
    regular: bool
    labelled: int

    @classmethod
    def of(cls, corrected: CorrectedValues) -> "CorrectedSide":
        """Return the side of a group's corrected values."""
        return cls(corrected.bounds, corrected.usual_bounds, corrected.regular, corrected.labelled)

    def times(self, factor: float) -> "CorrectedSide":
        """Return the side of the values times a factor above 0."""
        (low, high), (least, most) = self.bounds, self.usual_bounds
        return replace(
            self, bounds=(factor * low, factor * high), usual_bounds=(factor * least, factor * most)
        )

    @property
    def dof(self) -> int:
        """Degrees of freedom: the labels less the fitted parameters."""
        return self.labelled - _FITTED


def corrected_mean(values: Vector, side: CorrectedSide, bounds: Bounds, alpha: float) -> Estimate:
    """Return the mean of a group's corrected units, with an interval within the scale.

    A mean that chance takes beyond the scale is the end of the scale. Gaps use the values
    themselves.

    Parameters
    ----------
    values
        One corrected value for each independent unit, such as the mean of a prompt's answers.
    side
        Range and degrees of freedom of these values.
    bounds
        The range of labels, which the interval does not leave.
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
    """Return the gap of two groups corrected by their labels, with its intervals and tests.

    Where the residuals of labels are spread, the curves are Student's, with degrees of freedom by
    the number of labels; elsewhere those of bounded means, which allow for labels that were not
    seen: a few labels that all agree with the instrument do not prove that the others would.

    Parameters
    ----------
    samples
        The corrected values of both groups by unit, in pairs where twins share a set.
    a, b
        Range and degrees of freedom of both sides' values.
    alpha, tolerance, family
        As in `compare_samples`.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++; Zou and Donner (2008) for the difference.
    """
    value = mean_gap(samples)
    if not samples.testable:
        return untested_gap(NO_VALUES if value is None else ONE_UNIT, value)
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
        return student_with_ends(differences, ends, END_DIFFERENCE_WEIGHT, dof=a.dof + b.dof)
    return bounded_mean_curve(differences, *_widened(differences, _difference(a.bounds, b.bounds)))


def _mean_curve(values: Vector, side: CorrectedSide) -> Curve:
    if side.regular and len(values) > 1:
        dof = min(side.dof, len(values) - 1)
        return student_with_ends(np.sort(values), side.usual_bounds, dof=dof)
    return bounded_mean_curve(values, *_widened(values, side.bounds))


def _difference(a: Bounds, b: Bounds) -> Bounds:
    return a[0] - b[1], a[1] - b[0]


def _widened(values: Vector, bounds: Bounds) -> Bounds:
    """Return the range, wide enough for large families of prompts, which weigh more."""
    slack = 1e-9 * max(map(abs, bounds), default=inf)
    low, high = float(values.min()), float(values.max())
    return min(bounds[0] - slack, low), max(bounds[1] + slack, high)


RATIO_METHOD = "ratio of corrected rates, by the curve of a - ratio x b"
MAX_RATIO = 1000.0
"""A larger ratio is infinite, and one below its inverse is 0."""
_STEPS = 40
"""Halvings of the range of logarithms: to the ninth digit."""


def corrected_ratio(
    samples: ComparedSamples, a: CorrectedSide, b: CorrectedSide, *, alpha: float
) -> Estimate:
    """Return mean(a) / mean(b) of corrected values, with the interval of Fieller's kind.

    A ratio r is in the interval where the curve of a - r b, computed like that of a gap, does not
    exclude 0 at alpha. It is valid where corrected gaps are. Where the rate of b could be 0, it is
    undefined, since it has an infinite upper limit.

    Parameters
    ----------
    samples
        Corrected values of both groups by unit, at least 0; pairs by sets.
    a, b
        Range and degrees of freedom of both sides' values.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Fieller (1954), Some problems in interval estimation; here with the curves of `corrected_gap`
    instead of Student's alone.
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
    """Return the ratio at which 0 has this score, which rises with the ratio."""
    low, high = -log(MAX_RATIO), log(MAX_RATIO)
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
