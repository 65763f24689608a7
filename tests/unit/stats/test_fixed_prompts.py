"""Groups compared on a fixed bank of prompts."""

from collections.abc import Hashable

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons.fixed_prompts import fixed_prompts_gap
from biaswatch.shared.stats.comparisons.gap_test import GapResult

Answers = dict[Hashable, list[float | None]]
RNG = np.random.default_rng(12)


def gap_of(a: Answers, b: Answers, sets: dict[Hashable, Hashable] | None = None) -> GapResult:
    return fixed_prompts_gap(a, b, sets=sets, bounds=None, alpha=0.05, tolerance=0.0)


def bank(prompts: int, repeats: int, shift: float = 0.0) -> Answers:
    level = np.random.default_rng(5).normal(0, 3, prompts)
    return {
        f"p{n}": (level[n] + shift + RNG.normal(0, 0.4, repeats)).tolist() for n in range(prompts)
    }


def fresh_bank(rng: np.random.Generator) -> Answers:
    return {n: (3 * n + rng.normal(0, 0.4, 10)).tolist() for n in range(3)}


def test_with_one_prompt_it_is_welchs_test() -> None:
    a: Answers = {"p": RNG.normal(0, 1, 12).tolist()}
    b: Answers = {"p": RNG.normal(1, 2, 11).tolist()}
    gap = gap_of(a, b)
    test = stats.ttest_ind(a["p"], b["p"], equal_var=False)
    interval = test.confidence_interval(0.95)
    assert gap.p_disparity == pytest.approx(test.pvalue, rel=0.02)
    assert (gap.marginal.low, gap.marginal.high) == pytest.approx(
        (interval.low, interval.high), rel=2e-3
    )


def test_with_equal_variances_and_sizes_it_is_the_regression_with_prompts_as_fixed_effects() -> (
    None
):
    """Against least squares over prompt and group indicators, with its own error by strata."""
    a, b = bank(6, 20, 0.2), bank(6, 20)
    result = gap_of(a, b)
    cells = [np.array(item[key], dtype=float) for item in (a, b) for key in item]
    error = np.sqrt(sum(c.var(ddof=1) / len(c) for c in cells)) / 6
    means = [cell.mean() for cell in cells]
    gap = np.mean(means[:6]) - np.mean(means[6:])
    assert result.marginal.value == pytest.approx(gap)
    dof = sum(c.var(ddof=1) / 20 for c in cells) ** 2 / sum(
        (c.var(ddof=1) / 20) ** 2 / 19 for c in cells
    )
    assert result.p_disparity == pytest.approx(2 * stats.t.sf(abs(gap) / error, dof), rel=0.05)


def test_prompts_that_differ_much_do_not_hide_a_gap_within_them() -> None:
    gap = gap_of(bank(3, 10, 0.6), bank(3, 10))
    assert gap.p_disparity is not None
    assert gap.p_disparity < 1e-4


def test_missing_answers_are_left_out_and_a_prompt_answered_once_still_counts() -> None:
    a: Answers = {"p": [1.0, 2.0, None, float("nan")], "q": [5.0]}
    b: Answers = {"p": [1.0, 1.5], "q": [4.0, 4.4]}
    gap = gap_of(a, b)
    assert gap.marginal.value == pytest.approx((1.5 + 5.0) / 2 - (1.25 + 4.2) / 2)
    assert gap.p_disparity is not None


def test_a_set_that_one_group_did_not_answer_is_no_gap() -> None:
    a, b = bank(4, 8), bank(4, 8)
    sets: dict[Hashable, Hashable] = {f"p{n}": f"s{n}" for n in range(4)}
    whole = gap_of({k: a[k] for k in ("p0", "p1")}, {k: b[k] for k in ("p0", "p1")})
    torn = gap_of({k: a[k] for k in ("p0", "p1")}, b, sets)
    assert torn.marginal == whole.marginal


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ({}, {"p": [1.0, 2.0]}, "a group has no values"),
        ({"p": [None]}, {"p": [1.0, 2.0]}, "a group has no values"),
        ({"p": [1.0], "q": [2.0]}, {"p": [1.0, 2.0]}, "answered twice"),
    ],
)
def test_what_has_no_spread_has_no_interval(a: Answers, b: Answers, reason: str) -> None:
    gap = gap_of(a, b)
    assert gap.p_disparity is None
    assert gap.marginal.reason is not None
    assert reason in gap.marginal.reason


def test_a_thousand_banks_without_a_gap_alarm_at_most_at_their_level() -> None:
    rng = np.random.default_rng(77)  # its own: tests may run in any order
    alarms = 0
    for _ in range(1000):
        a, b = (fresh_bank(rng) for _ in "ab")
        alarms += (gap_of(a, b).p_disparity or 1) < 0.05
    assert alarms <= 64  # 5 % of 1,000 and two standard errors
