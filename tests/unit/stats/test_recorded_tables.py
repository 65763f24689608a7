"""Recorded results of other programs for 2x2 tables; what differs is declared here, with why."""

from math import inf, nan
from typing import Any

import pytest

from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.tables.risks import selection_rate
from biaswatch.shared.stats.tables.stratified import stratified
from biaswatch.shared.stats.tables.two_by_two import TwoByTwo, as_json, two_by_two
from tests.support.golden import golden, golden_cases

EXACT = 1e-9


def read(value: Any) -> Any:
    return {"nan": nan, "inf": inf}.get(value, value) if isinstance(value, str) else value


def of(rows: list[list[int]]) -> TwoByTwo:
    return two_by_two(*rows[0], *rows[1])


def near(number: float, relative: float = 0) -> Any:
    return pytest.approx(number, abs=EXACT, rel=relative or EXACT)


def same(estimate: Estimate, value: Any, bounds: list[Any], *, relative: float = EXACT) -> None:
    """Equal; where the library says infinite, we say None and why."""
    for own, expected in zip(
        (estimate.value, estimate.low, estimate.high), (value, *bounds), strict=True
    ):
        if read(expected) == inf:
            assert own is None
            assert estimate.reason
        else:
            assert own == near(read(expected), relative)


def test_every_recorded_table_comes_out() -> None:
    for case in golden("two_by_two.json"):
        counts = [case[name] for name in "ABCD"]
        statistics = two_by_two(*counts)
        yates = two_by_two(*counts, yates=True).chi_square
        assert statistics.table.n == case["n"]
        assert [statistics.chi_square.statistic, statistics.chi_square.p_value] == near_all(
            case["chi2"]
        )
        assert [yates.statistic, yates.p_value] == near_all(case["chi2_yates"])
        assert statistics.fisher.p_value == near(case["fisher_p"])
        assert statistics.chi_square.min_expected == near(case["min_expected"])
        if "OR" in case:
            same(statistics.odds_ratio, case["OR"], case["OR_ci"])
            same(statistics.relative_risk, case["RR"], case["RR_ci"])


def near_all(numbers: list[float]) -> Any:
    return pytest.approx(numbers, abs=EXACT, rel=EXACT)


def test_wilsons_interval_is_statsmodels() -> None:
    for case in golden_cases("proportion_confint(wilson)"):
        statistics = selection_rate(case["input"]["count"], case["input"]["nobs"], 0.05)
        assert [statistics.low, statistics.high] == near_all(case["expected"])


def test_a_stratum_with_a_zero_cell_needs_no_correction() -> None:
    case = golden_cases("StratifiedTable with a zero cell")[0]
    statistics = stratified([(*rows[0], *rows[1]) for rows in case["input"]])
    assert statistics.odds_ratio.value == near(case["expected"]["or_pooled"])
    assert statistics.cmh.statistic == near(case["expected"]["cmh"])
    assert statistics.cmh.p_value == near(case["expected"]["p"])


def test_impact_ratios_are_fairlearns() -> None:
    for function in (
        "fairlearn demographic_parity_ratio/difference, by_group",
        "fairlearn demographic_parity_ratio all selection rates 0",
        "fairlearn demographic_parity_ratio one group 0",
    ):
        case = golden_cases(function)[0]
        pairs = list(zip(case["input"]["sf"], case["input"]["y_pred"], strict=True))
        statistics = two_by_two(
            *(pairs.count(cell) for cell in [(g, y) for g in "ab" for y in (1, 0)])
        )
        expected = case["expected"]
        expected = read(expected["ratio"] if isinstance(expected, dict) else expected)
        if expected != expected:
            assert statistics.impact_ratio.value is None
            assert statistics.impact_ratio.reason == "no case is selected in either group"
        else:
            assert statistics.impact_ratio.value == near(expected)


def test_berkeleys_admissions_come_out() -> None:
    stored = golden("berkeley_1973.json")
    pooled, strata = stored["pooled"], stored["stratified"]
    counts = [count for row in pooled["table"] for count in row]
    crude = as_json(two_by_two(*counts))
    yates = two_by_two(*counts, yates=True).chi_square.statistic
    printed = 6e-5  # four decimals are stored
    assert crude["odds_ratio"]["estimate"] == pytest.approx(pooled["odds_ratio"], abs=printed)
    assert crude["odds_ratio"]["ci"] == pytest.approx(pooled["odds_ratio_ci"], abs=printed)
    assert crude["relative_risk"]["estimate"] == pytest.approx(pooled["relative_risk"], abs=printed)
    assert crude["relative_risk"]["ci"] == pytest.approx(pooled["relative_risk_ci"], abs=printed)
    assert crude["chi_square"]["statistic"] == pytest.approx(pooled["chi_square"], abs=printed)
    assert yates == pytest.approx(pooled["chi_square_yates"], abs=printed)
    assert crude["impact_ratio"]["estimate"] == pytest.approx(pooled["impact_ratio"], abs=printed)
    statistics = stratified(stored["departments"].values(), correction=True)
    within = statistics.odds_ratio
    assert within.value == pytest.approx(strata["mantel_haenszel_or"], abs=printed)
    assert [within.low, within.high] == pytest.approx(strata["ci"], abs=printed)
    assert statistics.cmh.statistic == pytest.approx(strata["cmh"], abs=printed)
    assert statistics.cmh.p_value == pytest.approx(strata["p_value"], abs=printed)
    assert statistics.breslow_day.statistic == pytest.approx(strata["breslow_day"], abs=printed)
    assert statistics.note is not None
    assert statistics.note.startswith("Simpson's paradox")
