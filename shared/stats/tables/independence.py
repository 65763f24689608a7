"""Tests of independence in a 2x2 table, and the declared one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from biaswatch.shared.stats.arrays import Floats, Ints
from biaswatch.shared.stats.tables.contingency import ContingencyTable, no_margin

FEW_EXPECTED = 5
"""Below this expected count the chi-square distribution is a poor approximation (Cochran 1954)."""
MAX_FISHER_CASES = 1_000_000_000
"""Far above it, scipy overflows silently in Fisher's test."""
MAX_BOSCHLOO_CASES = 2_000
"""Above it, Boschloo's test hardly differs from chi-square."""
TIE_RTOL = 1e-10
"""Relative tolerance of equal Fisher p-values."""
RATES_PER_CASE = 4
"""Rates that Boschloo's test evaluates per case, evenly spaced in arcsine."""
REFINED_PEAKS = 5
"""Highest evaluated rates that are refined."""
BLOCK_RATES = 256
"""Rates evaluated together, which bounds the memory."""
MIN_ANGLE = 1e-6
"""Distance from the rates 0 and 1, where a logarithm is infinite."""


@dataclass(frozen=True)
class ExactTest:
    """A test's two-sided p-value, or the reason why it is undefined."""

    p_value: float | None
    reason: str | None = None


@dataclass(frozen=True)
class ChiSquare:
    """Pearson's chi-square of a 2x2 table."""

    statistic: float | None
    p_value: float | None
    yates: bool
    min_expected: float | None
    reason: str | None = None
    dof: int = 1


def chi_square(table: ContingencyTable, *, yates: bool = False) -> ChiSquare:
    """Return Pearson's chi-square of independence, one degree of freedom.

    The statistic is the sum of (observed - expected)^2 / expected; `yates` moves each observed
    count by up to 0.5 towards the expected one. Undefined where a margin is zero. Without it the
    p-value is that of the z test of two pooled proportions.

    References
    ----------
    Pearson (1900); Yates (1934), Contingency tables involving small numbers and the chi2 test.
    """
    if reason := no_margin(table):
        return ChiSquare(None, None, yates, table.min_expected, reason)
    from scipy import stats  # slow to load

    # As floats: a product of margins of a large table overflows an integer of 64 bits.
    rows = [[float(count) for count in row] for row in table.rows]
    test = stats.chi2_contingency(rows, correction=yates)
    return ChiSquare(float(test.statistic), float(test.pvalue), yates, table.min_expected)


def fisher(table: ContingencyTable) -> ExactTest:
    """Return Fisher's exact test: the probability of tables at most as likely, given the margins.

    Undefined beyond `MAX_FISHER_CASES` and where a margin is zero, since then only one table has
    these margins: p = 1 would look like evidence of independence.

    References
    ----------
    Fisher (1935), The logic of inductive inference.
    """
    if reason := no_margin(table):
        return ExactTest(None, reason)
    if table.n > MAX_FISHER_CASES:
        return ExactTest(None, f"not computed for more than {MAX_FISHER_CASES} cases")
    from scipy import stats  # slow to load

    return ExactTest(float(stats.fisher_exact(table.rows).pvalue))


def declared(table: ContingencyTable) -> str | None:
    """Return the declared test, `chi_square` or `fisher`; None where neither is defined.

    Only the margins decide: Fisher's where an expected count is below 5. Choosing the smaller
    p-value instead would reject more often than alpha.
    """
    if no_margin(table):
        return None
    expected = table.min_expected
    return "fisher" if expected is None or expected < FEW_EXPECTED else "chi_square"


def boschloo(table: ContingencyTable) -> ExactTest:
    """Return Boschloo's two-sided exact p-value: twice the smaller one-sided one, at most 1.

    Group sizes are fixed and both rates equal under the null. Each one-sided p-value is the
    probability of all tables whose one-sided Fisher p-value is at most the observed one, at the
    common rate that makes it largest. Undefined where a margin is zero and beyond
    `MAX_BOSCHLOO_CASES`. scipy's `boschloo_exact` gives the same, but takes 15 s for 2,000 cases
    instead of 0.6 s.

    References
    ----------
    Boschloo (1970), Raised conditional level of significance for the 2x2-table when testing the
    equality of two probabilities.
    """
    if reason := no_margin(table):
        return ExactTest(None, reason)
    if table.n > MAX_BOSCHLOO_CASES:
        return ExactTest(None, f"not computed for more than {MAX_BOSCHLOO_CASES} cases")
    return ExactTest(min(1.0, 2 * min(_one_sided(table), _one_sided(table.exchanged))))


def _one_sided(table: ContingencyTable) -> float:
    """Return the p-value against a lower rate in group 1."""
    starts = _rejected_from(table)

    def probability(rates: Floats) -> Floats:
        first = _binomial(table.n_1, rates)
        above = np.cumsum(_binomial(table.n_2, rates)[:, ::-1], axis=1)[:, ::-1]
        above = np.hstack([above, np.zeros((len(rates), 1))])
        chances: Floats = (first * above[:, starts]).sum(axis=1)
        return chances

    return _largest(probability, RATES_PER_CASE * table.n)


def _rejected_from(table: ContingencyTable) -> Ints:
    """Return, for each count i of group 1, the least count j of group 2 that is as extreme.

    Fisher's p-value P(X <= i | i + j outcomes) falls as j grows, so j is found by bisection;
    n2 + 1 means none.
    """
    from scipy import stats  # slow to load

    observed = stats.hypergeom.cdf(table.a, table.n, table.a + table.c, table.n_1)
    i = np.arange(table.n_1 + 1)
    low, high = np.zeros_like(i), np.full_like(i, table.n_2 + 1)
    while (low < high).any():
        j = (low + high) // 2
        p_values = stats.hypergeom.cdf(i, table.n, i + np.minimum(j, table.n_2), table.n_1)
        extreme = (p_values <= observed * (1 + TIE_RTOL)) | (j > table.n_2)
        low, high = np.where(extreme, low, np.minimum(j + 1, high)), np.where(extreme, j, high)
    return low


def _binomial(n: int, rates: Floats) -> Floats:
    """Return the probabilities of 0 to n outcomes, a row per rate strictly between 0 and 1."""
    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    odds = np.log(rates)[:, None] * k + np.log1p(-rates)[:, None] * (n - k)
    chances: Floats = np.exp(ways + odds)
    return chances


def _largest(probability: Callable[[Floats], Floats], points: int) -> float:
    """Return the largest probability over all rates: the best of a fine grid, refined."""
    from scipy import optimize  # slow to load

    angles = (np.arange(points) + 0.5) * np.pi / (2 * points)
    blocks = np.array_split(angles, -(-points // BLOCK_RATES))
    values = np.concatenate([probability(np.sin(block) ** 2) for block in blocks])
    best = float(values.max())
    step = np.pi / (2 * points)
    for top in angles[np.argsort(values)[-REFINED_PEAKS:]]:
        near = np.clip([top - step, top + step], MIN_ANGLE, np.pi / 2 - MIN_ANGLE)
        refined = optimize.minimize_scalar(
            lambda angle: -float(probability(np.sin(np.array([angle])) ** 2)[0]),
            bounds=near,
            method="bounded",
            options={"xatol": 1e-12},
        )
        best = max(best, -float(refined.fun))
    return best
