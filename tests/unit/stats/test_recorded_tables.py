"""Recorded results of other programs for 2x2 tables; what differs is declared here, with why."""

from math import inf, nan
from typing import Any

import pytest

from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.studies.answer_pairs import paired_table
from biaswatch.shared.stats.tables.contingency import ContingencyTable, no_margin
from biaswatch.shared.stats.tables.risks import selection_rate
from biaswatch.shared.stats.tables.stratified import stratified
from biaswatch.shared.stats.tables.two_by_two import TwoByTwo, as_json, two_by_two
from tests.support.golden import golden, golden_cases

EXACT = 1e-9
Case = dict[str, Any]


def read(value: Any) -> Any:
    return {"nan": nan, "inf": inf}.get(value, value) if isinstance(value, str) else value


def of(rows: list[list[int]]) -> TwoByTwo:
    return two_by_two(*rows[0], *rows[1])


def near(number: float, relative: float = 0) -> Any:
    return pytest.approx(number, abs=EXACT, rel=relative or EXACT)


def same(ours: Estimate, value: Any, bounds: list[Any], *, relative: float = EXACT) -> None:
    """Equal; where the library says infinite, we say None and why."""
    for own, theirs in zip((ours.value, ours.low, ours.high), (value, *bounds), strict=True):
        if read(theirs) == inf:
            assert own is None
            assert ours.reason
        else:
            assert own == near(read(theirs), relative)


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


def test_conditional_odds_ratios_are_scipys() -> None:
    for case in golden_cases("scipy.stats.contingency.odds_ratio(kind=conditional)+CI95"):
        statistics = of(case["input"]).odds_ratio_conditional
        if read(case["expected"]["statistic"]) != read(case["expected"]["statistic"]):
            assert (statistics.value, statistics.low, statistics.high) == (None, None, None)
            assert statistics.reason
        else:
            same(statistics, case["expected"]["statistic"], case["expected"]["ci"])


@pytest.mark.parametrize(
    ("function", "estimate"),
    [
        ("scipy.stats.contingency.odds_ratio(kind=sample)+CI95", "statistic"),
        ("Table2x2(shift_zeros=True): OR, CI, logOR se, p(OR=1)", "oddsratio"),
        ("Table2x2(shift_zeros=False): OR, RR", "oddsratio"),
    ],
)
def test_sample_odds_ratios_are_the_libraries(function: str, estimate: str) -> None:
    for case in golden_cases(function):
        statistics = of(case["input"])
        if no_margin(statistics.table):  # declared: undefined, where statsmodels says 1
            assert statistics.odds_ratio.value is None
            assert statistics.odds_ratio.reason
        elif 0 in statistics.table.counts and "shift_zeros=True" not in function:
            assert statistics.odds_ratio.value is not None  # declared: 0.5 in the place of zero
            assert "0.5" in statistics.odds_ratio.method
        else:
            same(statistics.odds_ratio, case["expected"][estimate], case["expected"]["ci"])


@pytest.mark.parametrize(
    "function",
    [
        "Table2x2(shift_zeros=True): RR, CI, p",
        "Table2x2(shift_zeros=False): OR, RR",
        "scipy relative_risk(exposed_cases,exposed_total,control_cases,control_total)+CI95",
    ],
)
def test_relative_risks_are_the_libraries(function: str) -> None:
    for case in golden_cases(function):
        table = given(case["input"])
        statistics = two_by_two(*table.counts).relative_risk
        expected = case["expected"]
        value = read(expected.get("rr", expected.get("riskratio", nan)))
        if 0 not in table.counts:
            assert statistics.value == near(value)
            if (
                function != "Table2x2(shift_zeros=False): OR, RR"
            ):  # its interval is the odds ratio's
                assert [statistics.low, statistics.high] == near_all(expected["ci"])
        elif "shift_zeros=True" not in function and "raises" not in expected and value == value:
            assert statistics.value == (None if value == inf else near(value))
            assert statistics.method.startswith("score")  # declared: not Katz where a cell is zero
        else:  # declared: unshifted, and undefined where nobody has the outcome
            assert statistics.method.startswith("score")


def given(counts: list[Any]) -> ContingencyTable:
    """Read rows of a table, or cases and totals."""
    if isinstance(counts[0], list):
        return ContingencyTable(*counts[0], *counts[1])
    cases_1, n_1, cases_2, n_2 = counts
    return ContingencyTable(cases_1, n_1 - cases_1, cases_2, n_2 - cases_2)


