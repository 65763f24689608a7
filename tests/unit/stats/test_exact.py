"""Groups that are small, or whose units are all equal, against scipy and by simulation."""

import numpy as np
import pytest
from scipy import stats

from shared.stats.comparisons.exact import exact_difference, label_p, t_suffices
from shared.stats.comparisons.means_and_rates import difference
from shared.stats.comparisons.relabelling import Stratum
from shared.stats.comparisons.verdicts import Decision, conclude_by_test


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def by_scipy(x: list[float], y: list[float], kind: str) -> float:
    found = stats.permutation_test(
        (x, y),
        lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis),
        permutation_type=kind,
        n_resamples=np.inf,
        vectorized=True,
    )
    return float(found.pvalue)


SMALL = [
    ([1.0, 2.0, 2.0], [9.0, 2.0, 4.0, 7.0]),
    ([5.0, 5.0, 5.0, 5.0], [1.0, 5.0, 4.0, 5.0, 2.0]),
    ([1.0, 2.0, 3.0], [3.0, 3.0, 4.0, 6.0]),
    ([3.0, 3.0, 3.0], [1.0, 2.0, 4.0, 5.0, 9.0]),
]


@pytest.mark.parametrize(("x", "y"), SMALL)
def test_labels_handed_out_again_are_scipys_permutations(x: list[float], y: list[float]) -> None:
    for a, b in ((x, y), (y, x)):
        found = label_p([Stratum(np.array(a), np.array(b))], rng())
        assert found == pytest.approx(by_scipy(a, b, "independent"))


def test_signs_of_pairs_are_scipys_permutations() -> None:
    x = [1.0, 4.0, 2.5, 3.0, 7.0, 5.0]
    for y in ([0.0, 4.0, 1.0, 2.0, 6.5, 3.0], [2.0, 3.0, 0.0, 1.0, 6.0, 6.5]):
        found = exact_difference(x, y, 0.05, paired=True, tolerance=0.0, rng=rng())
        p_value = difference(x, y, 0.05, paired=True).p_value
        assert p_value is not None
        assert found.p_value == pytest.approx(max(p_value, by_scipy(x, y, "samples")))


def test_ten_units_with_a_spread_need_no_permutation() -> None:
    x, y = list(range(10)), list(range(3, 14))
    assert t_suffices(x, y, paired=False)
    assert not t_suffices(x[:9], y, paired=False)
    assert not t_suffices([1.0] * 10, y, paired=False)
    assert not t_suffices(y[:10], [value - 0.1 for value in y[:10]], paired=True)


def verdict_of(x: list[float], y: list[float], tolerance: float) -> Decision:
    found = exact_difference(x, y, 0.05, paired=False, tolerance=tolerance, rng=rng())
    return conclude_by_test(
        found.estimate, found.p_value, found.p_at_tolerance, tolerance=tolerance, alpha=0.05
    ).verdict


def test_few_units_are_held_against_the_tolerance_by_permutation_too() -> None:
    x, y = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]
    assert verdict_of(x, y, 0.2) is Decision.DISPARITY
    assert verdict_of(x, y, 0.9) is Decision.NOT_ENOUGH
    assert verdict_of(x, y, 2.0) is Decision.NO_DISPARITY
    assert verdict_of(x[:3], y[:3], 5.0) is Decision.NOT_ENOUGH  # 1 of 20 relabellings is 5 %


def test_a_steady_group_beyond_the_tolerance_is_a_disparity_without_an_interval() -> None:
    steady, other = [5.0] * 30, [1.0, 2.0, 3.0] * 20
    assert verdict_of(steady, other, 0.5) is Decision.DISPARITY
    assert verdict_of(steady, other, 4.0) is Decision.NOT_ENOUGH


def test_pairs_of_rates_lie_between_clopper_and_pearsons_limits() -> None:
    found = exact_difference([1.0] * 6, [0.0] * 8, 0.05, paired=False, tolerance=0.1, rng=rng())
    limits = [
        stats.binomtest(k, n).proportion_ci(0.975, method="exact") for k, n in ((6, 6), (0, 8))
    ]
    assert found.estimate.low == pytest.approx(limits[0].low - limits[1].high)
    assert found.estimate.high == pytest.approx(limits[0].high - limits[1].low)


@pytest.mark.parametrize(
    ("steps", "shares", "sizes"),
    [
        ((0, 1), (0.95, 0.05), (25, 1000)),
        ((0, 1), (0.9, 0.1), (15, 200)),
        ((1, 3, 4, 5), (0.03, 0.05, 0.87, 0.05), (10, 200)),
        ((1, 3, 4, 5), (0.03, 0.05, 0.87, 0.05), (3, 100)),
    ],
)
def test_equal_groups_are_rarely_a_disparity(
    steps: tuple[float, ...], shares: tuple[float, ...], sizes: tuple[int, int]
) -> None:
    random, rejected = np.random.default_rng(8), 0
    for _ in range(300):
        x, y = (random.choice(steps, n, p=shares).astype(float).tolist() for n in sizes)
        if t_suffices(x, y, paired=False):
            p_value = difference(x, y, 0.05, paired=False).p_value
        else:
            p_value = exact_difference(x, y, 0.05, paired=False, tolerance=0.0, rng=random).p_value
        rejected += p_value is not None and p_value <= 0.05
    assert rejected / 300 <= 0.05 + 3.5 * (0.05 * 0.95 / 300) ** 0.5
