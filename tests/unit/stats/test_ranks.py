"""Rank tests against scipy, plain loops and the recorded values."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biaswatch.shared.stats.comparisons.ranks import mann_whitney_p
from biaswatch.shared.stats.samples import Vector
from tests.support.golden import golden_cases

ratings = st.lists(st.integers(1, 5).map(float), min_size=1, max_size=7)


def p_value(a: list[float] | Vector, b: list[float] | Vector) -> float | None:
    return mann_whitney_p(np.array(a, float), np.array(b, float), np.random.default_rng(1))


def test_recorded_p_values_come_out() -> None:
    for function in ("mannwhitneyu(method=auto) no ties", "mannwhitneyu CV ratings"):
        for case in golden_cases(function):
            assert p_value(*case["input"]) == pytest.approx(case["expected"]["p"], abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.integers(9, 60), st.integers(9, 60), st.sampled_from([3, 10**6]), st.integers(0, 99))
def test_larger_groups_have_scipys_normal_p_value(n: int, m: int, most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, most, n).astype(float), rng.integers(0, most, m).astype(float)
    expected = stats.mannwhitneyu(a, b, method="asymptotic").pvalue
    assert p_value(a, b) == pytest.approx(expected, abs=1e-12)
    assert p_value(b, a + 0.0) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("small", [1, 3])
def test_a_few_values_against_many_with_ties_are_relabelled_evenly(small: int) -> None:
    """All sets of places are as likely: the p-value is that of enumerating them."""
    rng = np.random.default_rng(4)
    many = rng.integers(1, 6, 60 if small == 3 else 20_000).astype(float)
    few = np.full(small, 5.0)
    ranks = stats.rankdata([*few, *many])
    sums = np.array([sum(combination) for combination in combinations(ranks, small)])
    observed = ranks[:small].sum()
    expected = min(1.0, 2 * min((sums >= observed).mean(), (sums <= observed).mean()))
    for x, y in ((few, many), (many, few)):
        assert p_value(x, y) == pytest.approx(expected, abs=4 * (0.25 / 10_000) ** 0.5 * 2)


@settings(deadline=None, max_examples=40)
@given(ratings, ratings)
def test_small_groups_are_every_relabelling(a: list[float], b: list[float]) -> None:
    values = a + b
    if len(set(values)) == 1:
        assert p_value(a, b) is None
        return
    sums = [u_of(values, chosen) for chosen in combinations(range(len(values)), len(a))]
    u = u_of(values, tuple(range(len(a))))
    tail = min(sum(s >= u for s in sums), sum(s <= u for s in sums)) / len(sums)
    assert p_value(a, b) == pytest.approx(min(1, 2 * tail), abs=1e-12)


def u_of(values: list[float], chosen: tuple[int, ...]) -> float:
    a = [values[i] for i in chosen]
    b = [values[i] for i in range(len(values)) if i not in chosen]
    return sum((x > y) + (x == y) / 2 for x in a for y in b)


def test_random_relabellings_are_near_all_of_them() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(1, 6, 8).astype(float), rng.integers(2, 6, 40).astype(float)
    # Of 400,000 relabellings in random order .386 are as far out.
    assert p_value(a, b) == pytest.approx(0.386, abs=0.016)


def test_without_an_order_there_is_no_p_value() -> None:
    assert p_value([], [1.0]) is None
    assert p_value([2.0, 2.0], [2.0]) is None
