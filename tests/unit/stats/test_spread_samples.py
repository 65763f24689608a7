"""Equal means of samples spread over a range: scipy, the power at small sizes, rare values."""

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.sample_shape import shape_of
from biaswatch.shared.stats.comparisons.spread_samples import (
    equal_means_p,
    is_spread,
    spreads_differ,
)

RATINGS = (1.0, 5.0)
Rng = np.random.Generator


def ratings(rng: Rng, mean: float, size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.clip(np.rint(rng.normal(mean, 1.0, size)), *RATINGS)


def test_the_p_value_is_the_larger_of_welchs_and_of_all_exchanges() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        a, b = ratings(rng, 3.5, 6), ratings(rng, 2.5, 7)
        p_value = equal_means_p(a, b, RATINGS)
        if p_value is None:
            continue
        welch = stats.ttest_ind(a, b, equal_var=False).pvalue
        exchange = stats.permutation_test(
            (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), vectorized=True
        ).pvalue
        all_of_a_higher = min(a) >= max(b) or min(b) >= max(a)
        if not all_of_a_higher:
            assert p_value == pytest.approx(max(welch, exchange), abs=1e-9)


@pytest.mark.parametrize(("size", "share"), [(10, 0.88), (14, 0.9), (15, 0.9), (16, 0.9)])
def test_power_is_near_welchs_on_both_sides_of_fifteen_units(size: int, share: float) -> None:
    result, welch, studies = 0, 0, 300
    for number in range(studies):
        rng = np.random.default_rng([15, size, number])
        a, b = (
            ratings(rng, 3 + 1.45 * (2 / size) ** 0.5, size),
            ratings(rng, 3 - 1.45 * (2 / size) ** 0.5, size),
        )
        gap = compare_samples(
            ComparedSamples(only_a=a, only_b=b, bounds=RATINGS), alpha=0.05, tolerance=0.0
        )
        result += (gap.p_disparity or 1.0) <= 0.05
        welch += stats.ttest_ind(a, b, equal_var=False).pvalue <= 0.05
        excludes_0 = (gap.marginal.low or 0) > 0 or (gap.marginal.high or 0) < 0
        assert excludes_0 == ((gap.p_disparity or 1.0) <= 0.05)
    assert result / studies >= share * welch / studies


@pytest.mark.filterwarnings("ignore:Precision loss")
def test_rare_values_that_no_unit_has_shown_make_no_disparity() -> None:
    """12 % rate 1, all others 4 or 5; Welch errs in a sixth of studies."""
    result, welch, studies = 0, 0, 300
    for number in range(studies):
        rng = np.random.default_rng([16, number])
        a = rng.choice([1.0, 4.0, 5.0], 8, p=[0.12, 0.44, 0.44])
        b = rng.choice([3.0, 4.0, 5.0], 8, p=[0.12, 0.776, 0.104])
        gap = compare_samples(
            ComparedSamples(only_a=a, only_b=b, bounds=RATINGS), alpha=0.05, tolerance=0.0
        )
        result += (gap.p_disparity or 1.0) <= 0.05
        welch += stats.ttest_ind(a, b, equal_var=False).pvalue <= 0.05
    assert result / studies <= 0.05 < welch / studies


@pytest.mark.parametrize(
    "values",
    [
        [0.0] * 7 + [6e-138],
        [1.0] * 8,
        [1.0, 5.0] * 4,
        [3.0, 3.5] * 4,
        [1.0] * 9 + [5.0],
        [1.0, 3.0, 5.0],
    ],
)
def test_samples_that_could_hide_far_values_are_not_spread(values: list[float]) -> None:
    assert not is_spread(shape_of(np.array(values)), RATINGS)


@pytest.mark.parametrize("draw", ["normal", "uniform", "logistic"])
def test_a_small_group_with_less_spread_is_compared_by_welchs_t_alone(draw: str) -> None:
    """The exchange of labels takes the spread of the large group for that of the small one."""
    errors, result, welch, studies = 0, 0, 0, 200
    for number in range(studies):
        rng = np.random.default_rng([17, number])
        a, b = (scale * getattr(rng, draw)(-1, 1, size) for scale, size in ((2.4, 400), (0.8, 40)))
        a, b = (a + 2.4, b + 0.8) if draw != "uniform" else (a, b)
        shift = 3.0 * (a.var() / len(a) + b.var() / len(b)) ** 0.5
        errors += p_of(a, b) <= 0.05
        result += p_of(a + shift, b) <= 0.05
        welch += stats.ttest_ind(a + shift, b, equal_var=False).pvalue <= 0.05
    assert errors / studies <= 0.05 + 3.5 * (0.05 * 0.95 / studies) ** 0.5
    assert result >= 0.9 * welch


def p_of(a: np.ndarray, b: np.ndarray) -> float:
    samples = ComparedSamples(only_a=a, only_b=b)
    return compare_samples(samples, alpha=0.05, tolerance=0.0).p_disparity or 1.0


def test_labels_are_exchanged_where_rare_values_could_be_unseen() -> None:
    small, large = np.zeros(25), np.repeat([0.0, 1.0], [180, 20])
    assert not differ(small, large)
    skewed = np.random.default_rng(0).lognormal(0, 1.2, 200)
    assert not differ(np.random.default_rng(1).normal(2, 0.3, 25), skewed)


def test_a_large_group_shows_rare_values_that_a_small_one_lacks() -> None:
    """Of 1,000 units, 2 % lie far above; Welch's t errs in 0.07 of studies with 20 units."""
    even = np.sort(np.random.default_rng(2).normal(0, 1, 1000))
    rare = np.append(even[:980], np.full(20, 8.0))
    small = np.random.default_rng(3).normal(0, 0.4, 20)
    assert differ(even, small)
    assert not differ(rare, small)


def differ(a: np.ndarray, b: np.ndarray) -> bool:
    return spreads_differ(shape_of(np.sort(a)), shape_of(np.sort(b)))
