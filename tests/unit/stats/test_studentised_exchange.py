"""Studentised exchanges of labels, compared with scipy's permutation test of Welch's t."""

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons.studentised_exchange import studentised_exchange_p


def welch(a: np.ndarray, b: np.ndarray, axis: int = 0) -> np.ndarray:
    return np.asarray(np.abs(stats.ttest_ind(a, b, axis=axis, equal_var=False).statistic))


def test_few_units_equal_all_exchanges_of_scipy() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0.8, 1, 6), rng.normal(0, 2, 7)
    expected = stats.permutation_test(
        (a, b), welch, vectorized=True, n_resamples=np.inf, alternative="greater"
    )
    assert studentised_exchange_p(a, b, rng) == pytest.approx(expected.pvalue)


def test_many_units_agree_with_random_exchanges_of_scipy() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.45, 1, 30), rng.normal(0, 2, 50)
    expected = stats.permutation_test(
        (a, b), welch, vectorized=True, n_resamples=9999, alternative="greater", rng=rng
    )
    assert studentised_exchange_p(a, b, rng) == pytest.approx(expected.pvalue, abs=0.03)


def test_unlike_spread_and_size_keep_the_level() -> None:
    rng = np.random.default_rng(4)
    p_values = [
        studentised_exchange_p(rng.normal(0, 1.2, 25), rng.normal(0, 0.4, 200), rng, 399)
        for _ in range(400)
    ]
    share = np.mean([p is not None and p <= 0.05 for p in p_values])
    assert share <= 0.05 + 3.5 * 0.011


def test_wholly_separate_groups_without_spread_differ() -> None:
    p_value = studentised_exchange_p(np.full(6, 2.0), np.full(6, 1.0), np.random.default_rng(0))
    assert p_value == pytest.approx(2 / 924)


def test_equal_values_and_single_units_have_no_test() -> None:
    rng = np.random.default_rng(0)
    assert studentised_exchange_p(np.ones(4), np.ones(5), rng) is None
    assert studentised_exchange_p(np.array([1.0]), np.array([0.0, 2.0]), rng) is None
