"""Intervals of single means and rates against other implementations, flat and small ones too."""

import numpy as np
import pytest
from scipy import optimize, stats

from biaswatch.shared.stats.comparisons.mean_interval import (
    independent_units,
    mean_interval,
    rate_interval,
)

UNIT = (0.0, 1.0)


def mid_p_limits(k: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    def above(p: float) -> float:
        law = stats.binom(n, p)
        return float(law.sf(k) + law.pmf(k) / 2)

    low = optimize.brentq(lambda p: above(p) - alpha / 2, 1e-12, 1 - 1e-12) if k else 0.0
    high = optimize.brentq(lambda p: above(p) - 1 + alpha / 2, 1e-12, 1 - 1e-12) if k < n else 1.0
    return low, high


def randomly_weighed(values: np.ndarray, added: float, draws: int = 200_000) -> np.ndarray:
    weights = np.random.default_rng(1).dirichlet(np.ones(len(values) + 1), draws)
    return np.asarray(weights @ np.append(values, added))


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 10), (10, 10), (1, 400), (60, 120)])
def test_a_share_of_whole_units_has_clopper_and_pearsons_mid_p_limits(k: int, n: int) -> None:
    interval = rate_interval(np.repeat([1.0, 0.0], [k, n - k]), 0.05)
    assert interval.value == pytest.approx(k / n)
    assert (interval.low, interval.high) == pytest.approx(mid_p_limits(k, n), abs=0.003)


def test_a_small_sample_of_a_known_range_has_the_limits_of_randomly_weighed_values() -> None:
    values = np.array([0.2, 0.25, 0.25, 0.3, 0.9])
    interval = mean_interval(values, UNIT, 0.05)
    drawn = np.concatenate([randomly_weighed(values, 0.0), randomly_weighed(values, 1.0)])
    assert (interval.low, interval.high) == pytest.approx(
        np.quantile(drawn, [0.025, 0.975]), abs=0.01
    )


def test_equal_values_of_a_known_range_have_an_interval_that_narrows_with_their_number() -> None:
    few, many = (mean_interval(np.full(n, 0.5), UNIT, 0.05) for n in (3, 300))
    for interval, n in ((few, 3), (many, 300)):
        drawn = np.concatenate([randomly_weighed(np.full(n, 0.5), end, 20_000) for end in UNIT])
        limits = np.quantile(drawn, [0.025, 0.975])
        assert (interval.low, interval.high) == pytest.approx(limits, abs=0.01)
    assert few.low is not None
    assert few.low < 0.25


def test_a_spread_sample_has_students_interval_with_one_value_more_at_each_end() -> None:
    values = np.random.default_rng(2).beta(2, 2, 80)
    interval = mean_interval(values, UNIT, 0.05)
    expected = stats.ttest_1samp(np.append(values, UNIT), 0).confidence_interval(0.95)
    assert interval.value == pytest.approx(values.mean())
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-3)


def test_without_a_range_it_is_students_and_equal_values_have_none() -> None:
    values = np.random.default_rng(3).normal(50, 20, 9)
    interval = mean_interval(values, None, 0.1)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-3)
    flat, single = (mean_interval(np.full(n, 7.0), None, 0.05) for n in (4, 1))
    assert (flat.value, flat.low) == (7.0, None)
    assert "declare the range" in (flat.reason or "")
    assert (single.value, single.low) == (7.0, None)


def test_repeats_of_a_prompt_are_one_unit() -> None:
    interval = rate_interval(np.array([0.5, 1.0, 0.0, 0.9]), 0.05)
    assert interval.value == pytest.approx(0.6)
    assert interval.method == "bounded means, over units"


def test_no_values_have_no_mean() -> None:
    assert mean_interval(np.empty(0), UNIT, 0.05).reason == "no values"
    assert rate_interval(np.empty(0), 0.05).reason == "no values"


def test_a_family_is_one_unit_and_weighs_by_its_size() -> None:
    values = np.array([1.0, 2.0, 3.0, 8.0, 5.0])
    assert independent_units(values, np.full(5, -1)).tolist() == values.tolist()
    of_pairs = independent_units(values[:4], np.array([0, 0, 1, 1]))
    assert of_pairs.tolist() == [1.5, 5.5]
    uneven = independent_units(values, np.array([4, 4, 4, 9, -1]))
    assert uneven.mean() == pytest.approx(values.mean())
    shares, means = np.array([3, 1, 1]) / 5, np.array([2.0, 8.0, 5.0])
    weighted = float(shares**2 @ (means - values.mean()) ** 2)
    assert ((uneven - uneven.mean()) ** 2).sum() / 9 == pytest.approx(weighted)


def test_the_interval_of_uneven_families_stays_within_the_range() -> None:
    values = np.array([1.0] * 9 + [0.0, 0.0, 1.0])
    units = independent_units(values, np.array([0] * 9 + [1, 2, 3]))
    assert units.max() > 1
    interval = mean_interval(units, UNIT, 0.05)
    assert interval.value == pytest.approx(10 / 12)
    assert interval.high == 1.0
    assert interval.low is not None
    assert interval.low < 0.4
