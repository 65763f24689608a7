"""Tests that exchange labels or signs: against every relabelling."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from shared.stats.comparisons.label_tests import exchange_p, flip_p
from shared.stats.comparisons.relabelling import EXACT_UP_TO
from shared.stats.samples import Vector

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


def every_flip(differences: Vector) -> Vector:
    signs = 1 - 2 * ((np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences))) & 1)
    return np.asarray(signs @ np.abs(differences))


@pytest.mark.parametrize(("n_a", "n_b", "nearness"), SIZES)
def test_the_closed_form_of_exchanged_labels_is_near_all_relabellings(
    n_a: int, n_b: int, nearness: float
) -> None:
    """Where p is below .2 and five relabellings are as extreme."""
    assert comb(n_a + n_b, n_a) > EXACT_UP_TO
    rng = np.random.default_rng(n_a)
    looked_at = 0
    for _ in range(12):
        values = rng.exponential(1, n_a + n_b)
        values[:n_a] += rng.uniform(0, 1.5)
        exact, half = mid_p(every_sum(values, n_a), float(values[:n_a].sum()))
        if 10 / comb(n_a + n_b, n_a) < exact < 0.2:
            found = exchange_p(values[:n_a], values[n_a:])
            assert found == pytest.approx(half, rel=nearness)
            looked_at += 1
    assert looked_at


@pytest.mark.parametrize("n", [14, 16])
def test_the_closed_form_of_flipped_signs_is_near_all_flips(n: int) -> None:
    rng = np.random.default_rng(n)
    looked_at = 0
    for _ in range(25):
        differences = rng.exponential(1, n) - rng.uniform(0, 1)
        exact, half = mid_p(every_flip(differences), float(differences.sum()))
        if 10 / 2**n < exact < 0.2:
            assert flip_p(differences) == pytest.approx(half, rel=0.25)
            looked_at += 1
    assert looked_at


def test_few_labels_are_all_exchanged() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        values = rng.integers(1, 6, 9).astype(float)
        exact, _ = mid_p(every_sum(values, 4), float(values[:4].sum()))
        if np.ptp(values):
            assert exchange_p(values[:4], values[4:]) == pytest.approx(exact)


def test_few_signs_are_all_flipped() -> None:
    differences = np.array([0.3, -0.1, 0.5, 0.2, 0.0, 0.7, -0.05])
    exact, _ = mid_p(every_flip(differences), float(differences.sum()))
    assert flip_p(differences) == pytest.approx(exact)


@pytest.mark.parametrize(
    ("ones_a", "n_a", "ones_b", "n_b", "nearness"),
    [(30, 60, 20, 60, 0.05), (12, 20, 100, 400, 0.2), (30, 60, 5, 60, 0.35), (55, 60, 5, 60, 0.6)],
)
def test_zeros_and_ones_are_near_fishers_mid_p(
    ones_a: int, n_a: int, ones_b: int, n_b: int, nearness: float
) -> None:
    """Nearest where decisions are made: tails as of values between 0 and 1 are a bit smaller."""
    a, b = np.arange(n_a) < ones_a, np.arange(n_b) < ones_b
    law = stats.hypergeom(n_a + n_b, ones_a + ones_b, n_a)
    half = 2 * (law.sf(ones_a) + law.pmf(ones_a) / 2)
    assert exchange_p(a.astype(float), b.astype(float)) == pytest.approx(half, rel=nearness)


def test_a_group_wholly_beyond_the_other_is_counted_exactly() -> None:
    a, b = np.arange(40.0) + 100, np.arange(60.0)
    assert exchange_p(a, b) == pytest.approx(2 / comb(100, 40))
    touching = exchange_p(np.array([1.0] * 20 + [2.0] * 20), np.array([0.0] * 40 + [1.0] * 5))
    assert touching == pytest.approx(2 * comb(25, 20) / comb(85, 40))


def test_equal_differences_are_as_unlikely_as_their_signs() -> None:
    assert flip_p(np.full(300, 1.0)) == pytest.approx(2.0**-299)
    assert flip_p(np.full(300, -0.2)) == pytest.approx(2.0**-299)


def test_where_nothing_can_be_exchanged_there_is_no_test() -> None:
    assert exchange_p(np.full(4, 0.7), np.full(9, 0.7)) is None
    assert exchange_p(np.full(4, 0.1 + 0.2), np.full(9, 0.3)) is None
    assert flip_p(np.zeros(5)) is None


VALUES = st.lists(st.integers(1, 5).map(float), min_size=2, max_size=40)


@settings(max_examples=60)
@given(VALUES, VALUES)
def test_exchanging_the_groups_or_their_signs_changes_no_p_value(
    a: list[float], b: list[float]
) -> None:
    x, y = np.sort(a), np.sort(b)
    found = exchange_p(x, y)
    for other in (exchange_p(y, x), exchange_p(np.sort(-x), np.sort(-y))):
        assert (other is None) == (found is None)
        assert (other or 0) == pytest.approx(found or 0, rel=1e-6)


@settings(max_examples=60)
@given(st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=40))
def test_opposite_differences_have_the_same_p_value(differences: list[float]) -> None:
    values = np.sort(differences)
    found, other = flip_p(values), flip_p(-values[::-1])
    assert (other is None) == (found is None) == (not values.any())
    assert (other or 0) == pytest.approx(found or 0, rel=1e-6)
