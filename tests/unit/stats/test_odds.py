"""Odds ratios against scipy and against sums over all tables with the same margins."""

from math import comb, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import contingency

from biaswatch.shared.stats.tables.contingency import ContingencyTable, no_margin
from biaswatch.shared.stats.tables.odds_ratio import (
    conditional_odds_ratio,
    haldane_anscombe,
    sample_odds_ratio,
)

counts = st.integers(0, 60)
tables = st.builds(ContingencyTable, counts, counts, counts, counts).filter(
    lambda t: not no_margin(t)
)


@given(tables, st.sampled_from([0.01, 0.05, 0.3]))
@settings(deadline=None, max_examples=50)
def test_woolfs_interval_is_scipys_where_no_cell_is_zero(
    table: ContingencyTable, alpha: float
) -> None:
    ratio = sample_odds_ratio(table, alpha)
    assert ratio.low is not None
    assert ratio.value is not None
    assert ratio.high is not None
    assert ratio.low < ratio.value < ratio.high
    if 0 not in table.counts:
        test = contingency.odds_ratio(table.rows, kind="sample")
        interval = test.confidence_interval(1 - alpha)
        assert ratio.value == pytest.approx(test.statistic, rel=1e-12)
        assert (ratio.low, ratio.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


def conditional(
    table: ContingencyTable, log_ratio: float
) -> tuple[list[int], "np.ndarray[tuple[int], np.dtype[np.float64]]"]:
    """Return the support of A and its probabilities, in whole numbers as far as they reach."""
    outcomes = table.a + table.c
    support = range(max(0, outcomes - table.n_2), min(table.n_1, outcomes) + 1)
    ways = [comb(table.n_1, k) * comb(table.n_2, outcomes - k) for k in support]
    weights = np.array([float(way / max(ways)) for way in ways])
    odds = np.exp(log_ratio * (np.array(support) - table.a))
    return list(support), weights * odds / (weights * odds).sum()


@given(tables, st.sampled_from([0.01, 0.05, 0.3]))
@settings(deadline=None, max_examples=50)
def test_the_conditional_odds_ratio_is_scipys(table: ContingencyTable, alpha: float) -> None:
    ratio = conditional_odds_ratio(table, alpha)
    test = contingency.odds_ratio(table.rows, kind="conditional")
    interval = test.confidence_interval(1 - alpha)
    actual = [inf if bound is None else bound for bound in (ratio.value, ratio.low, ratio.high)]
    assert actual == pytest.approx([test.statistic, *interval], rel=1e-8, abs=1e-12)


def test_an_odds_ratio_near_zero_keeps_its_digits() -> None:
    tiny, large = ContingencyTable(3, 9997, 9998, 2), ContingencyTable(9998, 2, 3, 9997)
    one, other = conditional_odds_ratio(tiny, 0.05), conditional_odds_ratio(large, 0.05)
    assert one.value is not None
    assert other.value is not None
    assert one.value < 1e-6
    assert one.value * other.value == pytest.approx(1, rel=1e-12)


def test_a_zero_cell_counts_as_a_half_and_the_method_says_so() -> None:
    ratio = sample_odds_ratio(ContingencyTable(0, 10, 5, 5), 0.05)
    assert ratio.value == pytest.approx(0.05)
    assert "0.5" in ratio.method
    assert "0.5" not in sample_odds_ratio(ContingencyTable(1, 10, 5, 5), 0.05).method
    assert haldane_anscombe(ContingencyTable(0, 10, 5, 5)) == pytest.approx(
        0.5 * 5.5 / (10.5 * 5.5)
    )


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (ContingencyTable(0, 0, 0, 0), "the table is empty"),
        (ContingencyTable(0, 0, 5, 5), "group 1 has no cases"),
        (ContingencyTable(5, 5, 0, 0), "group 2 has no cases"),
        (ContingencyTable(0, 10, 0, 10), "nobody has the outcome in either group"),
        (ContingencyTable(10, 0, 10, 0), "everybody has the outcome in both groups"),
    ],
)
def test_a_zero_margin_leaves_both_undefined(table: ContingencyTable, reason: str) -> None:
    for ratio in sample_odds_ratio(table, 0.05), conditional_odds_ratio(table, 0.05):
        assert (ratio.value, ratio.low, ratio.high) == (None, None, None)
        assert ratio.reason == reason


def test_beyond_twenty_thousand_cases_there_is_a_reason_in_the_place_of_minutes() -> None:
    ratio = conditional_odds_ratio(ContingencyTable(5000, 5000, 5000, 5001), 0.05)
    assert ratio.value is None
    assert ratio.reason == "not computed for more than 20000 cases"
