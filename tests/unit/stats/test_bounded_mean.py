"""The confidence curve of a bounded mean: against beta distributions and simulated weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

from biaswatch.shared.stats.comparisons.bounded_mean import MAX_NODES, bounded_mean_curve
from biaswatch.shared.stats.comparisons.confidence_curve import LADDER, confidence_limits
from biaswatch.shared.stats.samples import Vector

TAILS = (0.4, 0.1, 0.025, 1e-3, 1e-6, 1e-9)
COUNTS = [(0, 5), (1, 5), (2, 5), (5, 5), (0, 25), (3, 25), (24, 25), (70, 1000), (1, 1000)]


def zeros_and_ones(ones: int, n: int) -> Vector:
    return np.repeat([0.0, 1.0], [n - ones, ones])


def mid_p_limits(ones: int, n: int, tail: float) -> tuple[float, float]:
    """Clopper and Pearson's limits with half of the observed count's probability."""

    def above(p: float) -> float:
        share = stats.binom.cdf(ones - 1, n, p) + stats.binom.pmf(ones, n, p) / 2
        return float(share - tail)

    def below(p: float) -> float:
        share = stats.binom.sf(ones, n, p) + stats.binom.pmf(ones, n, p) / 2
        return float(share - tail)

    low = 0.0 if ones == 0 else optimize.brentq(below, 1e-15, 1 - 1e-15, xtol=1e-16)
    high = 1.0 if ones == n else optimize.brentq(above, 1e-15, 1 - 1e-15, xtol=1e-16)
    return float(low), float(high)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize(("ones", "n"), COUNTS)
def test_zeros_and_ones_have_clopper_and_pearsons_mid_p_limits(
    ones: int, n: int, tail: float
) -> None:
    """To 1 % of the limit's distance from its end of the range, and 5e-8 of the range."""
    curve = bounded_mean_curve(zeros_and_ones(ones, n), 0.0, 1.0)
    low, high = confidence_limits(curve, 2 * tail)
    expected_low, expected_high = mid_p_limits(ones, n, tail)
    assert low == pytest.approx(expected_low, rel=0.035, abs=5e-8)
    assert high == pytest.approx(expected_high, rel=0.01)
    assert 1 - high == pytest.approx(1 - expected_high, rel=0.035, abs=5e-8)


@pytest.mark.parametrize(
    "values",
    [
        [0.1, 0.1, 0.3, 0.8, 0.5],
        [0.5] * 8,
        [0.0, 0.02, 0.9],
        np.random.default_rng(3).beta(2, 5, 40).tolist(),
        [0.0] * 30 + [1.0, 0.25],
    ],
)
def test_any_sample_has_the_mean_of_both_distributions_of_randomly_weighed_values(
    values: list[float],
) -> None:
    """Dirichlet weights are drawn; tails agree to 8 %, of which 2 % is luck."""
    rng = np.random.default_rng(8)
    drawn = np.concatenate(
        [
            rng.dirichlet(np.ones(len(values) + 1), 200_000) @ np.append(values, added)
            for added in (0.0, 1.0)
        ]
    )
    curve = bounded_mean_curve(np.array(values), 0.0, 1.0)
    for score in (-2.5, -1.96, -1.0, 0.0, 1.0, 1.96, 2.5):
        limit = np.interp(score, LADDER, curve)
        share = (drawn <= limit).mean() if score <= 0 else (drawn >= limit).mean()
        assert share == pytest.approx(special.ndtr(-abs(score)), rel=0.08)


BOUNDED = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@settings(max_examples=40)
@given(BOUNDED)
def test_the_opposite_values_have_the_mirrored_curve(values: list[float]) -> None:
    sample = np.array(values)
    mirrored = 1 - bounded_mean_curve(1 - sample, 0.0, 1.0)[::-1]
    assert bounded_mean_curve(sample, 0.0, 1.0) == pytest.approx(mirrored, abs=1e-6)


@settings(max_examples=40)
@given(BOUNDED)
def test_limits_never_decrease_and_stay_in_the_range(values: list[float]) -> None:
    curve = bounded_mean_curve(np.array(values), 0.0, 1.0)
    assert (np.diff(curve) >= 0).all()
    assert curve[0] >= 0.0
    assert curve[-1] <= 1.0


def test_a_flat_sample_excludes_what_as_many_equal_values_can_exclude() -> None:
    """All at the upper end: the lower limit is the (2 tail)-th root, like log(1/alpha) / n."""
    for n in (10, 100, 1000):
        low, high = confidence_limits(bounded_mean_curve(np.full(n, 5.0), 1.0, 5.0), 0.05)
        assert (5 - low) / 4 == pytest.approx(1 - 0.05 ** (1 / n), rel=0.01)
        assert high == 5.0


def test_bins_of_a_large_sample_change_the_limits_by_less_than_a_thousandth() -> None:
    values = np.random.default_rng(4).beta(0.4, 2.0, MAX_NODES + 1)
    whole = bounded_mean_curve(values[:-1], 0.0, 1.0)
    many = np.repeat(values[:-1], 3) + np.tile([-1e-9, 0.0, 1e-9], MAX_NODES)
    binned, counted = (
        bounded_mean_curve(np.clip(item, 0, 1), 0.0, 1.0)
        for item in (many, np.repeat(values[:-1], 3))
    )
    assert binned == pytest.approx(counted, abs=1e-3)
    assert np.ptp(confidence_limits(binned, 0.05)) < np.ptp(confidence_limits(whole, 0.05))


def test_a_range_of_one_value_is_known() -> None:
    assert (bounded_mean_curve(np.array([2.0, 2.0]), 2.0, 2.0) == 2.0).all()


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_a_value_outside_the_range_is_a_mistake(value: float) -> None:
    with pytest.raises(ValueError, match="outside the range from 0 to 1"):
        bounded_mean_curve(np.array([0.5, value]), 0.0, 1.0)
