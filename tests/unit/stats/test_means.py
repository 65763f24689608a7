"""Means and differences against scipy, and what is undefined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shared.stats.comparisons.means_and_rates import difference, is_flat, mean_of
from tests.support.golden import golden_cases

RNG = np.random.default_rng(5)
numbers = st.floats(-1e6, 1e6, allow_nan=False)


@pytest.mark.parametrize("n", [2, 3, 17, 400])
def test_a_mean_has_scipys_t_interval(n: int) -> None:
    values = RNG.normal(3, 2, n)
    found = mean_of(list(values), 0.05)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.value == pytest.approx(values.mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize(("n", "m"), [(2, 2), (5, 40), (30, 30)])
def test_a_difference_between_prompts_is_welchs(n: int, m: int, alpha: float) -> None:
    x, y = RNG.normal(0, 1, n), RNG.normal(0.5, 3, m)
    found = difference(list(x), list(y), alpha, paired=False)
    test = stats.ttest_ind(x, y, equal_var=False)
    interval = test.confidence_interval(1 - alpha)
    assert found.p_value == pytest.approx(test.pvalue, abs=1e-12)
    assert found.estimate.low == pytest.approx(interval.low, abs=1e-9)
    assert found.estimate.high == pytest.approx(interval.high, abs=1e-9)


@pytest.mark.parametrize("n", [2, 5, 60])
def test_a_difference_within_sets_is_the_paired_test(n: int) -> None:
    x = RNG.normal(0, 1, n)
    y = x + RNG.normal(0.3, 0.2, n)
    found = difference(list(x), list(y), 0.05, paired=True)
    test = stats.ttest_rel(x, y)
    interval = test.confidence_interval(0.95)
    assert found.p_value == pytest.approx(test.pvalue, abs=1e-12)
    assert found.estimate.low == pytest.approx(interval.low, abs=1e-9)
    assert found.estimate.high == pytest.approx(interval.high, abs=1e-9)


@pytest.mark.parametrize(
    ("units", "reason"),
    [([], "no values"), ([2.0], "one unit"), ([2.0, 2.0, 2.0], "all values are equal")],
)
def test_what_has_no_interval_says_why(units: list[float], reason: str) -> None:
    found = mean_of(units, 0.05)
    assert (found.low, found.high) == (None, None)
    assert found.reason
    assert found.reason.startswith(reason)
    assert found.value == (units[0] if units else None)


def test_differences_equal_but_for_rounding_have_no_spread() -> None:
    found = difference([0.3, 1.1, 2.7], [0.1, 0.9, 2.5], 0.05, paired=True)
    assert found.p_value is None
    assert found.estimate.value == pytest.approx(0.2)


def test_one_group_without_spread_can_still_be_compared() -> None:
    found = difference([2.0, 2.0, 2.0], [1.0, 3.0, 4.0], 0.05, paired=False)
    assert found.p_value is not None


@given(st.lists(numbers, min_size=2, max_size=20), st.lists(numbers, min_size=2, max_size=20))
def test_exchanging_the_groups_changes_the_sign_and_nothing_else(
    a: list[float], b: list[float]
) -> None:
    one = difference(a, b, 0.05, paired=False)
    other = difference(b, a, 0.05, paired=False)
    if one.p_value is None:
        assert other.p_value is None
    else:
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9, abs=1e-300)
    assert one.estimate.value is not None
    assert other.estimate.value is not None
    assert one.estimate.value == -other.estimate.value


@pytest.mark.parametrize("paired", [True, False])
def test_a_true_null_is_rejected_as_often_as_it_says(paired: bool) -> None:
    rng = np.random.default_rng(11)
    rejected = 0
    for _ in range(2000):
        p_value = difference(
            list(rng.normal(0, 1, 12)), list(rng.normal(0, 1, 12)), 0.05, paired=paired
        ).p_value
        rejected += p_value is not None and p_value <= 0.05
    assert 0.03 < rejected / 2000 < 0.065


def test_t_tests_give_the_recorded_values() -> None:
    for name, paired in (("ttest_ind Welch + CI", False), ("ttest_rel", True)):
        (case,) = golden_cases(name)
        a, b = case["input"]
        found = difference(a, b, 0.05, paired=paired)
        assert found.p_value == pytest.approx(case["expected"]["p"], abs=1e-12)
        if not paired:
            interval = (found.estimate.low, found.estimate.high)
            assert interval == pytest.approx(tuple(case["expected"]["ci"]), abs=1e-9)


def test_values_near_the_largest_number_are_told_apart_without_a_warning() -> None:
    assert is_flat(np.full(5, 1e300))
    assert not is_flat(np.array([1e300, 2e300, 1.5e300]))
    assert is_flat(np.zeros(3))
