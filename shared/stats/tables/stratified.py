"""2x2 tables by stratum: common odds ratio, tests, and Simpson's paradox."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from scipy import special

from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.tables.contingency import ContingencyTable, contingency_table, no_margin
from biaswatch.shared.stats.tables.independence import chi_square, declared, fisher
from biaswatch.shared.stats.tables.odds_ratio import sample_odds_ratio

TOO_FEW = "fewer than two strata: there is nothing to compare"
NO_STRATUM = "no stratum has both groups, with and without the outcome"
INFINITE = "infinite: B or C is zero in every stratum"
ZERO = "no interval: A or D is zero in every stratum"


@dataclass(frozen=True)
class StrataTest:
    """A test over strata, or the reason why it is undefined."""

    statistic: float | None = None
    dof: int | None = None
    p_value: float | None = None
    reason: str | None = None


def breslow_day(
    strata: Sequence[ContingencyTable], odds_ratio: float | None, *, tarone: bool = False
) -> StrataTest:
    """Test whether all strata share one odds ratio.

    The statistic is the sum over strata of (A - e)^2 / v, where e is the count expected in a table
    with these margins and the common odds ratio and v = 1 / (1/e + 1/(n1 - e) + 1/(m - e) +
    1/(n2 - m + e)), m being the outcomes; strata - 1 degrees of freedom. Tarone's correction
    subtracts (sum of A - e)^2 / sum of v, which makes it chi-square distributed also with a
    Mantel-Haenszel odds ratio.

    Strata must have no zero margin. Undefined for fewer than two, or for an odds ratio of 0 or an
    infinite one (None). Approximate: strata should be large. statsmodels divides by zero where the
    odds ratio is exactly 1.

    References
    ----------
    Breslow and Day (1980), Statistical methods in cancer research I, section 4.4; Tarone (1985),
    On heterogeneity tests based on efficient scores.
    """
    if len(strata) < 2:
        return StrataTest(reason=TOO_FEW)
    if not odds_ratio:
        return StrataTest(reason="the common odds ratio is 0 or infinite")
    expected = [_expected(table, odds_ratio) for table in strata]
    gaps = [table.a - e for table, e in zip(strata, expected, strict=True)]
    variances = [_variance_given_odds(table, e) for table, e in zip(strata, expected, strict=True)]
    statistic = sum(gap**2 / v for gap, v in zip(gaps, variances, strict=True))
    if tarone:
        statistic -= sum(gaps) ** 2 / sum(variances)
    dof = len(strata) - 1
    return StrataTest(statistic, dof, float(special.chdtrc(dof, statistic)))


def _expected(table: ContingencyTable, odds_ratio: float) -> float:
    """Solve e (n2 - m + e) = odds_ratio (n1 - e) (m - e) for the e that keeps all counts positive.

    The root is written in the form without cancellation.
    """
    outcomes = table.a + table.c
    square = 1 - odds_ratio
    linear = odds_ratio * (table.n_1 + outcomes) + table.n_2 - outcomes
    constant = -odds_ratio * table.n_1 * outcomes
    root = sqrt(linear**2 - 4 * square * constant)
    if linear >= 0:
        return -2 * constant / (linear + root)
    return (root - linear) / (2 * square)


def _variance_given_odds(table: ContingencyTable, expected: float) -> float:
    outcomes = table.a + table.c
    cells = (table.n_1 - expected, outcomes - expected, table.n_2 - outcomes + expected)
    return 1 / (1 / expected + sum(1 / cell for cell in cells))


def common_odds_ratio(strata: Sequence[ContingencyTable], alpha: float) -> Estimate:
    """Return the Mantel-Haenszel odds ratio (sum of AD/n) / (sum of BC/n) with an interval.

    The interval is Robins, Breslow and Greenland's, valid for few large strata and for many small
    ones. Zero cells need no correction. Without an interval where the ratio is 0 or infinite. All
    margins of all strata must be above zero.

    References
    ----------
    Mantel and Haenszel (1959), Statistical aspects of the analysis of data from retrospective
    studies; Robins, Breslow and Greenland (1986), Estimators of the Mantel-Haenszel variance
    consistent in both sparse data and large-strata limiting models.
    """
    method = "Mantel-Haenszel, Robins-Breslow-Greenland"
    if not strata:
        return undefined(NO_STRATUM, method=method)
    if not any(table.b * table.c for table in strata):
        return undefined(INFINITE, method=method)
    if not any(table.a * table.d for table in strata):
        return undefined(ZERO, value=0.0, method=method)
    pooled = _library(strata)
    low, high = pooled.oddsratio_pooled_confint(alpha)
    return Estimate(float(pooled.oddsratio_pooled), float(low), float(high), method)


def common_relative_risk(strata: Sequence[ContingencyTable]) -> float | None:
    """Return the Mantel-Haenszel relative risk (sum of A n2/n) / (sum of C n1/n).

    None where group 2 has no outcomes in any stratum.
    """
    if not any(table.c for table in strata):
        return None
    return float(_library(strata).riskratio_pooled)


def cmh_test(strata: Sequence[ContingencyTable], *, correction: bool = False) -> StrataTest:
    """Return Cochran, Mantel and Haenszel's test of no association within strata.

    The statistic is (sum of A - n1 m/n)^2 / sum of n1 n2 m (n - m) / (n^2 (n - 1)), m being the
    outcomes; one degree of freedom. `correction` subtracts 0.5 from the sum before it is squared,
    down to zero. All margins must be above zero. statsmodels goes below zero, and computes the
    p-value as 1 - cdf, which underflows to 0 too early.

    References
    ----------
    Cochran (1954), Some methods for strengthening the common chi-square tests; Mantel and
    Haenszel (1959).
    """
    if not strata:
        return StrataTest(reason=NO_STRATUM)
    gap = abs(sum(table.a - table.n_1 * (table.a + table.c) / table.n for table in strata))
    if correction:
        gap = max(0.0, gap - 0.5)
    statistic = gap**2 / sum(_variance(table) for table in strata)
    return StrataTest(statistic, 1, float(special.chdtrc(1, statistic)))


def _variance(table: ContingencyTable) -> float:
    outcomes = table.a + table.c
    spread = table.n_1 * table.n_2 * outcomes * (table.n - outcomes)
    return spread / (table.n**2 * (table.n - 1))


def _library(strata: Sequence[ContingencyTable]) -> Any:
    from statsmodels.stats.contingency_tables import StratifiedTable  # takes a second to import

    return StratifiedTable([table.rows for table in strata])


@dataclass(frozen=True)
class Stratified:
    """The statistics of several strata, and of their sum."""

    odds_ratio: Estimate
    """Mantel and Haenszel's, within strata."""
    relative_risk: float | None
    """Mantel and Haenszel's, within strata."""
    cmh: StrataTest
    """Cochran, Mantel and Haenszel's test."""
    breslow_day: StrataTest
    tarone: StrataTest
    """Breslow and Day's test with Tarone's correction."""
    pooled: Estimate
    """The odds ratio of the sum of all strata."""
    strata: int
    """Strata that are informative."""
    dropped: int
    """Strata where a group is empty, or all or no cases have the outcome."""
    note: str | None
    """A sentence where strata and sum disagree."""


