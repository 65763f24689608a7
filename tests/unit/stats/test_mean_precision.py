"""The errors of group means, which are Welch's, the paired t test's and the sandwich's."""

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from biaswatch.shared.stats.groups.group_means import GroupMeans, group_means

ALONE = -1


def of(values: Any, codes: Any, sets: Any = ALONE, groups: int = 0) -> GroupMeans:
    codes = np.asarray(codes)
    sets = np.broadcast_to(sets, codes.shape)
    return group_means(np.asarray(values, dtype=float), codes, sets, groups or codes.max() + 1)


def error(means: GroupMeans, a: int, b: int) -> float:
    c = means.covariance
    return float(np.sqrt(c[a, a] + c[b, b] - 2 * c[a, b]))


def test_without_sets_the_error_of_a_difference_is_welchs() -> None:
    rng = np.random.default_rng(1)
    codes = np.repeat([0, 1, 2], [8, 20, 5])
    values = rng.normal(0, 1 + codes)
    expected = stats.ttest_ind(values[codes == 0], values[codes == 1], equal_var=False)
    means = of(values, codes)
    gap = means.means[0] - means.means[1]
    assert gap / error(means, 0, 1) == pytest.approx(expected.statistic)
    assert means.covariance[0, 1] == 0
    assert not means.shared[0, 1]


def test_with_sets_of_both_groups_it_is_the_paired_t_tests() -> None:
    rng = np.random.default_rng(2)
    sets, codes = np.repeat(np.arange(15), 3), np.tile([0, 1, 2], 15)
    values = rng.normal(0, 3, 15)[sets] + rng.normal(0, 1, 45)
    expected = stats.ttest_rel(values[codes == 0], values[codes == 1])
    means = of(values, codes, sets)
    gap = means.means[0] - means.means[1]
    assert gap / error(means, 0, 1) == pytest.approx(expected.statistic)
    assert means.shared.all()


def test_with_families_inside_groups_it_is_statsmodels_sandwich() -> None:
    rng = np.random.default_rng(3)
    sets = np.repeat(np.arange(10), [3, 9, 4, 4, 7, 5, 5, 5, 8, 2])
    codes = (sets >= 5).astype(int)
    values = rng.normal(0, 1, 10)[sets] + rng.normal(0, 1, len(sets))
    design = np.column_stack([codes == 0, codes == 1]).astype(float)
    fit = sm.OLS(values, design).fit(
        cov_type="cluster", cov_kwds={"groups": sets, "use_correction": False}
    )
    means = of(values, codes, sets)
    assert means.covariance == pytest.approx(fit.cov_params() * 5 / 4)
    assert means.units.tolist() == [5, 5]


def test_the_variance_within_is_that_of_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0, 1, (12, 4)) + rng.normal(0, 3, (12, 1))
    codes, sets = np.tile(np.arange(4), 12), np.repeat(np.arange(12), 4)
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    blocked, alone = of(values.ravel(), codes, sets), of(values.ravel(), codes)
    assert (blocked.freedom, alone.freedom) == (33, 44)
    assert blocked.variance == pytest.approx(np.sum(residuals**2) / 33)
    assert alone.variance == pytest.approx(np.mean(np.var(values, axis=0, ddof=1)))


def test_a_group_of_one_unit_has_a_mean_and_no_error() -> None:
    means = of([1.0, 2.0, 4.0], [0, 1, 1], groups=3)
    assert means.means[:2].tolist() == [1.0, 3.0]
    assert np.isnan(means.means[2])
    assert np.isnan(means.covariance[0]).all()
    assert means.covariance[1, 1] == pytest.approx(1.0)
    lonely = of([1.0, 2.0], [0, 1])
    assert (lonely.freedom, np.isnan(lonely.variance)) == (0, True)
