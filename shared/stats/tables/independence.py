"""Tests of independence in a 2x2 table, and which of them is declared."""

from dataclasses import dataclass

from scipy import stats

from shared.stats.tables.cells import Cells, no_margin

FEW_EXPECTED = 5
"""Below this expected count the chi-square distribution is a poor approximation (Cochran 1954)."""

MOST_FISHER = 1_000_000_000
"""Cases up to which Fisher's test is given: far beyond, scipy overflows and says nothing of it."""


@dataclass(frozen=True)
class Test:
    """A test's two-sided p-value, or the reason why there is none."""

    p_value: float | None
    reason: str | None = None

    __test__ = False  # or pytest takes the name for a test case


@dataclass(frozen=True)
class ChiSquare:
    """Pearson's chi-square of a 2x2 table."""

    statistic: float | None
    p_value: float | None
    yates: bool
    min_expected: float | None
    reason: str | None = None
    dof: int = 1


def chi_square(table: Cells, *, yates: bool = False) -> ChiSquare:
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
    # As floats: a product of margins of a large table overflows an integer of 64 bits.
    rows = [[float(count) for count in row] for row in table.rows]
    found = stats.chi2_contingency(rows, correction=yates)
    return ChiSquare(float(found.statistic), float(found.pvalue), yates, table.min_expected)


def fisher(table: Cells) -> Test:
    """Return Fisher's exact test: the tables with these margins that are no likelier than this one.

    Undefined beyond `MOST_FISHER` and where a margin is zero, since then only one table has these
    margins: a p-value of 1 would pass for evidence.

    References
    ----------
    Fisher (1935), The logic of inductive inference.
    """
    if reason := no_margin(table):
        return Test(None, reason)
    if table.n > MOST_FISHER:
        return Test(None, f"not computed for more than {MOST_FISHER} cases")
    return Test(float(stats.fisher_exact(table.rows).pvalue))


def declared(table: Cells) -> str | None:
    """Say which test counts, `chi_square` or `fisher`; None where neither is defined.

    Only the margins decide: Fisher's where an expected count is below 5. Choosing the smaller
    p-value instead would reject more often than alpha.
    """
    if no_margin(table):
        return None
    expected = table.min_expected
    return "fisher" if expected is None or expected < FEW_EXPECTED else "chi_square"