def stratified(
    tables: Iterable[Sequence[int]], *, alpha: float = 0.05, correction: bool = False
) -> Stratified:
    """Return the statistics of 2x2 tables, one (A, B, C, D) per stratum.

    `correction` applies the continuity correction to the CMH test. Strata with a zero margin carry
    no information on the association: they are dropped and counted, but stay in the pooled table.

    Assumes independent cases, and one odds ratio in all strata (tested by Breslow and Day).

    Parameters
    ----------
    tables
        Counts (A, B, C, D) of each stratum: both groups with and without the outcome.
    alpha
        1 minus the coverage, in (0, 1).
    correction
        Whether the CMH test has a continuity correction.

    Raises
    ------
    ValueError
        For a table that is not four counts, and for alpha outside (0, 1).

    References
    ----------
    Simpson (1951), The interpretation of interaction in contingency tables; Bickel, Hammel and
    O'Connell (1975), Sex bias in graduate admissions.
    """
    check_alpha(alpha)
    all_tables = [_stratum(table) for table in tables]
    useful = [table for table in all_tables if not no_margin(table)]
    total = ContingencyTable(
        *(sum(table.counts[place] for table in all_tables) for place in range(4))
    )
    test = fisher(total) if declared(total) == "fisher" else chi_square(total)
    odds_ratio = common_odds_ratio(useful, alpha)
    cmh = cmh_test(useful, correction=correction)
    pooled = sample_odds_ratio(total, alpha)
    return Stratified(
        odds_ratio=odds_ratio,
        relative_risk=common_relative_risk(useful),
        cmh=cmh,
        breslow_day=breslow_day(useful, odds_ratio.value),
        tarone=breslow_day(useful, odds_ratio.value, tarone=True),
        pooled=pooled,
        strata=len(useful),
        dropped=len(all_tables) - len(useful),
        note=_note(odds_ratio, cmh.p_value, pooled, test.p_value, alpha),
    )


def _stratum(table: Sequence[int]) -> ContingencyTable:
    if len(table) != 4:
        raise ValueError(f"A stratum is four counts A, B, C, D, but one has {len(table)}.")
    return contingency_table(*table)


def _note(
    within: Estimate, p_within: float | None, pooled: Estimate, p_pooled: float | None, alpha: float
) -> str | None:
    """Return a sentence where the pooled table would mislead, or None."""
    if within.value is None or pooled.value is None or p_within is None or p_pooled is None:
        return None
    numbers = f"odds ratio {pooled.value:.3g} pooled, {within.value:.3g} within strata"
    shown, shown_within = p_pooled <= alpha, p_within <= alpha
    if (within.value - 1) * (pooled.value - 1) < 0 and (shown or shown_within):
        return f"Simpson's paradox: the association turns round when strata are kept ({numbers})."
    if shown and not shown_within:
        return f"The pooled association is not shown within strata ({numbers})."
    if shown_within and not shown:
        return f"Strata show an association that the pooled table hides ({numbers})."
    return None
