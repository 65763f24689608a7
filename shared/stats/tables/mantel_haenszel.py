"""One odds ratio, one relative risk and one test for several 2x2 tables."""

from collections.abc import Sequence
from typing import Any

from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from shared.stats.estimate import Estimate, undefined
from shared.stats.tables.cells import Cells
from shared.stats.tables.homogeneity import StrataTest

NO_STRATUM = "no stratum has both groups, with and without the outcome"
INFINITE = "infinite: B or C is zero in every stratum"
ZERO = "no interval: A or D is zero in every stratum"


def common_odds_ratio(strata: Sequence[Cells], alpha: float) -> Estimate:
    """Return the Mantel-Haenszel odds ratio (sum of AD/n) / (sum of BC/n) with an interval.

    The interval is Robins, Breslow and Greenland's, valid for few large strata and for many small
    ones. Zero cells need no correction. Without an interval where the ratio is 0 or infinite. No
    stratum may have a zero margin.

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
    found = _library(strata)
    low, high = found.oddsratio_pooled_confint(alpha)
    return Estimate(float(found.oddsratio_pooled), float(low), float(high), method)


def common_relative_risk(strata: Sequence[Cells]) -> float | None:
    """Return the Mantel-Haenszel relative risk (sum of A n2/n) / (sum of C n1/n).

    None where group 2 has no outcomes in any stratum.
    """
    if not any(table.c for table in strata):
        return None
    return float(_library(strata).riskratio_pooled)


def cmh_test(strata: Sequence[Cells], *, correction: bool = False) -> StrataTest:
    """Return Cochran, Mantel and Haenszel's test of no association within strata.

    The statistic is (sum of A - n1 m/n)^2 / sum of n1 n2 m (n - m) / (n^2 (n - 1)), m being the
    outcomes; one degree of freedom. `correction` takes 0.5 off the sum before it is squared, not
    beyond zero. No stratum may have a zero margin. statsmodels goes beyond zero, and takes the
    p-value as 1 - cdf, which is 0 long before it should be.

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
    return StrataTest(statistic, 1, float(stats.chi2.sf(statistic, 1)))


def _variance(table: Cells) -> float:
    outcomes = table.a + table.c
    spread = table.n_1 * table.n_2 * outcomes * (table.n - outcomes)
    return spread / (table.n**2 * (table.n - 1))


def _library(strata: Sequence[Cells]) -> Any:
    return StratifiedTable([table.rows for table in strata])
