"""Rates, their ratio and difference against scipy and statsmodels' score test."""

import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats.contingency import relative_risk as scipys
from statsmodels.stats.proportion import proportion_confint, test_proportions_2indep

from biaswatch.shared.stats.tables.contingency import ContingencyTable
from biaswatch.shared.stats.tables.risks import (
    impact_ratio,
    relative_risk,
    risk_difference,
    score_interval,
    selection_rate,
)

score_test = test_proportions_2indep
test_proportions_2indep.__test__ = False

counts = st.integers(0, 200)
tables = st.builds(ContingencyTable, counts, counts, counts, counts)
full = tables.filter(lambda t: 0 not in t.counts)
comparable = tables.filter(lambda t: bool(t.n_1 and t.n_2 and t.a + t.c))


@given(full, st.sampled_from([0.01, 0.05, 0.3]))
@settings(deadline=None, max_examples=50)
def test_a_relative_risk_without_zero_cells_is_scipys(
    table: ContingencyTable, alpha: float
) -> None:
    estimate = relative_risk(table, alpha)
    test = scipys(table.a, table.n_1, table.c, table.n_2)
    interval = test.confidence_interval(1 - alpha)
    assert estimate.method == "Katz"
    assert estimate.value == pytest.approx(test.relative_risk, rel=1e-12)
    assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
@pytest.mark.parametrize(
    "table",
    [
        ContingencyTable(0, 15, 5, 10),
        ContingencyTable(15, 0, 7, 8),
        ContingencyTable(6, 0, 26, 13),  # where statsmodels' interval takes a wrong root
        ContingencyTable(9, 100, 30, 0),
        ContingencyTable(20, 0, 7, 0),
        ContingencyTable(12, 5, 7, 9),
    ],
)
def test_the_score_test_just_rejects_at_the_score_intervals_bounds(
    table: ContingencyTable, alpha: float
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library divides by zero for an odds ratio beside
        for bound in score_interval(table, alpha):
            if bound:
                test = score_test(
                    *(table.a, table.n_1, table.c, table.n_2),
                    value=bound,
                    compare="ratio",
                    method="score",
                )
                assert test.pvalue == pytest.approx(alpha, abs=1e-6)


@given(comparable, st.sampled_from([0.001, 0.05, 0.5]))
@settings(deadline=None, max_examples=100)
def test_the_score_interval_holds_the_ratio_and_turns_with_the_groups(
    table: ContingencyTable, alpha: float
) -> None:
    low, high = score_interval(table, alpha)
    opposite_low, opposite_high = score_interval(table.exchanged, alpha)
    assert low >= 0
    assert high is None or low < high
    if table.c:
        assert high is not None
        assert low * (1 - 1e-9) <= table.a * table.n_2 / (table.n_1 * table.c) <= high * (1 + 1e-9)
        assert high * opposite_low == pytest.approx(1, rel=1e-6)
    else:
        assert high is None
        assert opposite_low == 0
        assert opposite_high == pytest.approx(1 / low, rel=1e-6)


@pytest.mark.parametrize(
    ("table", "value", "reason"),
    [
        (ContingencyTable(0, 10, 5, 5), 0.0, None),
        (ContingencyTable(5, 5, 0, 10), None, "infinite: group 2 has no outcomes"),
        (ContingencyTable(0, 10, 0, 10), None, "nobody has the outcome in either group"),
        (ContingencyTable(0, 0, 5, 5), None, "group 1 has no cases"),
        (ContingencyTable(10, 0, 10, 0), 1.0, None),
    ],
)
def test_a_relative_risk_with_zeros_is_unshifted_or_says_why_not(
    table: ContingencyTable, value: float | None, reason: str | None
) -> None:
    estimate = relative_risk(table, 0.05)
    assert (estimate.value, estimate.reason) == (value, reason)
    assert estimate.method.startswith("score")


def test_equal_certainty_on_both_sides_is_not_taken_for_certain() -> None:
    estimate = relative_risk(ContingencyTable(10, 0, 10, 0), 0.05)
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low < 0.8 < 1.2 < estimate.high  # Katz's interval would be 1 to 1


@given(comparable)
@example(ContingencyTable(1, 0, 2, 0))
@example(ContingencyTable(1, 2, 2, 4))
@settings(deadline=None, max_examples=50)
def test_an_impact_ratio_is_the_smaller_rate_over_the_larger(table: ContingencyTable) -> None:
    estimate = impact_ratio(table, 0.05)
    rates = sorted((table.a / table.n_1, table.c / table.n_2))
    assert estimate.value == pytest.approx(rates[0] / rates[1])
    assert estimate.value is not None
    assert estimate.value <= 1
    other = impact_ratio(table.exchanged, 0.05)
    of_other = (other.value, other.low, other.high)
    assert of_other == pytest.approx((estimate.value, estimate.low, estimate.high), rel=1e-6)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (ContingencyTable(0, 9, 0, 8), "no case is selected in either group"),
        (ContingencyTable(0, 0, 4, 4), "group 1 has no cases"),
        (ContingencyTable(4, 4, 0, 0), "group 2 has no cases"),
        (ContingencyTable(0, 0, 0, 0), "the table is empty"),
    ],
)
def test_an_impact_ratio_of_nothing_is_undefined(table: ContingencyTable, reason: str) -> None:
    estimate = impact_ratio(table, 0.05)
    assert (estimate.value, estimate.low, estimate.high, estimate.reason) == (
        None,
        None,
        None,
        reason,
    )


@given(tables.filter(lambda t: bool(t.n_1 and t.n_2)))
@settings(deadline=None, max_examples=50)
def test_a_risk_difference_has_newcombes_interval(table: ContingencyTable) -> None:
    estimate = risk_difference(table, 0.05)
    p, q = table.a / table.n_1, table.c / table.n_2
    l_1, u_1 = proportion_confint(table.a, table.n_1, method="wilson")
    l_2, u_2 = proportion_confint(table.c, table.n_2, method="wilson")
    low = p - q - ((p - l_1) ** 2 + (u_2 - q) ** 2) ** 0.5
    high = p - q + ((u_1 - p) ** 2 + (q - l_2) ** 2) ** 0.5
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (p - q, low, high), abs=1e-12
    )
    other = risk_difference(table.exchanged, 0.05)
    assert (other.low, other.high) == pytest.approx((-high, -low), abs=1e-12)


def test_an_empty_group_has_no_rate_and_no_difference() -> None:
    assert selection_rate(0, 0, 0.05).value is None
    assert risk_difference(ContingencyTable(0, 0, 1, 2), 0.05).reason == "group 1 has no cases"
