"""A few values that outweigh all others: every way in which they can fall is looked at."""

import numpy as np
import pytest

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.label_tests import exchange_p, extreme_exchange_p
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.samples import Vector
from tests.unit.stats.test_label_tests import every_sum, mid_p

OUTLIERS = ([1e6, 1e6, 1e6], [1e3, 2e3, -1e3], [40.0, 25.0, 60.0])


def with_outliers(rng: np.random.Generator, n: int, outliers: list[float]) -> Vector:
    values = rng.normal(0, 1, n)
    places = rng.choice(n, len(outliers), replace=False)
    values[places] = outliers
    return values


@pytest.mark.parametrize("outliers", OUTLIERS)
def test_exchanged_labels_are_near_all_relabellings(outliers: list[float]) -> None:
    rng = np.random.default_rng(1)
    for _ in range(8):
        values = with_outliers(rng, 18, outliers)
        of_a = float(values[:8].sum())
        _, half = mid_p(every_sum(values, 8), of_a)
        assert extreme_exchange_p(values, 8, of_a) == pytest.approx(half, rel=0.3)


def test_others_that_are_all_alike_are_no_reason_for_a_warning() -> None:
    values = np.repeat([0.0, 5.0, 9.0, 1e6], [200, 2, 1, 2])
    with np.errstate(all="raise", under="ignore"):
        p_value = extreme_exchange_p(values, 20, float(values[-20:].sum()))
    assert 0 < p_value < 1e-4


def test_where_no_few_values_outweigh_the_others_nothing_is_added() -> None:
    values = np.random.default_rng(3).normal(0, 1, 200)
    assert extreme_exchange_p(values, 50, float(values[:50].sum())) == 0.0


def test_outliers_that_lie_in_the_larger_group_alone_are_no_evidence() -> None:
    """Four of 440 lie among 400 rather than 40 in two of three cases; Welch's test sees a gap."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, 40), rng.normal(0, 1, 400)
    b[:4] = 1e6
    p_value = exchange_p(np.sort(a), np.sort(b))
    assert p_value is not None
    assert p_value > 0.2
    signs = sign_flip_p(np.concatenate([rng.normal(0, 1, 56), np.full(4, 1e6)]))
    assert signs is not None
    assert signs >= 0.05


def rare_outliers(rng: np.random.Generator, n: int) -> Vector:
    return rng.normal(0, 1, n) + 1e6 * (rng.random(n) < 0.01)


def test_rare_outliers_of_an_unknown_range_make_few_false_disparities() -> None:
    """In .21 of studies they did."""
    rng, wrong, runs = np.random.default_rng(5), 0, 300
    for _ in range(runs):
        samples = ComparedSamples(only_a=rare_outliers(rng, 40), only_b=rare_outliers(rng, 400))
        p_value = compare_samples(samples, alpha=0.05, tolerance=0)
        wrong += p_value.p_disparity is not None and p_value.p_disparity <= 0.05
    assert wrong / runs <= 0.05 + 3.5 * (0.05 * 0.95 / runs) ** 0.5
