"""Pairs with two binary outcomes, as of counterfactual prompts: McNemar's test."""

from dataclasses import dataclass

from scipy import stats

from biaswatch.shared.stats.estimate import IntervalEstimate, check_alpha, undefined
from biaswatch.shared.stats.tables.contingency import contingency_table

NO_DISCORDANT = "no pair differs in the outcome"


@dataclass(frozen=True)
class PairedTable:
    """The statistics of pairs with two binary outcomes."""

    n: int
    difference: float | None
    """First member's rate minus the second's; None without pairs."""
    odds_ratio: IntervalEstimate
    """Pairs with the outcome in the first only, over those in the second only."""
    exact_p_value: float | None
    """McNemar's exact binomial test."""
    statistic: float | None
    """McNemar's chi-square, one degree of freedom, uncorrected."""
    p_value: float | None
    """Of the uncorrected chi-square."""
    corrected_statistic: float | None
    """McNemar's chi-square with Edwards' continuity correction."""
    corrected_p_value: float | None
    reason: str | None


def paired_table(both: int, first: int, second: int, neither: int, *, alpha: float) -> PairedTable:
    """Return McNemar's tests of counts of pairs: both, only the first, only the second, neither.

    Only discordant pairs tell of a difference: given their number, under the null `first` is
    binomial with p = 1/2. The odds ratio first / second has the exact interval that follows from
    Clopper and Pearson's. Pairs are independent units; repeats of a pair are not.

    Raises
    ------
    ValueError
        For a count that is negative or not an integer, and for alpha outside (0, 1).

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions;
    Edwards (1948) for the correction.
    """
    table = contingency_table(both, first, second, neither)
    check_alpha(alpha)
    difference = (table.b - table.c) / table.n if table.n else None
    odds_ratio = _odds_ratio(table.b, table.c, alpha)
    if not table.b + table.c:
        nothing = (None, None, None, None, None)
        return PairedTable(table.n, difference, odds_ratio, *nothing, NO_DISCORDANT)
    exact = stats.binomtest(table.b, table.b + table.c)
    plain, corrected = (_chi_square(table.b, table.c, by) for by in (0, 1))
    tests = (float(exact.pvalue), *plain, *corrected)
    return PairedTable(table.n, difference, odds_ratio, *tests, None)


def _chi_square(first: int, second: int, correction: int) -> tuple[float, float]:
    """Return (|b - c| - correction)^2 / (b + c), the correction not reaching beyond zero.

    Not the library's: it takes 1 off also where b equals c, so that no difference at all gets a
    statistic above zero.
    """
    statistic = max(0, abs(first - second) - correction) ** 2 / (first + second)
    return statistic, float(stats.chi2.sf(statistic, 1))


def _odds_ratio(first: int, second: int, alpha: float) -> IntervalEstimate:
    method = "discordant pairs, Clopper-Pearson"
    if not first + second:
        return undefined(NO_DISCORDANT, method=method)
    share = stats.binomtest(first, first + second).proportion_ci(1 - alpha, method="exact")
    low, high = float(share.low), float(share.high)
    lower = low / (1 - low)
    if not second:
        return IntervalEstimate(
            None, lower, None, method, "infinite: no pair has it in the second only"
        )
    return IntervalEstimate(first / second, lower, high / (1 - high), method)
