"""Confidence curves: intervals and tests of one curve, gaps of two, and parts joined."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from biaswatch.shared.stats.comparisons.confidence_curve import (
    LADDER,
    Curve,
    confidence_limits,
    gap_curve,
    joined_curve,
    one_sided_p,
    score_at,
    student_curve,
)

NEARLY_NORMAL = 1e9
ALPHAS = (0.4, 0.05, 0.001, 1e-9)


def normal(mean: float, error: float) -> Curve:
    return student_curve(mean, error, NEARLY_NORMAL)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("dof", [1, 3, 20, 400])
def test_students_curve_has_scipys_interval_and_p_value(dof: int, alpha: float) -> None:
    """Between two scores of the ladder it is interpolated: of one degree of freedom, to 2.5 %."""
    curve = student_curve(0.0, 0.5, dof)
    reach = 0.5 * stats.t.isf(alpha / 2, dof)
    result = confidence_limits(curve, alpha)
    assert result == pytest.approx((-reach, reach), rel=0.025 if dof == 1 else 3e-3)
    assert one_sided_p(curve, -1.0)[0] == pytest.approx(stats.t.sf(2.0, dof), rel=5e-3)
    assert one_sided_p(curve, 0.6)[1] == pytest.approx(stats.t.sf(1.2, dof), rel=5e-3)


@pytest.mark.parametrize("errors", [(1.0, 1.0), (0.1, 2.0), (3.0, 0.01)])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_two_normal_means_of_known_spread_have_the_exact_interval_of_their_gap(
    errors: tuple[float, float], alpha: float
) -> None:
    curve = confidence_limits(gap_curve(normal(1.0, errors[0]), normal(-2.0, errors[1])), alpha)
    reach = stats.norm.isf(alpha / 2) * sqrt(errors[0] ** 2 + errors[1] ** 2)
    assert curve == pytest.approx((3.0 - reach, 3.0 + reach), rel=2e-3)


def test_the_limit_of_a_gap_is_the_largest_over_all_splits_of_the_score() -> None:
    """Against a search over 20,000 angles, for curves of different shapes."""
    a, b = student_curve(0.2, 0.3, 2), np.exp(normal(-1.0, 0.6))
    angles = np.linspace(0, np.pi / 2, 20_001)
    for score in (0.5, 1.96, 3.3, 6.0):
        high = np.interp(score * np.cos(angles), LADDER, a)
        low = np.interp(-score * np.sin(angles), LADDER, b)
        curve = np.interp(score, LADDER, gap_curve(a, b))
        assert curve == pytest.approx((high - low).max(), rel=3e-3)


@pytest.mark.parametrize("weight", [0.1, 0.5, 0.9])
def test_joined_normal_curves_add_their_scores_with_the_roots_of_the_weights(weight: float) -> None:
    joined = joined_curve(normal(1.0, 0.5), normal(3.0, 2.0), weight)
    slopes = sqrt(weight) / 0.5, sqrt(1 - weight) / 2.0
    for score in (-4.0, -1.96, 0.0, 0.7, 3.0):
        value = (score + slopes[0] * 1.0 + slopes[1] * 3.0) / sum(slopes)
        assert np.interp(score, LADDER, joined) == pytest.approx(value, rel=5e-3)


@given(st.floats(-6, 6), st.integers(1, 50))
def test_the_score_at_a_limit_is_its_own(score: float, dof: int) -> None:
    curve = student_curve(0.3, 1.7, dof)
    value = float(np.interp(score, LADDER, curve))
    assert score_at(curve, value)[0] == pytest.approx(score, abs=1e-6)


@given(st.floats(1e-6, 0.9), st.floats(-3, 3))
def test_an_interval_leaves_a_value_out_where_its_test_rejects_it(
    alpha: float, value: float
) -> None:
    curve = student_curve(0.3, 0.5, 4)
    low, high = confidence_limits(curve, alpha)
    p_value = 2 * min(one_sided_p(curve, value))
    if abs(p_value - alpha) > 1e-9:
        assert (p_value < alpha) == (not low <= value <= high)


def test_beyond_its_ends_a_value_is_as_sure_as_can_be_said() -> None:
    curve = np.clip(normal(0.5, 0.1), 0.0, 1.0)
    assert one_sided_p(curve, -0.1)[0] == 0.0
    assert one_sided_p(curve, 1.1)[1] == 0.0
    assert one_sided_p(curve, 1.1)[0] == 1.0


def test_the_end_of_a_range_that_holds_half_of_the_confidence_is_not_excluded() -> None:
    curve = np.maximum(normal(0.0, 1.0), 0.5)
    assert one_sided_p(curve, 0.5)[0] == pytest.approx(0.5)
    assert one_sided_p(curve, 0.5)[1] == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(3))
def test_a_single_value_has_the_score_that_it_has_among_many(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level = np.maximum.accumulate(np.round(rng.normal(0, 1, len(LADDER)).cumsum(), 1))
    endless = student_curve(0.3, 0.1, 1.0)
    endless[0], endless[-1] = -np.inf, np.inf
    for curve in (level, endless, np.full(len(LADDER), 0.5)):
        values = np.concatenate([rng.choice(curve, 50), rng.normal(0.5, 30, 50)])
        scores = score_at(curve, values)
        result = [one_sided_p(curve, value) for value in values.tolist()]
        assert [p for p, _ in result] == [
            0.0 if score <= LADDER[0] else special.ndtr(score) for score in scores
        ]
