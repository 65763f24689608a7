"""Rank tests against scipy, plain loops and the recorded values."""

from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biaswatch.shared.stats.comparisons.ranks import mann_whitney
from tests.support.golden import golden_cases

RNG = np.random.default_rng(3)
NAN = float("nan")
ratings = st.lists(st.integers(1, 5).map(float), min_size=1, max_size=7)


def test_auto_is_scipys_but_for_small_groups_with_ties() -> None:
    for case in golden_cases("mannwhitneyu(method=auto) no ties"):
        test = mann_whitney(*case["input"])
        assert test.p_value == pytest.approx(case["expected"]["p"], abs=1e-12)
        assert test.method == "Mann-Whitney, exact"
    for case in golden_cases("mannwhitneyu(method=auto) ties"):
        test = mann_whitney(*case["input"])
        assert test.u_a == case["expected"]["U1"]
        assert test.method == "Mann-Whitney, all relabellings"
        normal = mann_whitney(*case["input"], method="asymptotic")
        assert normal.p_value == pytest.approx(case["expected"]["p"], abs=1e-12)
    for case in golden_cases("mannwhitneyu CV ratings"):
        test = mann_whitney(*case["input"])
        assert (test.u_a, test.u_b) == (case["expected"]["U1"], case["expected"]["U2"])
        assert test.p_value == pytest.approx(case["expected"]["p"], abs=1e-12)


def test_the_normal_approximation_with_ties_gives_the_recorded_values() -> None:
    for case in golden_cases("mannwhitneyu(method=asymptotic) ties"):
        test = mann_whitney(*case["input"], method="asymptotic")
        assert test.p_value == pytest.approx(case["expected"]["p"], abs=1e-12)
    for case in golden_cases("mannwhitneyu(asymptotic,use_continuity=False)"):
        test = mann_whitney(*case["input"], method="asymptotic", continuity=False)
        assert test.p_value == pytest.approx(case["expected"], abs=1e-12)
    for case in golden_cases("pingouin.mwu"):
        test = mann_whitney(*case["input"], method="asymptotic")
        assert test.p_value == pytest.approx(case["expected"]["p_val"], abs=1e-12)
        assert test.superiority == pytest.approx(case["expected"]["CLES"], abs=1e-12)


@pytest.mark.parametrize("small", [1, 3])
def test_a_few_values_against_many_with_ties_are_relabelled_evenly(small: int) -> None:
    """All sets of places are as likely: the p-value is that of enumerating them."""
    rng = np.random.default_rng(4)
    many = rng.integers(1, 6, 60 if small == 3 else 20_000).astype(float)
    few = [5.0] * small
    ranks = stats.rankdata([*few, *many])
    sums = np.array([sum(combination) for combination in combinations(ranks, small)])
    observed = ranks[:small].sum()
    expected = min(1.0, 2 * min((sums >= observed).mean(), (sums <= observed).mean()))
    for x, y in ((few, many), (many, few)):
        test = mann_whitney(x, y, rng=np.random.default_rng(5))
        assert test.method == "Mann-Whitney, random relabellings"
        assert test.p_value == pytest.approx(expected, abs=4 * (0.25 / 10_000) ** 0.5 * 2)


def test_missing_values_are_left_out_and_counted() -> None:
    for case in golden_cases("mannwhitneyu nan_policy"):
        a, b = ([float(v) for v in sample] for sample in case["input"])
        test = mann_whitney(a, b, method="asymptotic")
        assert test.p_value == pytest.approx(case["expected"]["omit"], abs=1e-12)
        assert (test.missing_a, test.n_a) == (1, 3)
    assert mann_whitney([1, None, 3], [2, float("inf")]).missing_b == 1


def test_identical_values_have_no_p_value() -> None:
    for case in golden_cases("mannwhitneyu all identical"):
        test = mann_whitney(*case["input"])
        assert test.u_a == case["expected"]["U1"]
        assert (test.p_value, test.superiority) == (None, 0.5)
        assert test.reason == "all values are identical: there is no order to test"


@settings(deadline=None, max_examples=40)
@given(ratings, ratings)
def test_small_groups_with_ties_are_every_relabelling(a: list[float], b: list[float]) -> None:
    test = mann_whitney(a, b, method="permutation")
    values = a + b
    if len(set(values)) == 1:
        assert test.p_value is None
        return
    sums = [u_of(values, chosen) for chosen in combinations(range(len(values)), len(a))]
    u = u_of(values, tuple(range(len(a))))
    tail = min(sum(s >= u for s in sums), sum(s <= u for s in sums)) / len(sums)
    assert test.u_a == u
    assert test.p_value == pytest.approx(min(1, 2 * tail), abs=1e-12)


def u_of(values: list[float], chosen: tuple[int, ...]) -> float:
    a = [values[i] for i in chosen]
    b = [values[i] for i in range(len(values)) if i not in chosen]
    return sum((x > y) + (x == y) / 2 for x in a for y in b)


@settings(deadline=None, max_examples=60)
@given(ratings, ratings, st.randoms(use_true_random=False))
def test_order_missing_values_and_a_constant_change_nothing(
    a: list[float], b: list[float], r: Random
) -> None:
    test = mann_whitney(a, b)
    shuffled = [*a, NAN]
    r.shuffle(shuffled)
    other = mann_whitney([x + 3 for x in shuffled], [y + 3 for y in b])
    assert (other.u_a, other.p_value, other.missing_a) == (test.u_a, test.p_value, 1)
    swapped = mann_whitney(b, a)
    assert (swapped.u_a, swapped.u_b) == (test.u_b, test.u_a)
    assert swapped.p_value == pytest.approx(test.p_value, abs=1e-12)


def test_random_relabellings_are_near_all_of_them() -> None:
    a, b = RNG.integers(1, 6, 8).astype(float), RNG.integers(2, 6, 40).astype(float)
    test = mann_whitney(a, b, rng=np.random.default_rng(1))
    assert test.method == "Mann-Whitney, random relabellings"
    normal = mann_whitney(a, b)
    assert normal.method.startswith("Mann-Whitney, normal")
    # Of 400,000 relabellings in random order .386 are as far out; the normal form says .370.
    assert test.p_value == pytest.approx(0.386, abs=0.016)
    assert test.p_value == pytest.approx(normal.p_value, abs=0.04)


def test_what_has_no_ranks_says_why() -> None:
    assert mann_whitney([], [1.0]).reason == "a group has no values"
    assert mann_whitney([NAN], [1.0]).u_a is None


def test_mistakes_are_sentences() -> None:
    with pytest.raises(ValueError, match="knows no ties"):
        mann_whitney([1, 1], [2, 3], method="exact")
    with pytest.raises(ValueError, match="no Mann-Whitney method called 'fast'"):
        mann_whitney([1], [2], method="fast")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="give a random generator"):
        mann_whitney(list(range(20)), list(range(20)), method="permutation")
