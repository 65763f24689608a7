"""Exchange of labels within strata against scipy, plain loops and the recorded values."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biaswatch.shared.stats.comparisons.relabelling import Stratum, permutation_test

few = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=5)


def stratum(a: list[float], b: list[float]) -> Stratum:
    return Stratum(np.array(a), np.array(b))


@settings(deadline=None, max_examples=40)
@given(few, few)
def test_few_relabellings_are_all_enumerated(a: list[float], b: list[float]) -> None:
    values = a + b
    sums = [sum(values[i] for i in c) for c in combinations(range(len(values)), len(a))]
    tail = min(sum(s >= sum(a) for s in sums), sum(s <= sum(a) for s in sums)) / len(sums)
    p_value = permutation_test([stratum(a, b)], None, 1).p_value
    assert p_value == pytest.approx(min(1, 2 * tail), abs=1e-12)


def test_labels_move_only_inside_strata() -> None:
    test = permutation_test(
        [stratum([6.0], [4.0]), stratum([1.0], [0.5]), stratum([3.0], [])], None, 1
    )
    sums = [x + y for x, y in product((6, 4), (1, 0.5))]
    assert test.exact
    assert test.p_value == 2 * sum(s >= 7 for s in sums) / 4


def test_random_relabellings_agree_with_scipy() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(0, 1, 40), rng.normal(0.5, 1, 30)
    test = permutation_test([Stratum(x, y)], rng, 9999)
    expected = stats.permutation_test(
        (x, y), lambda x, y, axis: np.mean(x, axis) - np.mean(y, axis), vectorized=True, rng=1
    )
    assert not test.exact
    assert test.p_value == pytest.approx(expected.pvalue, abs=0.015)


def test_mistakes_are_sentences() -> None:
    many = [Stratum(np.arange(20.0), np.arange(20.0))]
    with pytest.raises(ValueError, match="more than 10,000 relabellings: give a random generator"):
        permutation_test(many, None, 99)
    with pytest.raises(ValueError, match="at least one resample, not 0"):
        permutation_test(many, np.random.default_rng(1), 0)
