"""Exchange of answers within sets: against all relabellings, and where set means are not exact."""

from itertools import combinations, product

import numpy as np
import pytest

from biaswatch.shared.stats.comparisons.answer_exchange import (
    PromptAnswers,
    answer_exchange_p,
    tail_bound,
)
from biaswatch.shared.stats.comparisons.relabelling import Stratum
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p

SETS = {"a0": 0, "b0": 0, "a1": 1, "b1": 1, "a2": 2, "b2": 2}


def p_of(a: PromptAnswers, b: PromptAnswers) -> float:
    p_value = answer_exchange_p(a, b, SETS, rng=np.random.default_rng(0))
    assert p_value is not None
    return p_value


def brute_force(a: list[list[float]], b: list[list[float]]) -> float:
    """Return twice the smaller tail of the mean difference over all relabellings of answers."""
    of_sets = []
    for first, second in zip(a, b, strict=True):
        pooled, n = np.array([*first, *second]), len(first)
        differences = []
        for chosen in combinations(range(len(pooled)), n):
            rest = np.delete(pooled, chosen)
            differences.append(pooled[list(chosen)].mean() - rest.mean())
        of_sets.append(differences)
    gaps = np.array([sum(chosen) for chosen in product(*of_sets)])
    observed = sum(np.mean(x) - np.mean(y) for x, y in zip(a, b, strict=True))
    upper, lower = np.mean(gaps >= observed - 1e-9), np.mean(gaps <= observed + 1e-9)
    return min(1.0, 2 * float(upper), 2 * float(lower))


def test_it_is_the_share_of_all_relabellings_with_unequal_numbers_of_answers() -> None:
    a, b = [[5.0, 4.0, 4.0], [3.0], [5.0, 2.0]], [[2.0, 3.0], [1.0, 2.0, 2.0], [4.0, 1.0]]
    by_prompt = (
        {f"{side}{place}": answers for place, answers in enumerate(of_sets)}
        for side, of_sets in (("a", a), ("b", b))
    )
    assert p_of(*by_prompt) == pytest.approx(brute_force(a, b))


def test_all_answers_of_a_set_are_exchanged_whatever_their_prompt() -> None:
    a, b = {"a0": [5.0, 4.0], "a1": [4.0]}, {"b0": [2.0, 3.0], "b1": [1.0, 2.0]}
    p_value = answer_exchange_p(a, b, dict.fromkeys([*a, *b], 0), rng=np.random.default_rng(0))
    assert p_value == pytest.approx(brute_force([[5.0, 4.0, 4.0]], [[2.0, 3.0, 1.0, 2.0]]))


def test_answers_that_never_vary_count_once() -> None:
    a = {f"a{place}": [4.0] * 5 for place in range(3)}
    b = {f"b{place}": [3.0] * 5 for place in range(3)}
    assert p_of(a, b) == 0.25
    a["a0"] = [4.0, 4.0, 4.0, 4.0, 5.0]
    assert p_of(a, b) < 0.001


def test_sets_of_one_group_and_missing_answers_are_left_out() -> None:
    a: PromptAnswers = {"a0": [4.0, None, 5.0], "a1": [4.0]}
    b: PromptAnswers = {"b0": [1.0, 2.0], "b2": [9.0]}
    assert answer_exchange_p(a, {"b2": [1.0]}, SETS, rng=np.random.default_rng(0)) is None
    assert p_of(a, b) == pytest.approx(brute_force([[4.0, 5.0]], [[1.0, 2.0]]))


def test_skewed_answers_in_unequal_numbers_keep_the_level() -> None:
    """Flips of set means err where one twin has 1 answer, and the other 8."""
    answers, flips, studies = 0, 0, 400
    for number in range(studies):
        rng = np.random.default_rng([43, number])
        values = rng.exponential(size=(12, 9)) ** 2
        a = {f"a{place}": row[:1] for place, row in enumerate(values)}
        b = {f"b{place}": row[1:] for place, row in enumerate(values)}
        sets = {name: int(name[1:]) for name in (*a, *b)}
        p_value = answer_exchange_p(a, b, sets, rng=rng, resamples=199)
        answers += p_value is not None and p_value <= 0.05
        flips += (sign_flip_p(values[:, 0] - values[:, 1:].mean(axis=1)) or 1.0) <= 0.05
    assert answers / studies <= 0.085 < flips / studies


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 2), (1, 3), (3, 2)])
def test_the_bound_of_a_tail_is_never_below_all_exchanges(n: int, m: int) -> None:
    rng = np.random.default_rng(n * 10 + m)
    for shift in (0.0, 1.0, 3.0):
        sets = [(rng.normal(shift, 1, n), rng.normal(0, 1, m)) for _ in range(3)]
        scale = 1 / n + 1 / m
        strata = [Stratum(a * scale, b * scale) for a, b in sets]
        exact = brute_force([list(a) for a, _ in sets], [list(b) for _, b in sets]) / 2
        assert exact * (1 - 1e-9) <= tail_bound(strata) <= 1
    ones = [Stratum(np.full(n, 1.0), np.zeros(m)) for _ in range(3)]
    assert tail_bound(ones) <= 0.75 ** (3 * min(n, m)) * 1.001


def test_a_family_of_a_thousand_comparisons_can_find_a_difference() -> None:
    """Random exchanges alone have no p-value below 2 / 10,000."""
    a = {f"a{place}": [4.0, 4.0, 5.0] for place in range(30)}
    b = {f"b{place}": [2.0, 3.0, 2.0] for place in range(30)}
    sets = {f"{side}{place}": place for side in "ab" for place in range(30)}
    p_value = answer_exchange_p(a, b, sets, rng=np.random.default_rng(0))
    assert p_value is not None
    assert p_value < 0.05 / 1000
