"""Rates of two groups, their ratio, their difference and the impact ratio, from counts."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from math import exp, hypot, inf, log, sqrt

from scipy import special

from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.tables.contingency import NO_OUTCOME, ContingencyTable, no_groups

LOG_RATIO_TOL = 1e-13
"""Absolute tolerance of the logarithm of a bound."""
FAR_LOG_RATIO = 40.0
"""Distance below the data at which the score is 0 where group 1 has no outcomes."""
INFINITE = "infinite: group 2 has no outcomes"


def score_interval(table: ContingencyTable, alpha: float) -> tuple[float, float | None]:
    """Return the score interval of group 1's rate over group 2's.

    It contains the ratios t that the score test does not reject: (p1 - t p2)^2 / v <= z^2, where v
    is the variance of p1 - t p2 at the most likely rates with ratio t, times n / (n - 1). Unlike
    intervals on the logarithm it is defined for rates of 0 and 1: the lower bound is 0 where group
    1 has no outcomes, the upper one None (infinite) where group 2 has none.

    Both groups must have cases, and at least one case the outcome. statsmodels 0.15 solves a cubic
    equation instead, which loses digits in large tables and often takes a wrong root where a rate
    is 1: for 6 of 6 against 26 of 39 it gives a lower bound of 1.41, where its own score test has
    p = .54.

    References
    ----------
    Koopman (1984), Confidence intervals for the ratio of two binomial proportions; Miettinen and
    Nurminen (1985), Comparative analysis of two rates, for the factor n / (n - 1).
    """
    if not table.c:
        _, high = score_interval(table.exchanged, alpha)
        return (0.0 if high is None else 1 / high), None
    allowed = float(special.chdtri(1, alpha))

    def excess(logarithm: float) -> float:
        return _score(table, exp(logarithm)) - allowed

    observed = log((table.a or 0.5) / table.n_1) - log(table.c / table.n_2)
    if not table.a:
        return 0.0, exp(_root(excess, observed - FAR_LOG_RATIO, 1))
    return exp(_root(excess, observed, -1)), exp(_root(excess, observed, 1))


def _score(table: ContingencyTable, ratio: float) -> float:
    """Return the squared score statistic for this ratio."""
    gap = table.a / table.n_1 - ratio * table.c / table.n_2
    p_1, p_2 = _rates(table, ratio)
    variance = p_1 * (1 - p_1) / table.n_1 + ratio**2 * p_2 * (1 - p_2) / table.n_2
    if variance <= 0:
        return 0.0 if gap == 0 else inf
    return gap**2 / (variance * table.n / (table.n - 1))


def _rates(table: ContingencyTable, ratio: float) -> tuple[float, float]:
    """Return the most likely rates with this ratio: the root of a quadratic equation."""
    outcomes = table.a + table.c
    left, right = (table.n_1 + table.c) * ratio, table.a + table.n_2
    # The discriminant (left + right)^2 - 4 n ratio outcomes, written without its cancellation.
    root = sqrt((left - right) ** 2 + 4 * ratio * table.b * table.d)
    p_2 = min(2 * outcomes / (left + right + root), 1.0, 1 / ratio)
    return min(ratio * p_2, 1.0), p_2


def _root(excess: Callable[[float], float], inside: float, direction: int) -> float:
    """Return the bound: bracketed in doubling steps from an accepted value, then located."""
    from scipy.optimize import brentq  # slow to load

    step = 1.0
    while excess(inside + direction * step) <= 0:
        step *= 2
    outside = inside + direction * step
    return float(brentq(excess, *sorted((inside, outside)), xtol=LOG_RATIO_TOL))


def selection_rate(count: int, n: int, alpha: float) -> Estimate:
    """Return the share of n independent cases with the outcome, with Wilson's score interval.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    method = "Wilson"
    if not n:
        return undefined("the group has no cases", method=method)
    low, high = wilson_limits(count, n, alpha)
    return Estimate(count / n, low, high, method)


