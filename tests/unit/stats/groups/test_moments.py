"""Sums of groups say what the values say, and sums of parts add up."""

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.gaps_from_sums import (
    MIN_UNITS_FOR_SUMS,
    SampleSums,
    gap_from_sums,
    joined,
    mean_from_sums,
)
from biaswatch.shared.stats.comparisons.mean_interval import mean_interval
from tests.support.own_statistics import moments_of

RNG = np.random.default_rng(5)
VALUES = np.column_stack([RNG.normal(1e6, 2, 4000), RNG.beta(2, 5, 4000)])
CODES = RNG.integers(0, 2, 4000)
SHIFT = np.array([1e6, 0.3])


def sums_of(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> SampleSums:
    moments = moments_of(values[:, None], np.zeros(len(values), dtype=np.intp), 1, SHIFT[1:])
    cells = (moments.mean, moments.square_sum, moments.skewness, moments.low, moments.high)
    return SampleSums(int(moments.n[0, 0]), *(float(cell[0, 0]) for cell in cells))


def test_means_spreads_and_skewness_are_those_of_scipy() -> None:
    holed = VALUES.copy()
    holed[3, 0], holed[4, 1] = np.nan, np.inf
    moments = moments_of(holed, CODES, 3, SHIFT)
    for group in (0, 1):
        for index in (0, 1):
            own = holed[group == CODES, index]
            own = own[np.isfinite(own)]
            assert moments.n[group, index] == len(own)
            assert moments.mean[group, index] == pytest.approx(own.mean(), rel=1e-13)
            spread = moments.standard_deviation(1)[group, index]
            assert spread == pytest.approx(own.std(ddof=1), rel=1e-12)
            assert moments.skewness[group, index] == pytest.approx(
                stats.skew(own - SHIFT[index]), abs=1e-11
            )
            assert (moments.low[group, index], moments.high[group, index]) == (own.min(), own.max())
    assert np.isnan(moments.mean[2]).all()
    assert np.isnan(moments.standard_deviation(0)[2]).all()
    assert moments.rows.sum() == 8000


def test_sums_of_parts_are_those_of_the_whole() -> None:
    whole = moments_of(VALUES, CODES, 2, SHIFT)
    parts = [moments_of(VALUES[i::3], CODES[i::3], 2, SHIFT) for i in range(3)]
    joint = joined(parts)
    assert joint.mean == pytest.approx(whole.mean, rel=1e-14)
    assert (joint.n == whole.n).all()
    assert (joint.low == whole.low).all()
    with pytest.raises(ValueError, match="different shifts"):
        joined([whole, moments_of(VALUES, CODES, 2, SHIFT + 1)])


@pytest.mark.parametrize("bounds", [None, (0.0, 1.0)])
@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_a_regular_gap_is_that_of_its_values(
    bounds: tuple[float, float] | None, tolerance: float
) -> None:
    a, b = (VALUES[code == CODES, 1] for code in (0, 1))
    arguments = {"alpha": 0.05, "tolerance": tolerance, "family": 7}
    by_sums = gap_from_sums(sums_of(a), sums_of(b), bounds, **arguments)  # type: ignore[arg-type]
    by_values = compare_samples(ComparedSamples(only_a=a, only_b=b, bounds=bounds), **arguments)  # type: ignore[arg-type]
    for own, other in (
        (by_sums.marginal, by_values.marginal),
        (by_sums.simultaneous, by_values.simultaneous),
    ):
        assert own.value == pytest.approx(other.value, rel=1e-10)
        assert (own.low, own.high) == pytest.approx((other.low, other.high), rel=1e-8)
    assert by_sums.p_disparity == pytest.approx(by_values.p_disparity, rel=0.02)
    mean, whole = mean_from_sums(sums_of(a), bounds, 0.05), mean_interval(a, bounds, 0.05)
    assert (mean.low, mean.high) == pytest.approx((whole.low, whole.high), rel=1e-12)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.linspace(0, 1, MIN_UNITS_FOR_SUMS - 1), "fewer than 1,000 units"),
        (np.full(2000, 0.25), "all values are equal"),
        (np.r_[np.zeros(5000), 1.0], "too skew"),
        (np.full(2000, np.nan), "a group has no values"),
    ],
)
def test_sums_that_say_too_little_have_no_interval_but_a_reason(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], reason: str
) -> None:
    moments = gap_from_sums(
        sums_of(values), sums_of(VALUES[:, 1]), (0.0, 1.0), alpha=0.05, tolerance=0.0
    )
    assert moments.marginal.low is None
    assert moments.p_disparity is None
    assert reason in (moments.marginal.reason or "")
