"""Rates of two groups, their ratio, their difference and the impact ratio, from counts."""

from dataclasses import replace
from math import exp, log, sqrt

from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from shared.stats.estimate import Estimate, undefined
from shared.stats.tables.cells import NOBODY, Cells, no_groups
from shared.stats.tables.score_ratio import score_interval

INFINITE = "infinite: group 2 has no outcomes"


def selection_rate(count: int, n: int, alpha: float) -> Estimate:
    """Return the share of n independent cases with the outcome, with Wilson's score interval.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    method = "Wilson"
    if not n:
        return undefined("the group has no cases", method=method)
    low, high = proportion_confint(count, n, alpha=alpha, method="wilson")
    return Estimate(count / n, float(low), float(high), method)


def relative_risk(table: Cells, alpha: float) -> Estimate:
    """Return group 1's rate over group 2's, with an interval.

    The interval is Katz's, exp(log RR +- z sqrt(1/A - 1/n1 + 1/C - 1/n2)); where a cell is zero,
    the score interval, because Katz's would be undefined or take a rate of 0 or 1 as certain.
    Nothing is added to any count. Infinite (None, with the lower bound) where only group 2 has no
    outcomes; undefined where a group is empty or nobody has the outcome.

    References
    ----------
    Katz, Baptista, Azen and Pike (1978), Obtaining confidence intervals for the risk ratio;
    Miettinen and Nurminen (1985), Comparative analysis of two rates.
    """
    method = "score (Miettinen and Nurminen)" if 0 in table.counts else "Katz"
    if reason := _no_ratio(table):
        return undefined(reason, method=method)
    if 0 in table.counts:
        low, high = score_interval(table, alpha)
    else:
        low, high = _katz(table, alpha)
    if not table.c:
        return Estimate(None, low, None, method, INFINITE)
    return Estimate((table.a * table.n_2) / (table.n_1 * table.c), low, high, method)


def impact_ratio(table: Cells, alpha: float) -> Estimate:
    """Return the smaller selection rate over the larger, with the interval of that relative risk.

    The interval may reach above 1: which group is selected less is itself uncertain. Where the
    rates are equal it covers the intervals of both ratios. Undefined where a group is empty or
    nobody is selected.
    """
    first, second = table.a * table.n_2, table.c * table.n_1
    found = relative_risk(table if first <= second else table.exchanged, alpha)
    if found.reason == NOBODY:
        return replace(found, reason="nobody is selected in either group")
    if found.value is not None and first == second:
        return _either_way(found, relative_risk(table.exchanged, alpha))
    # The reason names the groups of the table as given, not of the exchanged one.
    return replace(found, reason=no_groups(table))


def _either_way(found: Estimate, exchanged: Estimate) -> Estimate:
    """Join the intervals of both ratios: of equal rates, none is the smaller."""
    both = (found.low, found.high, exchanged.low, exchanged.high)
    ends = [end for end in both if end is not None]
    return replace(found, low=min(ends), high=max(ends))


def risk_difference(table: Cells, alpha: float) -> Estimate:
    """Return group 1's rate minus group 2's, with Newcombe's hybrid score interval.

    In [-1, 1]. Defined wherever both groups have cases, also where nobody has the outcome:
    Wilson's intervals, of which it is made, do not take a rate of 0 or 1 as certain.

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions,
    method 10.
    """
    method = "Newcombe"
    if reason := no_groups(table):
        return undefined(reason, method=method)
    low, high = confint_proportions_2indep(
        table.a, table.n_1, table.c, table.n_2, compare="diff", method="newcomb", alpha=alpha
    )
    gap = (table.a * table.n_2 - table.c * table.n_1) / (table.n_1 * table.n_2)
    return Estimate(gap, float(low), float(high), method)


def _katz(table: Cells, alpha: float) -> tuple[float, float]:
    centre = log(table.a) - log(table.n_1) - log(table.c) + log(table.n_2)
    # B / (A n1) is 1/A - 1/n1 without the cancellation.
    variance = table.b / (table.a * table.n_1) + table.d / (table.c * table.n_2)
    reach = float(stats.norm.isf(alpha / 2)) * sqrt(variance)
    return exp(centre - reach), exp(centre + reach)


def _no_ratio(table: Cells) -> str | None:
    if reason := no_groups(table):
        return reason
    return None if table.a + table.c else NOBODY
