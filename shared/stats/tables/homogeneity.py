"""Whether strata share one odds ratio: Breslow and Day's test, with Tarone's correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from scipy import stats

from shared.stats.tables.cells import Cells

TOO_FEW = "fewer than two strata: there is nothing to compare"


@dataclass(frozen=True)
class StrataTest:
    """A test over strata, or the reason why there is none."""

    statistic: float | None = None
    dof: int | None = None
    p_value: float | None = None
    reason: str | None = None


def breslow_day(
    strata: Sequence[Cells], odds_ratio: float | None, *, tarone: bool = False
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
    variances = [_variance(table, e) for table, e in zip(strata, expected, strict=True)]
    statistic = sum(gap**2 / v for gap, v in zip(gaps, variances, strict=True))
    if tarone:
        statistic -= sum(gaps) ** 2 / sum(variances)
    dof = len(strata) - 1
    return StrataTest(statistic, dof, float(stats.chi2.sf(statistic, dof)))


def _expected(table: Cells, odds_ratio: float) -> float:
    """Solve e (n2 - m + e) = odds_ratio (n1 - e) (m - e) for the e that leaves no count negative.

    Of the two ways to write the root, the one without cancellation.
    """
    outcomes = table.a + table.c
    square = 1 - odds_ratio
    linear = odds_ratio * (table.n_1 + outcomes) + table.n_2 - outcomes
    constant = -odds_ratio * table.n_1 * outcomes
    root = sqrt(linear**2 - 4 * square * constant)
    if linear >= 0:
        return -2 * constant / (linear + root)
    return (root - linear) / (2 * square)


def _variance(table: Cells, expected: float) -> float:
    outcomes = table.a + table.c
    others = (table.n_1 - expected, outcomes - expected, table.n_2 - outcomes + expected)
    return 1 / (1 / expected + sum(1 / other for other in others))
