"""Tests that exchange labels, compared with every relabelling."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import stats

from biaswatch.shared.stats.comparisons.label_tests import exchange_p
from biaswatch.shared.stats.comparisons.relabelling import MAX_ENUMERATED
from biaswatch.shared.stats.samples import Vector

SIZES = [(8, 9, 0.25), (9, 9, 0.25), (7, 12, 0.25), (3, 50, 0.25), (2, 150, 0.7)]
"""And how near the closed form is to all relabellings: less so with two labels."""


def mid_p(sums: Vector, observed: float) -> tuple[float, float]:
    """Two-sided, whole and with half of the relabellings that give just the observed sum."""
    near = 1e-9 * np.abs(sums).max()
    ties = (np.abs(sums - observed) <= near).mean()
    smaller = min((sums >= observed - near).mean(), (sums <= observed + near).mean())
    return min(1.0, 2 * float(smaller)), min(1.0, 2 * float(smaller - ties / 2))


def every_sum(values: Vector, n: int) -> Vector:
    places = np.array(list(combinations(range(len(values)), n)))
    return np.asarray(values[places].sum(axis=1))


@pytest.mark.parametrize(("n_a", "n_b", "nearness"), SIZES)
def test_the_closed_form_of_exchanged_labels_is_near_all_relabellings(
    n_a: int, n_b: int, nearness: float
) -> None:
    """Where p is below .2 and five relabellings are as extreme."""
    assert comb(n_a + n_b, n_a) > MAX_ENUMERATED
    rng = np.random.default_rng(n_a)
    looked_at = 0
    for _ in range(12):
        values = rng.exponential(1, n_a + n_b)
        values[:n_a] += rng.uniform(0, 1.5)
        exact, half = mid_p(every_sum(values, n_a), float(values[:n_a].sum()))
        if 10 / comb(n_a + n_b, n_a) < exact < 0.2:
            p_value = exchange_p(values[:n_a], values[n_a:])
            assert p_value == pytest.approx(half, rel=nearness)
            looked_at += 1
    assert looked_at


def test_few_labels_are_all_exchanged() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        values = rng.integers(1, 6, 9).astype(float)
        exact, _ = mid_p(every_sum(values, 4), float(values[:4].sum()))
        if np.ptp(values):
            assert exchange_p(values[:4], values[4:]) == pytest.approx(exact)


@pytest.mark.parametrize(
    ("ones_a", "n_a", "ones_b", "n_b"),
    [
        (30, 60, 20, 60),
        (12, 20, 100, 400),
        (55, 60, 5, 60),
        (11, 25, 50, 1000),
        (90, 300, 11, 5000),
    ],
)
def test_zeros_and_ones_have_fishers_mid_p(ones_a: int, n_a: int, ones_b: int, n_b: int) -> None:
    """Small groups far from large ones among them: no chance is too small."""
    a, b = np.arange(n_a) < ones_a, np.arange(n_b) < ones_b
    law = stats.hypergeom(n_a + n_b, ones_a + ones_b, n_a)
    half = 2 * (law.sf(ones_a) + law.pmf(ones_a) / 2)
    p_value = exchange_p(a.astype(float), b.astype(float))
    assert p_value == pytest.approx(half, rel=1e-6, abs=1e-300)


def of_three_values(a: tuple[int, int, int], b: tuple[int, int, int]) -> float:
    """The mid-p of a's sum of values 0, 1 and 2, from the numbers of ways to draw each."""
    n, total = sum(a), a[1] + 2 * a[2]
    ways: dict[int, int] = {}
    zeros, ones, twos = (x + y for x, y in zip(a, b, strict=True))
    for two in range(n + 1):
        for one in range(n + 1 - two):
            number = comb(twos, two) * comb(ones, one) * comb(zeros, n - one - two)
            ways[one + 2 * two] = ways.get(one + 2 * two, 0) + number
    n_ways, half = sum(ways.values()), ways[total] / 2
    above = sum(number for at, number in ways.items() if at > total)
    return float(2 * min(above + half, n_ways - above - half) / n_ways)


@pytest.mark.parametrize(
    ("a", "b"),
    [((14, 8, 3), (950, 40, 10)), ((2, 3, 20), (3, 900, 97)), ((10, 5, 25), (9_000, 900, 100))],
)
def test_a_small_group_far_from_a_large_one_is_found(
    a: tuple[int, int, int], b: tuple[int, int, int]
) -> None:
    p_value = exchange_p(*(np.repeat([0.0, 1.0, 2.0], item) for item in (a, b)))
    assert p_value is not None
    assert np.log10(p_value) == pytest.approx(np.log10(of_three_values(a, b)), rel=0.05)


@pytest.mark.parametrize("kind", ["outlier", "heavy tails", "skew"])
def test_the_closed_form_is_there_for_any_shape(kind: str) -> None:
    """The likelihood has its maximum where its slope is 0, however far an outlier lies."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        n_a, n_b = rng.choice([15, 60, 400], 2)
        a, b = rng.normal(rng.uniform(-3, 3), 1, n_a), rng.normal(0, 1, n_b)
        if kind == "outlier":
            a[0] = 1e7
        if kind == "heavy tails":
            a, b = np.sinh(2 * a), np.sinh(b)
        if kind == "skew":
            a, b = np.exp(2 * a), np.exp(b)
        p_value = exchange_p(a, b)
        assert p_value is not None
        assert 0 < p_value <= 1
        assert p_value == pytest.approx(exchange_p(-b, -a), rel=1e-6)


def test_a_group_wholly_beyond_the_other_is_counted_exactly() -> None:
    a, b = np.arange(40.0) + 100, np.arange(60.0)
    assert exchange_p(a, b) == pytest.approx(2 / comb(100, 40))
    touching = exchange_p(np.array([1.0] * 20 + [2.0] * 20), np.array([0.0] * 40 + [1.0] * 5))
    assert touching == pytest.approx(2 * comb(25, 20) / comb(85, 40))


def test_where_nothing_can_be_exchanged_there_is_no_test() -> None:
    assert exchange_p(np.full(4, 0.7), np.full(9, 0.7)) is None
    assert exchange_p(np.full(4, 0.1 + 0.2), np.full(9, 0.3)) is None


VALUES = st.lists(st.integers(1, 5).map(float), min_size=2, max_size=40)
