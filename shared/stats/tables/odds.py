"""Odds ratios of a 2x2 table: the sample one and the conditional one, which are not the same."""

from math import exp, inf, log, sqrt

from scipy import stats

from shared.stats.estimate import Estimate, undefined
from shared.stats.tables.cells import Cells, no_margin
from shared.stats.tables.noncentral import conditional

MOST_CONDITIONAL = 20_000
"""Cases up to which the conditional odds ratio is computed; beyond, it equals the sample one to
three digits, unless a cell is small.
"""

INFINITE = "infinite: the opposite cell is zero"


def sample_odds_ratio(table: Cells, alpha: float) -> Estimate:
    """Return the sample odds ratio AD / BC with Woolf's interval.

    The interval is exp(log OR +- z sqrt(1/A + 1/B + 1/C + 1/D)). Each zero cell counts as 0.5,
    which `method` says. Undefined where a margin is zero.

    Assumes independent cases. Asymptotic: where a cell is below 5, prefer the conditional one.

    References
    ----------
    Woolf (1955), On estimating the relation between blood group and disease.
    """
    method = "Woolf"
    if reason := no_margin(table):
        return undefined(reason, method=method)
    if 0 in table.counts:
        method = "Woolf, with 0.5 in the place of each zero cell"
    a, b, c, d = (count or 0.5 for count in table.counts)
    centre = log(a) + log(d) - log(b) - log(c)
    reach = float(stats.norm.isf(alpha / 2)) * sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    # Not exp(centre): the plain quotient is exact where exp and log would round.
    return Estimate((a * d) / (b * c), exp(centre - reach), exp(centre + reach), method)


def haldane_anscombe(table: Cells) -> float:
    """Return the odds ratio with 0.5 added to all four cells; finite for every table.

    References
    ----------
    Haldane (1956), The estimation and significance of the logarithm of a ratio of frequencies;
    Anscombe (1956), On estimating binomial response relations.
    """
    a, b, c, d = (count + 0.5 for count in table.counts)
    return (a * d) / (b * c)


def conditional_odds_ratio(table: Cells, alpha: float) -> Estimate:
    """Return the conditional maximum likelihood odds ratio with its exact interval.

    Given all margins, A follows Fisher's noncentral hypergeometric distribution; the estimate is
    the noncentrality whose mean is A, the interval inverts both one-sided exact tests at alpha/2
    and so covers at least 1 - alpha. It is 0 where A or D is zero, and infinite (None, with the
    lower bound) where B or C is. Undefined where a margin is zero and beyond `MOST_CONDITIONAL`.

    References
    ----------
    Fisher (1935), The logic of inductive inference; Cornfield (1956).
    """
    method = "conditional maximum likelihood, exact"
    if reason := no_margin(table):
        return undefined(reason, method=method)
    if table.n > MOST_CONDITIONAL:
        return undefined(f"not computed for more than {MOST_CONDITIONAL} cases", method=method)
    given = conditional(table)
    value, low, high = given.estimate(), given.lower(alpha / 2), given.upper(alpha / 2)
    return Estimate(_finite(value), low, _finite(high), method, INFINITE if value == inf else None)


def _finite(value: float) -> float | None:
    return None if value == inf else value
