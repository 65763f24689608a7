"""The score interval of a ratio of two rates, also where statsmodels takes a wrong root."""

from collections.abc import Callable
from math import exp, inf, log, sqrt

from scipy import stats
from scipy.optimize import brentq

from shared.stats.tables.cells import Cells

TOLERANCE = 1e-13
"""Of the logarithm of a bound."""

FAR = 40.0
"""On the logarithm: so far below the data that the score is nothing where group 1 has none."""


def score_interval(table: Cells, alpha: float) -> tuple[float, float | None]:
    """Return the score interval of group 1's rate over group 2's.

    It holds the ratios t that the score test does not reject: (p1 - t p2)^2 / v <= z^2, where v is
    the variance of p1 - t p2 at the most likely rates whose ratio is t, times n / (n - 1). Unlike
    intervals on the logarithm it is defined for rates of 0 and 1: the lower bound is 0 where group
    1 has no outcomes, the upper one None (infinite) where group 2 has none.

    Both groups must have cases, and somebody the outcome. statsmodels 0.15 solves a cubic equation
    instead, which loses digits in large tables and often takes a wrong root where a rate is 1: for
    6 of 6 against 26 of 39 it gives a lower bound of 1.41, where its own score test has p = .54.

    References
    ----------
    Koopman (1984), Confidence intervals for the ratio of two binomial proportions; Miettinen and
    Nurminen (1985), Comparative analysis of two rates, for the factor n / (n - 1).
    """
    if not table.c:
        _, high = score_interval(table.exchanged, alpha)
        return (0.0 if high is None else 1 / high), None
    allowed = float(stats.chi2.isf(alpha, 1))

    def excess(logarithm: float) -> float:
        return _score(table, exp(logarithm)) - allowed

    observed = log((table.a or 0.5) / table.n_1) - log(table.c / table.n_2)
    if not table.a:
        return 0.0, exp(_root(excess, observed - FAR, 1))
    return exp(_root(excess, observed, -1)), exp(_root(excess, observed, 1))


def _score(table: Cells, ratio: float) -> float:
    """Return the squared score statistic for this ratio."""
    gap = table.a / table.n_1 - ratio * table.c / table.n_2
    p_1, p_2 = _rates(table, ratio)
    variance = p_1 * (1 - p_1) / table.n_1 + ratio**2 * p_2 * (1 - p_2) / table.n_2
    if variance <= 0:
        return 0.0 if gap == 0 else inf
    return gap**2 / (variance * table.n / (table.n - 1))


def _rates(table: Cells, ratio: float) -> tuple[float, float]:
    """Return the most likely rates whose ratio is this: the root of a quadratic equation."""
    outcomes = table.a + table.c
    left, right = (table.n_1 + table.c) * ratio, table.a + table.n_2
    # The discriminant (left + right)^2 - 4 n ratio outcomes, written without its cancellation.
    root = sqrt((left - right) ** 2 + 4 * ratio * table.b * table.d)
    p_2 = min(2 * outcomes / (left + right + root), 1.0, 1 / ratio)
    return min(ratio * p_2, 1.0), p_2


def _root(excess: Callable[[float], float], inside: float, direction: int) -> float:
    """Walk away from what is not rejected until it is, then find the bound between."""
    step = 1.0
    while excess(inside + direction * step) <= 0:
        step *= 2
    outside = inside + direction * step
    return float(brentq(excess, *sorted((inside, outside)), xtol=TOLERANCE))
