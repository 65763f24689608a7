"""The four counts of a 2x2 table, and why a table may show no association."""

import math
from dataclasses import dataclass
from operator import index

from biaswatch.shared.stats.estimate import Estimate

EMPTY = "the table is empty"
NO_GROUP_1 = "group 1 has no cases"
NO_GROUP_2 = "group 2 has no cases"
NO_OUTCOME = "nobody has the outcome in either group"
ALL_OUTCOME = "everybody has the outcome in both groups"
MAX_COUNT = 1_000_000_000_000
"""Largest count whose sums and products floats can represent."""


@dataclass(frozen=True)
class ContingencyTable:
    """Counts of two independent groups, each with and without the outcome."""

    a: int
    """Group 1 with the outcome."""
    b: int
    """Group 1 without it."""
    c: int
    """Group 2 with it."""
    d: int
    """Group 2 without it."""

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Return A, B, C, D."""
        return self.a, self.b, self.c, self.d

    @property
    def rows(self) -> list[list[int]]:
        """Return the table as scipy takes it: a row per group."""
        return [[self.a, self.b], [self.c, self.d]]

    @property
    def n_1(self) -> int:
        """Return the size of group 1."""
        return self.a + self.b

    @property
    def n_2(self) -> int:
        """Return the size of group 2."""
        return self.c + self.d

    @property
    def n(self) -> int:
        """Return the size of both groups."""
        return self.n_1 + self.n_2

    @property
    def exchanged(self) -> "ContingencyTable":
        """Return the table with the groups exchanged."""
        return ContingencyTable(self.c, self.d, self.a, self.b)

    @property
    def min_expected(self) -> float | None:
        """Return the smallest count expected under independence; None for an empty table."""
        if not self.n:
            return None
        outcome = min(self.a + self.c, self.b + self.d)
        return min(self.n_1, self.n_2) * outcome / self.n


def contingency_table(a: int, b: int, c: int, d: int) -> ContingencyTable:
    """Return the table of four counts.

    Raises
    ------
    ValueError
        For a count that is negative, above `MAX_COUNT` or not an integer. Floats are rejected even
        if integral; they usually are rates.

    Examples
    --------
    >>> contingency_table(12, 5, 7, 9).n
    33
    """
    return ContingencyTable(
        *(_count(name, count) for name, count in zip("ABCD", (a, b, c, d), strict=True))
    )


def no_groups(table: ContingencyTable) -> str | None:
    """Return which group is empty, if one is."""
    if not table.n:
        return EMPTY
    if not table.n_1:
        return NO_GROUP_1
    return None if table.n_2 else NO_GROUP_2


def no_margin(table: ContingencyTable) -> str | None:
    """Return which margin is zero, if one is: then the table cannot show any association."""
    if reason := no_groups(table):
        return reason
    if not table.a + table.c:
        return NO_OUTCOME
    return None if table.b + table.d else ALL_OUTCOME


def _count(name: str, count: int) -> int:
    try:
        value = index(count)
    except TypeError:
        raise ValueError(f"{name} is {count!r}, but a count is a whole number.") from None
    if value < 0:
        raise ValueError(f"{name} is {value}, but a count cannot be negative.")
    if value > MAX_COUNT:
        raise ValueError(f"{name} is {value}, but counts are taken up to {MAX_COUNT} only.")
    return value


MIN_SIMILAR_RATIO = 0.9
"""Least quotient of similar ratios, the smaller over the larger: within about 10 %."""


@dataclass(frozen=True)
class RatioAgreement:
    """An odds ratio against a relative risk."""

    difference: float | None = None
    """Odds ratio minus relative risk."""
    ratio: float | None = None
    """The smaller of the two over the larger, in (0, 1]; 1 is equality."""
    says: str | None = None
    """`similar`, `moderate difference` or `conflicting`."""
    reason: str | None = None
    """Why the comparison is undefined."""


def ratio_agreement(odds_ratio: Estimate, relative_risk: Estimate) -> RatioAgreement:
    """Compare the odds ratio and the relative risk of one table.

    They conflict where they are on different sides of 1, or where one interval excludes 1 and the
    other does not: then a reader of either alone concludes differently. Otherwise they are similar
    from a quotient of 0.9 on. A smaller quotient is a moderate difference: odds ratios exceed
    relative risks where the outcome is common, which is not a contradiction.

    Parameters
    ----------
    odds_ratio, relative_risk
        Both estimates of one table, with their intervals.

    References
    ----------
    Zhang and Yu (1998), What's the relative risk?
    """
    odds, risk = odds_ratio.value, relative_risk.value
    if odds is None or risk is None:
        why = odds_ratio.reason if odds is None else relative_risk.reason
        return RatioAgreement(reason=why or "one of the two is undefined")
    if not (0 < odds < math.inf and 0 < risk < math.inf):
        return RatioAgreement(reason="one of the two is zero or infinite")
    ratio = min(odds, risk) / max(odds, risk)
    if _conflict(odds_ratio, relative_risk):
        says = "conflicting"
    else:
        says = "similar" if ratio >= MIN_SIMILAR_RATIO else "moderate difference"
    return RatioAgreement(odds - risk, ratio, says)


def _conflict(odds_ratio: Estimate, relative_risk: Estimate) -> bool:
    if ((odds_ratio.value or 0) - 1) * ((relative_risk.value or 0) - 1) < 0:
        return True
    excluding = set()
    for ratio in (odds_ratio, relative_risk):
        if ratio.low is None or ratio.high is None:
            return False
        excluding.add(not ratio.low <= 1 <= ratio.high)
    return len(excluding) == 2
