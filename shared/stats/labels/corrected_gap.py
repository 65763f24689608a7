"""Means and gaps of corrected values: the confidence curves of readings, for what labels say."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from biaswatch.shared.stats.comparisons.bounded_mean import bounded_mean_curve
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, ComparedSamples
from biaswatch.shared.stats.comparisons.confidence_curve import (
    Curve,
    confidence_limits,
    gap_curve,
    joined_curve,
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
from biaswatch.shared.stats.estimate import IntervalEstimate, check_alpha, undefined
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


def corrected_mean(
    values: Vector, side: CorrectedSide, bounds: Bounds, alpha: float
) -> IntervalEstimate:
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
    return IntervalEstimate(
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