@pytest.mark.parametrize("yates", [True, False])
def test_chi_square_is_scipys(yates: bool) -> None:
    for case in golden_cases(f"chi2_contingency(correction={yates})"):
        rows, expected = case["input"], case["expected"]
        statistics = two_by_two(*rows[0], *rows[1], yates=yates).chi_square
        if "raises" in expected:
            assert statistics.statistic is None
            assert statistics.p_value is None
            assert statistics.reason
        else:
            assert [statistics.statistic, statistics.p_value] == near_all(
                [expected["chi2"], expected["p"]]
            )
            assert (statistics.dof, statistics.min_expected) == (
                expected["dof"],
                expected["min_expected"],
            )


def test_fishers_p_value_is_scipys() -> None:
    for case in golden_cases("fisher_exact two-sided"):
        statistics = of(case["input"])
        if no_margin(statistics.table):  # declared: undefined, where scipy says 1
            assert statistics.fisher.p_value is None
            assert statistics.fisher.reason
        else:
            assert statistics.fisher.p_value == near(case["expected"]["p"])


def test_boschloos_p_value_is_scipys() -> None:
    for case in golden_cases("boschloo_exact two-sided (columns=groups)"):
        (a, c), (b, d) = case["input"]
        assert two_by_two(a, b, c, d).boschloo.p_value == near(case["expected"]["p"])


def test_wilsons_interval_is_statsmodels() -> None:
    for case in golden_cases("proportion_confint(wilson)"):
        statistics = selection_rate(case["input"]["count"], case["input"]["nobs"], 0.05)
        assert [statistics.low, statistics.high] == near_all(case["expected"])


def test_newcombes_interval_is_statsmodels() -> None:
    for case in golden_cases("confint_proportions_2indep(compare=diff, method=newcomb)"):
        statistics = two_by_two(*given(case["input"]).counts).risk_difference
        assert [statistics.low, statistics.high] == near_all(case["expected"])


@pytest.mark.parametrize("method", ["log", "score"])
def test_the_relative_risks_interval_is_statsmodels(method: str) -> None:
    """Log where no cell is zero, score where one is: the other pairs are not offered."""
    for case in golden_cases(f"confint_proportions_2indep(compare=ratio, method={method})"):
        table = given(case["input"])
        statistics = two_by_two(*table.counts).relative_risk
        if (0 in table.counts) == (method == "score"):
            assert [statistics.low, statistics.high] == near_all(case["expected"])


def test_the_odds_ratios_logit_interval_is_statsmodels() -> None:
    for case in golden_cases("confint_proportions_2indep(compare=odds-ratio, method=logit)"):
        table = given(case["input"])
        if 0 not in table.counts:
            statistics = two_by_two(*table.counts).odds_ratio
            assert [statistics.low, statistics.high] == near_all(case["expected"])


def test_strata_are_statsmodels() -> None:
    case = golden_cases("StratifiedTable: MH pooled OR, CI, RR, CMH, Breslow-Day")[0]
    expected = case["expected"]
    tables = [(*rows[0], *rows[1]) for rows in case["input"]]
    statistics, corrected = stratified(tables), stratified(tables, correction=True)
    same(statistics.odds_ratio, expected["or_pooled"], expected["or_ci"])
    assert statistics.relative_risk == near(expected["rr_pooled"])
    pairs = [
        (statistics.cmh, "cmh_nocorr"),
        (corrected.cmh, "cmh_corr"),
        (statistics.breslow_day, "breslow_day"),
        (statistics.tarone, "tarone"),
    ]
    for ours, name in pairs:
        assert ours.statistic == near(expected[name]["stat"])
        assert ours.p_value == near(expected[name]["p"])


def test_a_stratum_with_a_zero_cell_needs_no_correction() -> None:
    case = golden_cases("StratifiedTable with a zero cell")[0]
    statistics = stratified([(*rows[0], *rows[1]) for rows in case["input"]])
    assert statistics.odds_ratio.value == near(case["expected"]["or_pooled"])
    assert statistics.cmh.statistic == near(case["expected"]["cmh"])
    assert statistics.cmh.p_value == near(case["expected"]["p"])


def test_pairs_are_statsmodels() -> None:
    for exact, correction in (True, True), (False, True), (False, False):
        case = golden_cases(f"mcnemar(exact={exact}, correction={correction})")[0]
        (both, first), (second, neither) = case["input"]
        statistics = paired_table(both, first, second, neither, alpha=0.05)
        if exact:
            assert statistics.exact_p_value == near(case["expected"]["p"])
            continue
        statistic = statistics.corrected_statistic if correction else statistics.statistic
        p_value = statistics.corrected_p_value if correction else statistics.p_value
        assert statistic == near(case["expected"]["stat"])
        assert p_value == near(case["expected"]["p"])


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