def relative_risk(table: ContingencyTable, alpha: float) -> Estimate:
    """Return group 1's rate over group 2's, with an interval.

    The interval is Katz's, exp(log RR +- z sqrt(1/A - 1/n1 + 1/C - 1/n2)); where a cell is zero,
    the score interval, because Katz's would be undefined or take a rate of 0 or 1 as certain.
    Nothing is added to any count. Infinite (None, with the lower bound) where only group 2 has no
    outcomes; undefined where a group is empty or no case has the outcome.

    References
    ----------
    Katz, Baptista, Azen and Pike (1978), Obtaining confidence intervals for the risk ratio;
    Miettinen and Nurminen (1985), Comparative analysis of two rates.
    """
    method = "score (Miettinen and Nurminen)" if 0 in table.counts else "Katz"
    if reason := no_groups(table) or (None if table.a + table.c else NO_OUTCOME):
        return undefined(reason, method=method)
    if 0 in table.counts:
        low, high = score_interval(table, alpha)
    else:
        low, high = _katz(table, alpha)
    if not table.c:
        return Estimate(None, low, None, method, INFINITE)
    return Estimate((table.a * table.n_2) / (table.n_1 * table.c), low, high, method)


def impact_ratio(table: ContingencyTable, alpha: float) -> Estimate:
    """Return the smaller selection rate over the larger, with the interval of that relative risk.

    The interval may reach above 1: which group is selected less is itself uncertain. Where the
    rates are equal it covers the intervals of both ratios. Undefined where a group is empty or
    no case is selected.
    """
    first, second = table.a * table.n_2, table.c * table.n_1
    ratio = relative_risk(table if first <= second else table.exchanged, alpha)
    if ratio.reason == NO_OUTCOME:
        return replace(ratio, reason="no case is selected in either group")
    if ratio.value is not None and first == second:
        # Neither of equal rates is the smaller: the intervals of both ratios are joined.
        exchanged = relative_risk(table.exchanged, alpha)
        both = (ratio.low, ratio.high, exchanged.low, exchanged.high)
        ends = [end for end in both if end is not None]
        return replace(ratio, low=min(ends), high=max(ends))
    # The reason names the groups of the table as given, not of the exchanged one.
    return replace(ratio, reason=no_groups(table))


def risk_difference(table: ContingencyTable, alpha: float) -> Estimate:
    """Return group 1's rate minus group 2's, with Newcombe's hybrid score interval.

    In [-1, 1]. Defined wherever both groups have cases, also without any outcome: it combines
    Wilson's intervals, which do not take a rate of 0 or 1 as certain.

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions,
    method 10.
    """
    method = "Newcombe"
    if reason := no_groups(table):
        return undefined(reason, method=method)
    low_1, high_1 = wilson_limits(table.a, table.n_1, alpha)
    low_2, high_2 = wilson_limits(table.c, table.n_2, alpha)
    rate_1, rate_2 = table.a / table.n_1, table.c / table.n_2
    gap = (table.a * table.n_2 - table.c * table.n_1) / (table.n_1 * table.n_2)
    low = gap - hypot(rate_1 - low_1, high_2 - rate_2)
    return Estimate(gap, low, gap + hypot(high_1 - rate_1, rate_2 - low_2), method)


@lru_cache(maxsize=4096)
def wilson_limits(count: int, n: int, alpha: float) -> tuple[float, float]:
    """Return Wilson's limits of a share, as scipy; most groups are of one size, nothing missing."""
    share = count / n
    z = float(special.ndtri(0.5 + 0.5 * (1 - alpha)))
    width = 2 * (n + z**2)
    centre = (2 * n * share + z**2) / width
    reach = z / width * sqrt(4 * n * share * (1 - share) + z**2)
    return (centre - reach if count else 0.0), (centre + reach if count < n else 1.0)


def _katz(table: ContingencyTable, alpha: float) -> tuple[float, float]:
    centre = log(table.a) - log(table.n_1) - log(table.c) + log(table.n_2)
    # B / (A n1) is 1/A - 1/n1 without the cancellation.
    variance = table.b / (table.a * table.n_1) + table.d / (table.c * table.n_2)
    reach = -float(special.ndtri(alpha / 2)) * sqrt(variance)
    return exp(centre - reach), exp(centre + reach)
