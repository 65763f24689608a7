"""Chi-square, Fisher's and Boschloo's test against formulas, sums and scipy."""

from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportions_ztest

from biaswatch.shared.stats.tables.contingency import ContingencyTable, no_margin
from biaswatch.shared.stats.tables.independence import (
    MAX_BOSCHLOO_CASES,
    MAX_FISHER_CASES,
    boschloo,
    chi_square,
    declared,
    fisher,
)

counts = st.integers(0, 40)
tables = st.builds(ContingencyTable, counts, counts, counts, counts).filter(
    lambda t: not no_margin(t)
)


@given(tables)
@settings(deadline=None, max_examples=50)
def test_chi_square_without_yates_is_the_square_of_the_pooled_z(table: ContingencyTable) -> None:
    test = chi_square(table)
    z, p_value = proportions_ztest([table.a, table.c], [table.n_1, table.n_2])
    assert test.statistic == pytest.approx(z**2, abs=1e-9)
    assert test.p_value == pytest.approx(p_value, abs=1e-9)


@given(tables)
@settings(deadline=None, max_examples=50)
def test_yates_takes_half_off_each_gap_and_not_more_than_all(table: ContingencyTable) -> None:
    test = chi_square(table, yates=True)
    a, b, c, d = table.counts
    gap = max(0.0, abs(a * d - b * c) - table.n / 2)
    gap = gap if abs(a * d - b * c) * 2 >= table.n else 0.0
    statistic = table.n * gap**2 / (table.n_1 * table.n_2 * (a + c) * (b + d))
    assert test.statistic == pytest.approx(statistic, abs=1e-9)
    assert test.statistic is not None
    assert test.statistic <= (chi_square(table).statistic or 0) + 1e-12


@given(tables)
@settings(deadline=None, max_examples=50)
def test_fishers_p_value_is_the_sum_over_tables_no_likelier(table: ContingencyTable) -> None:
    outcomes = table.a + table.c
    support = range(max(0, outcomes - table.n_2), min(table.n_1, outcomes) + 1)
    ways = {k: comb(table.n_1, k) * comb(table.n_2, outcomes - k) for k in support}
    expected = sum(way for way in ways.values() if way <= ways[table.a]) / sum(ways.values())
    assert fisher(table).p_value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "table",
    [
        ContingencyTable(12, 5, 7, 9),
        ContingencyTable(30, 10, 20, 25),
        ContingencyTable(1, 14, 6, 9),
        ContingencyTable(3, 37, 0, 11),
    ],
)
def test_boschloos_p_value_is_scipys(table: ContingencyTable) -> None:
    scipys = stats.boschloo_exact([[table.a, table.c], [table.b, table.d]], n=64).pvalue
    assert boschloo(table).p_value == pytest.approx(scipys, abs=1e-9)


def test_boschloos_p_value_at_the_limit_is_scipys() -> None:
    """`scipy.stats.boschloo_exact`, 1.17.1, took 15.8 s for it."""
    assert boschloo(ContingencyTable(500, 500, 520, 480)).p_value == pytest.approx(
        0.3817421477059266, abs=1e-9
    )


def test_tests_beyond_their_limits_say_so() -> None:
    large, huge = (
        ContingencyTable(MAX_BOSCHLOO_CASES, 0, 0, 1),
        ContingencyTable(MAX_FISHER_CASES, 5, 5, 5),
    )
    assert boschloo(large).p_value is None
    assert boschloo(large).reason == "not computed for more than 2000 cases"
    assert fisher(huge).p_value is None
    assert fisher(huge).reason == "not computed for more than 1000000000 cases"


def test_which_test_is_declared_depends_on_expected_counts_alone() -> None:
    # Both have the margins 20, 20, 10, 30: every expected count is 5 or more.
    assert (
        declared(ContingencyTable(5, 15, 5, 15))
        == declared(ContingencyTable(10, 10, 0, 20))
        == "chi_square"
    )
    # Margins 20, 20, 9, 31: 4.5 expected, whichever p-value is the smaller.
    assert (
        declared(ContingencyTable(5, 15, 4, 16))
        == declared(ContingencyTable(9, 11, 0, 20))
        == "fisher"
    )
    assert declared(ContingencyTable(0, 5, 0, 5)) is None


@pytest.mark.parametrize(
    "table",
    [
        ContingencyTable(0, 0, 0, 0),
        ContingencyTable(0, 0, 5, 5),
        ContingencyTable(0, 9, 0, 9),
        ContingencyTable(9, 0, 9, 0),
    ],
)
def test_a_zero_margin_has_no_p_value_rather_than_one(table: ContingencyTable) -> None:
    for test in chi_square(table), fisher(table), boschloo(table):
        assert test.p_value is None
        assert test.reason
