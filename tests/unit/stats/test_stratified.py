"""Strata against statsmodels and numerical roots, and when sum and strata disagree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from statsmodels.stats.contingency_tables import StratifiedTable

from biaswatch.shared.stats.tables.contingency import ContingencyTable
from biaswatch.shared.stats.tables.stratified import breslow_day, stratified

counts = st.integers(1, 60)
strata = st.lists(st.tuples(counts, counts, counts, counts), min_size=2, max_size=6)
Tables = list[tuple[int, int, int, int]]

REVERSED = [(90, 10, 850, 150), (300, 700, 20, 80)]
"""Group 1 does better in each stratum and worse in their sum."""


@given(strata)
@settings(deadline=None, max_examples=50)
def test_strata_are_statsmodels(tables: Tables) -> None:
    statistics, corrected = stratified(tables), stratified(tables, correction=True)
    expected = StratifiedTable([[[a, b], [c, d]] for a, b, c, d in tables])
    low, high = expected.oddsratio_pooled_confint()
    assert statistics.odds_ratio.value == pytest.approx(expected.oddsratio_pooled)
    assert (statistics.odds_ratio.low, statistics.odds_ratio.high) == pytest.approx((low, high))
    assert statistics.relative_risk == pytest.approx(expected.riskratio_pooled)
    assert statistics.cmh.statistic == pytest.approx(expected.test_null_odds().statistic, abs=1e-9)
    assert statistics.cmh.p_value == pytest.approx(expected.test_null_odds().pvalue, abs=1e-9)
    gap = abs(sum(a - (a + b) * (a + c) / (a + b + c + d) for a, b, c, d in tables))
    if gap >= 0.5:  # below, statsmodels' correction goes past zero
        library = expected.test_null_odds(correction=True)
        assert corrected.cmh.statistic == pytest.approx(library.statistic, abs=1e-9)
    else:
        assert corrected.cmh.statistic == 0
    if abs(expected.oddsratio_pooled - 1) > 1e-4:  # at 1, statsmodels divides by zero
        equal, adjusted = expected.test_equal_odds(), expected.test_equal_odds(adjust=True)
        assert statistics.breslow_day.statistic == pytest.approx(
            equal.statistic, rel=1e-6, abs=1e-8
        )
        assert statistics.tarone.statistic == pytest.approx(adjusted.statistic, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("odds_ratio", [1e-3, 0.4, 1 - 1e-13, 1.0, 1 + 1e-13, 7.0, 1e4])
def test_homogeneity_is_exact_also_around_an_odds_ratio_of_one(odds_ratio: float) -> None:
    tables = [
        ContingencyTable(12, 5, 7, 9),
        ContingencyTable(30, 70, 20, 80),
        ContingencyTable(40, 2, 31, 5),
    ]
    statistic = 0.0
    for t in tables:
        m = t.a + t.c

        def off(e: float, t: ContingencyTable = t, m: int = m) -> float:
            return e * (t.n_2 - m + e) - odds_ratio * (t.n_1 - e) * (m - e)

        e = brentq(off, max(0, m - t.n_2), min(t.n_1, m), xtol=1e-14)
        v = 1 / (1 / e + 1 / (t.n_1 - e) + 1 / (m - e) + 1 / (t.n_2 - m + e))
        statistic += (t.a - e) ** 2 / v
    assert breslow_day(tables, odds_ratio).statistic == pytest.approx(statistic, rel=1e-6)


def test_strata_that_say_nothing_are_dropped_and_counted() -> None:
    tables = [(12, 5, 7, 9), (30, 70, 20, 80)]
    silent = [(0, 0, 3, 2), (4, 0, 5, 0), (0, 4, 0, 5), (0, 0, 0, 0)]
    statistics = stratified(tables + silent)
    assert (statistics.strata, statistics.dropped) == (2, 4)
    assert statistics.odds_ratio == stratified(tables).odds_ratio
    assert statistics.breslow_day == stratified(tables).breslow_day


@pytest.mark.parametrize("tables", [[], [(0, 0, 1, 1)]])
def test_without_a_useful_stratum_everything_is_undefined(tables: Tables) -> None:
    statistics = stratified(tables)
    for part in statistics.odds_ratio, statistics.cmh, statistics.breslow_day, statistics.tarone:
        assert part.reason
    assert (statistics.odds_ratio.value, statistics.cmh.p_value, statistics.relative_risk) == (
        None,
        None,
        None,
    )
    assert statistics.note is None


def test_an_infinite_common_odds_ratio_is_none_and_a_zero_one_has_no_interval() -> None:
    infinite, zero = stratified([(5, 0, 2, 5), (3, 0, 1, 2)]), stratified([(0, 5, 5, 2)])
    assert infinite.odds_ratio.value is None
    assert infinite.odds_ratio.reason == "infinite: B or C is zero in every stratum"
    assert infinite.cmh.p_value is not None
    assert (zero.odds_ratio.value, zero.odds_ratio.low) == (0.0, None)
    assert zero.breslow_day.p_value is None


def test_a_far_tail_is_not_rounded_to_zero() -> None:
    p_value = stratified([(900, 100, 100, 900)]).cmh.p_value
    assert p_value is not None
    assert 0 < p_value < 1e-200


def test_an_association_that_turns_round_is_simpsons_paradox() -> None:
    note = stratified(REVERSED).note
    assert note is not None
    assert note.startswith("Simpson's paradox")


def test_an_association_that_strata_explain_is_noted() -> None:
    note = stratified([(80, 20, 8, 2), (2, 8, 20, 80)]).note
    assert note is not None
    assert note.startswith("The pooled association is not shown within strata")


def test_an_association_that_the_sum_hides_is_noted() -> None:
    hidden = stratified([(95, 5, 160, 40), (60, 90, 36, 84)])
    assert hidden.note is not None
    assert hidden.note.startswith("Strata show an association that the pooled table hides")


@pytest.mark.parametrize(
    "tables",
    [
        [(30, 70, 20, 80), (60, 140, 40, 160)],  # the same in each stratum
        [(10, 10, 11, 10), (10, 11, 10, 11)],  # nothing, on either side of 1
    ],
)
def test_agreement_and_noise_are_not_noted(tables: Tables) -> None:
    assert stratified(tables).note is None


def test_a_stratum_is_four_counts() -> None:
    with pytest.raises(ValueError, match="A stratum is four counts A, B, C, D, but one has 3"):
        stratified([(1, 2, 3)])
    with pytest.raises(ValueError, match="alpha is 1"):
        stratified([], alpha=1)
