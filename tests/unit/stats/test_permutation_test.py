"""Permutation tests against scipy, plain loops and the recorded values."""

from itertools import combinations, product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biaswatch.shared.stats.comparisons.relabelling import label_permutation, sign_flip
from tests.support.golden import golden_cases

NAN = float("nan")
few = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=5)


def units(values: list[float], name: str) -> dict[str, list[float]]:
    return {f"{name}{i}": [value] for i, value in enumerate(values)}


def test_the_recorded_exact_test_comes_out() -> None:
    (case,) = golden_cases("permutation_test exact")
    a, b = case["input"]
    test = label_permutation(units(a, "a"), units(b, "b"))
    assert test.gap == pytest.approx(case["expected"]["stat"], abs=1e-12)
    assert test.p_value == pytest.approx(case["expected"]["p"], abs=1e-12)
    assert (test.exact, test.relabellings) == (True, 35)


def test_the_recorded_random_test_comes_out() -> None:
    (case,) = golden_cases("permutation_test randomized")
    a, b, _ = case["input"]
    test = label_permutation(units(a, "a"), units(b, "b"), rng=np.random.default_rng(0))
    assert test.gap == pytest.approx(case["expected"]["stat"], abs=1e-12)
    assert test.p_value == pytest.approx(case["expected"]["p"], abs=0.02)
    assert test.p_value is not None
    assert test.p_value >= 1 / 10_000


@settings(deadline=None, max_examples=40)
@given(few, few)
def test_few_relabellings_are_all_looked_at(a: list[float], b: list[float]) -> None:
    test = label_permutation(units(a, "a"), units(b, "b"))
    values = a + b
    if len(set(values)) == 1:
        assert test.reason == "all values that labels could move between are equal"
        return
    sums = [sum(values[i] for i in c) for c in combinations(range(len(values)), len(a))]
    tail = min(sum(s >= sum(a) for s in sums), sum(s <= sum(a) for s in sums)) / len(sums)
    assert test.p_value == pytest.approx(min(1, 2 * tail), abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=2, max_size=7))
def test_sign_flips_are_every_way_to_turn_pairs_round(pairs: list[tuple[int, int]]) -> None:
    a, b = [float(x) for x, _ in pairs], [float(y) for _, y in pairs]
    test = sign_flip([*a, NAN], [*b, 2.0])
    assert (test.missing_a, test.units_a) == (1, len(pairs))
    if a == b:
        assert test.p_value is None
        return
    d = [x - y for x, y in zip(a, b, strict=True)]
    sums = [sum(s * v for s, v in zip(f, d, strict=True)) for f in product((1, -1), repeat=len(d))]
    tail = min(sum(s >= sum(d) for s in sums), sum(s <= sum(d) for s in sums)) / len(sums)
    assert test.p_value == pytest.approx(min(1, 2 * tail), abs=1e-12)


def test_labels_move_only_inside_sets() -> None:
    a = {"a1": [5.0, 7.0], "a2": [1.0], "a3": [3.0]}
    b = {"b1": [4.0], "b2": [0.0, 1.0], "b4": [9.0]}
    sets = {"a1": 1, "b1": 1, "a2": 2, "b2": 2, "a3": 3, "b4": 4}
    test = label_permutation(a, b, sets=sets)
    sums = [x + y for x, y in product((6, 4), (1, 0.5))]
    assert test.relabellings == 4
    assert test.p_value == 2 * sum(s >= 7 for s in sums) / 4
    assert test.gap == pytest.approx((6 + 1 + 3) / 3 - (4 + 0.5 + 9) / 3)


def test_a_prompt_of_both_groups_is_a_pair() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(0, 1, 11), rng.normal(0.4, 1, 11)
    a, b = ({str(i): [float(v)] for i, v in enumerate(sample)} for sample in (x, y))
    test = label_permutation(a, b)
    assert test.relabellings == 2**11
    assert test.p_value == sign_flip(list(x), list(y)).p_value
    expected = stats.permutation_test(
        (x, y), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples"
    )
    assert test.p_value == pytest.approx(expected.pvalue, abs=1e-12)


def test_random_relabellings_inside_sets_of_unequal_shapes_agree_with_scipy_in_luck() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(0, 1, 40), rng.normal(0.5, 1, 30)
    test = label_permutation(units(list(x), "a"), units(list(y), "b"), rng=rng)
    expected = stats.permutation_test(
        (x, y), lambda x, y, axis: np.mean(x, axis) - np.mean(y, axis), vectorized=True, rng=1
    )
    assert not test.exact
    assert test.p_value == pytest.approx(expected.pvalue, abs=0.015)


def test_repeats_of_a_unit_move_together() -> None:
    a = {"p1": [1.0] * 50, "p2": [2.0] * 50}
    b = {"q1": [3.0] * 50, "q2": [4.0] * 50}
    assert label_permutation(a, b).p_value == pytest.approx(2 / 6)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_order_names_missing_values_and_a_constant_change_nothing(seed: int, r: Random) -> None:
    rng = np.random.default_rng(seed)
    a = {f"a{i}": [float(v) for v in rng.integers(0, 8, 3)] for i in range(10)}
    b = {f"b{i}": [float(v) for v in rng.integers(0, 8, 3)] for i in range(10)}
    sets = {f"{g}{i}": i % 3 for i in range(10) for g in "ab"}
    test = label_permutation(a, b, sets=sets, rng=np.random.default_rng(9), resamples=99)
    keys = list(a)
    r.shuffle(keys)
    moved = {f"x{k}": [*[v + 5 for v in reversed(a[k])], NAN] for k in keys}
    other_b = {k: [v + 5 for v in values] for k, values in b.items()}
    renamed = sets | {f"x{k}": f"s{sets[k]}" for k in keys}
    renamed |= {k: f"s{sets[k]}" for k in b}
    other = label_permutation(
        moved, other_b, sets=renamed, rng=np.random.default_rng(9), resamples=99
    )
    assert other.gap == pytest.approx(test.gap, abs=1e-12)
    assert other.p_value == test.p_value
    assert (other.missing_a, test.missing_a) == (10, 0)


def test_what_cannot_be_tested_says_why() -> None:
    assert label_permutation({}, {"b": [1.0]}).reason == "a group has no values"
    separate = label_permutation({"a": [1.0]}, {"b": [2.0]}, sets={"a": 1, "b": 2})
    assert separate.reason == "no set holds units of both groups: no label can move"
    assert (separate.gap, separate.p_value) == (-1.0, None)
    assert sign_flip([1.0, 2.0], [1.0, 2.0]).p_value is None


def test_mistakes_are_sentences() -> None:
    many = units([float(i) for i in range(20)], "a"), units([float(i) for i in range(20)], "b")
    with pytest.raises(ValueError, match="more than 10,000 relabellings: give a random generator"):
        label_permutation(*many)
    with pytest.raises(ValueError, match="at least one resample, not 0"):
        label_permutation(*many, rng=np.random.default_rng(1), resamples=0)
