"""Verdicts against a tolerance and their intervals: both right as often as promised, and one."""

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons.confidence_curve import student_curve
from biaswatch.shared.stats.comparisons.tolerance_tests import (
    FAR_LIMIT_ALPHA_SHARE,
    Limits,
    agreeing_limits,
    curve_tails,
    joined_p,
    p_values_of,
    sided,
)

FREE = 1e6
"""Degrees of freedom: normal."""
ESTIMATES = np.arange(-8.0, 8.0, 0.01)
"""In standard errors; a grid that is weighed by the normal density."""


def found(value: float, tolerance: float, alpha: float) -> tuple[Limits, float, float]:
    curve = student_curve(value, 1.0, FREE)
    p_values = p_values_of(curve_tails(curve), tolerance)
    limits = agreeing_limits(curve, alpha, tolerance=tolerance, p_values=p_values)
    return limits, p_values[0], 1.0 if p_values[1] is None else p_values[1]


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.3, 1.0, 1.8, 2.5, 4.0])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_intervals_cover_in_one_minus_alpha_wherever_the_truth_lies(
    tolerance: float, alpha: float
) -> None:
    limits = np.array([found(value, tolerance, alpha)[0] for value in ESTIMATES])
    for truth in np.linspace(-tolerance - 3, tolerance + 3, 41):
        weights = stats.norm.pdf(ESTIMATES - truth) * 0.01
        missed = weights[(limits[:, 0] > truth) | (limits[:, 1] < truth)].sum()
        assert missed <= alpha * 1.03


@pytest.mark.parametrize("tolerance", [0.05, 0.3, 1.0, 1.8, 2.5, 4.0])
def test_at_the_edge_of_the_tolerance_either_verdict_is_wrong_in_alpha_together(
    tolerance: float,
) -> None:
    p_values = np.array([found(value, tolerance, 0.05)[1:] for value in ESTIMATES])
    weights = stats.norm.pdf(ESTIMATES - tolerance) * 0.01
    for item in p_values.T:
        assert weights[item <= 0.05].sum() <= 0.05


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.3, 1.0, 2.5, 4.0])
def test_an_interval_lies_beyond_or_within_the_tolerance_where_the_verdict_says_so(
    tolerance: float,
) -> None:
    for value in ESTIMATES:
        (low, high), disparity, equivalence = found(value, tolerance, 0.05)
        assert low <= high
        assert (low > tolerance or high < -tolerance) == (disparity <= 0.05)
        assert (low > -tolerance and high < tolerance) == (equivalence <= 0.05)


def test_with_a_wide_tolerance_each_verdict_has_nearly_all_of_alpha() -> None:
    nearly = -stats.norm.ppf(0.05 * (1 - FAR_LIMIT_ALPHA_SHARE))
    assert found(5 + nearly + 0.01, 5.0, 0.05)[1] <= 0.05 < found(5 + nearly - 0.01, 5.0, 0.05)[1]
    assert found(5 - nearly - 0.01, 5.0, 0.05)[2] <= 0.05 < found(5 - nearly + 0.01, 5.0, 0.05)[2]


def test_without_a_tolerance_the_test_is_two_sided_and_nothing_shows_equality() -> None:
    _, p_value, _ = found(1.96, 0.0, 0.05)
    assert p_value == pytest.approx(0.05, abs=1e-4)
    assert p_values_of(curve_tails(student_curve(0.0, 1e-9, FREE)), 0.0)[1] is None


def test_what_has_no_direction_or_no_test_doubts_nothing() -> None:
    assert sided(None, 1.0) == (1.0, 1.0)
    assert sided(0.02, 0.0) == (1.0, 1.0)
    assert sided(0.02, -3.0) == (0.99, 0.01)


def test_two_parts_that_agree_a_little_are_sure_together() -> None:
    one, weight = 0.03, 0.5
    score = -stats.norm.ppf(one) * 2**0.5
    assert joined_p(one, one, weight) == pytest.approx(stats.norm.sf(score))
    assert joined_p(1.0, one, weight) == pytest.approx(
        stats.norm.sf(-stats.norm.ppf(one) * 0.5**0.5)
    )
    assert joined_p(1.0, 1.0, weight) == pytest.approx(0.5)
    assert joined_p(0.0, 0.5, weight) == 0.0
