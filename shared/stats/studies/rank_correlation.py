"""Rank correlation of two measurements of the same units, with an interval."""

from collections.abc import Sequence
from math import atanh, isclose, sqrt, tanh

from scipy import special

from biaswatch.shared.stats.estimate import Estimate, undefined

MIN_UNITS = 8
"""With fewer, intervals cover a correlation of 0.9 in far less than 95 % of cases (0.76 with 5)."""
METHOD = "Spearman's rho with the interval of Bonett and Wright"


def rank_correlation(x: Sequence[float], y: Sequence[float], alpha: float = 0.05) -> Estimate:
    """Return Spearman's rank correlation, with an interval from eight units on.

    Notes
    -----
    The interval is symmetric for Fisher's z, with the variance (1 + rho^2 / 2) / (n - 3). In
    simulated studies with 8, 12 or 20 normal units, it covered correlations of 0 to 0.9 in 94 to 97
    %, with t3 units in 91 to 95 %.

    References
    ----------
    Spearman (1904); Bonett and Wright (2000), Psychometrika 65(1).

    Examples
    --------
    >>> round(rank_correlation([1, 2, 3, 4, 5, 6, 7, 8], [1, 3, 2, 4, 6, 5, 8, 7]).value, 3)
    0.929
    """
    if len(x) < 3 or len(set(x)) == 1 or len(set(y)) == 1:
        return undefined("a rank correlation needs three units with different values")
    from scipy import stats  # slow to load

    rho = float(stats.spearmanr(x, y).statistic)
    if len(x) < MIN_UNITS:
        return undefined(f"an interval needs {MIN_UNITS} units", value=rho, method=METHOD)
    if isclose(abs(rho), 1):
        return undefined("all ranks agree, which gives no interval", value=rho, method=METHOD)
    margin = special.ndtri(1 - alpha / 2) * sqrt((1 + rho**2 / 2) / (len(x) - 3))
    return Estimate(rho, tanh(atanh(rho) - margin), tanh(atanh(rho) + margin), METHOD)
