"""Missingness against scipy and statsmodels, and what is undefined."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from biaswatch.shared.stats.comparisons.missingness import Missingness, missingness

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
tables = st.dictionaries(st.sampled_from("abcdef"), counts, min_size=2, max_size=5)


def compared(groups: dict[str, tuple[int, int]]) -> Missingness:
    return missingness(groups, 0.05, rng=np.random.default_rng(1), resamples=999)


def table(groups: dict[str, tuple[int, int]]) -> list[list[int]]:
    return [[missing, asked - missing] for missing, asked in groups.values()]


def test_a_share_has_wilsons_interval() -> None:
    result = compared({"a": (0, 15), "b": (7, 20)})
    for name, (missing, asked) in {"a": (0, 15), "b": (7, 20)}.items():
        share = result.groups[name].share
        assert share.value == missing / asked
        expected = proportion_confint(missing, asked, method="wilson")
        assert (share.low, share.high) == pytest.approx(expected, abs=1e-12)


def test_enough_missing_answers_are_tested_by_chi_square() -> None:
    groups = {"a": (10, 100), "b": (22, 90), "c": (30, 120)}
    missing = compared(groups)
    expected = stats.chi2_contingency(table(groups), correction=False)
    assert missing.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert missing.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    assert missing.min_expected == pytest.approx(expected.expected_freq.min())
    assert missing.method == "chi-square without Yates"


def test_two_groups_with_few_missing_answers_are_tested_by_fisher() -> None:
    groups = {"a": (0, 15), "b": (6, 15)}
    missing = compared(groups)
    assert missing.p_value == pytest.approx(stats.fisher_exact(table(groups)).pvalue, abs=1e-12)
    assert missing.method == "Fisher exact"


def test_more_groups_with_few_missing_answers_are_tested_by_random_tables() -> None:
    groups = {"a": (0, 9), "b": (4, 8), "c": (1, 10)}
    missing = missingness(groups, 0.05, rng=np.random.default_rng(3), resamples=20_000)
    assert missing.method == "chi-square, random tables"
    assert missing.statistic is not None
    exact = 0.0
    for drawn in product(range(6), repeat=3):
        if sum(drawn) == 5:
            rows = [[m, n - m] for m, (_, n) in zip(drawn, groups.values(), strict=True)]
            if stats.chi2_contingency(rows).statistic >= missing.statistic - 1e-9:
                exact += stats.multivariate_hypergeom.pmf(drawn, [9, 8, 10], 5)
    assert missing.p_value == pytest.approx(exact, abs=0.01)


@settings(deadline=None, max_examples=50)
@given(tables)
def test_what_is_missing_and_what_is_not_are_one_question(
    groups: dict[str, tuple[int, int]],
) -> None:
    result = compared(groups)
    other = compared({name: (asked - missing, asked) for name, (missing, asked) in groups.items()})
    if result.statistic is None:
        assert other.p_value is None
    else:
        assert other.statistic == pytest.approx(result.statistic, rel=1e-9, abs=1e-9)
        assert other.method == result.method


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({"a": (0, 10), "b": (0, 9)}, "nothing is missing"),
        ({"a": (10, 10), "b": (9, 9)}, "every answer is missing"),
        ({"a": (1, 10)}, "fewer than two groups were asked"),
        ({"a": (1, 10), "b": (0, 0)}, "fewer than two groups were asked"),
    ],
)
def test_what_cannot_be_tested_says_why(groups: dict[str, tuple[int, int]], reason: str) -> None:
    missing = compared(groups)
    assert (missing.p_value, missing.statistic, missing.reason) == (None, None, reason)
    assert set(missing.groups) == set(groups)


def test_a_group_never_asked_has_no_share_and_poisons_nothing() -> None:
    with_it = compared({"a": (10, 50), "b": (0, 0), "c": (20, 50)})
    assert with_it.groups["b"].share.value is None
    assert with_it.groups["b"].share.reason == "the group was asked nothing"
    assert with_it.p_value == compared({"a": (10, 50), "c": (20, 50)}).p_value


def test_impossible_counts_are_sentences() -> None:
    for counts_ in ((5, 4), (-1, 4)):
        with pytest.raises(ValueError, match="group 'a' cannot miss"):
            compared({"a": counts_, "b": (1, 2)})
