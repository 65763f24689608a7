"""The statistics of a 2x2 table of two groups, each with its interval or its reason."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import inf, nextafter
from operator import index
from typing import Any

from biaswatch.shared.stats.estimate import Estimate, check_alpha
from biaswatch.shared.stats.tables.contingency import ContingencyTable, contingency_table, no_margin
from biaswatch.shared.stats.tables.independence import (
    FEW_EXPECTED,
    ChiSquare,
    ExactTest,
    boschloo,
    chi_square,
    declared,
    fisher,
)
from biaswatch.shared.stats.tables.odds_ratio import (
    MAX_CONDITIONAL_CASES,
    conditional_odds_ratio,
    haldane_anscombe,
    sample_odds_ratio,
)
from biaswatch.shared.stats.tables.risks import (
    impact_ratio,
    relative_risk,
    risk_difference,
    selection_rate,
)

MIN_CASES = 15
"""Cases a group needs to be shown as a finding: a rule of display, not evidence."""
TINY = nextafter(0.0, inf)
"""The smallest positive number."""


@dataclass(frozen=True)
class TwoByTwo:
    """The statistics of a 2x2 table of two independent groups."""

    table: ContingencyTable
    alpha: float
    rates: tuple[Estimate, Estimate]
    odds_ratio: Estimate
    odds_ratio_conditional: Estimate
    relative_risk: Estimate
    risk_difference: Estimate
    impact_ratio: Estimate
    chi_square: ChiSquare
    fisher: ExactTest
    boschloo: ExactTest
    declared: str | None
    """The declared test, `chi_square` or `fisher`: decided by the margins alone."""
    warnings: tuple[str, ...]

    @property
    def p_value(self) -> float | None:
        """Return the declared test's p-value."""
        if self.declared is None:
            return None
        return self.fisher.p_value if self.declared == "fisher" else self.chi_square.p_value


def two_by_two(
    a: int,
    b: int,
    c: int,
    d: int,
    *,
    alpha: float = 0.05,
    yates: bool = False,
    min_cases: int = MIN_CASES,
) -> TwoByTwo:
    """Return the statistics of a 2x2 table.

    Parameters
    ----------
    a, b
        Cases of group 1 with and without the outcome.
    c, d
        Cases of group 2 with and without the outcome.
    alpha
        1 minus the coverage of every interval, in (0, 1).
    yates
        Whether the chi-square test is corrected for continuity.
    min_cases
        Number of cases below which a group gets a warning.

    Returns
    -------
    TwoByTwo
        Ratios and differences are of group 1 over or minus group 2; the impact ratio is the smaller
        selection rate over the larger. Cases are taken as independent: repeats of a prompt are not.

    Raises
    ------
    ValueError
        For a count or `min_cases` that is negative or not an integer, and for alpha outside (0, 1).
    """
    table = contingency_table(a, b, c, d)
    check_alpha(alpha)
    _check_min_cases(min_cases)
    counts = declared(table)
    by_fisher, by_chi_square = fisher(table), chi_square(table, yates=yates)
    p_value = by_fisher.p_value if counts == "fisher" else by_chi_square.p_value
    return TwoByTwo(
        table=table,
        alpha=alpha,
        rates=(
            selection_rate(table.a, table.n_1, alpha),
            selection_rate(table.c, table.n_2, alpha),
        ),
        odds_ratio=sample_odds_ratio(table, alpha),
        odds_ratio_conditional=conditional_odds_ratio(table, alpha),
        relative_risk=relative_risk(table, alpha),
        risk_difference=_agreeing(risk_difference(table, alpha), p_value, alpha),
        impact_ratio=impact_ratio(table, alpha),
        chi_square=by_chi_square,
        fisher=by_fisher,
        boschloo=boschloo(table),
        declared=counts,
        warnings=tuple(_warnings(table, min_cases)),
    )


def as_json(table: TwoByTwo) -> dict[str, Any]:
    """Return the statistics as a JSON object: null where undefined, and for an infinite bound."""
    return {
        "n": table.table.n,
        "odds_ratio": _estimate(table.odds_ratio),
        "odds_ratio_conditional": _estimate(table.odds_ratio_conditional),
        "relative_risk": _estimate(table.relative_risk),
        "risk_difference": _estimate(table.risk_difference),
        "chi_square": asdict(table.chi_square),
        "fisher": asdict(table.fisher),
        "boschloo": asdict(table.boschloo),
        "declared": {"test": table.declared, "p_value": table.p_value},
        "impact_ratio": {
            key: value for key, value in _estimate(table.impact_ratio).items() if key != "method"
        },
        "rates": [_estimate(rate) for rate in table.rates],
        "warnings": list(table.warnings),
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    bounds = [estimate.low, estimate.high]
    return {
        "estimate": estimate.value,
        "ci": None if bounds == [None, None] else bounds,
        "method": estimate.method,
        "reason": estimate.reason,
    }


def _agreeing(gap: Estimate, p_value: float | None, alpha: float) -> Estimate:
    """Return the gap with an interval that contains 0 if and only if the declared test accepts.

    Newcombe's limits are moved to 0, or to the nearest number beyond it, where they disagree: an
    interval never contradicts its verdict.
    """
    if gap.low is None or gap.high is None:
        return gap
    significant = p_value is not None and p_value <= alpha
    if significant == (gap.low > 0 or gap.high < 0):
        return gap
    low, high = min(gap.low, 0.0), max(gap.high, 0.0)
    if significant:
        upwards = (gap.value or 0.0) > 0
        low, high = (TINY, high) if upwards else (low, -TINY)
    return replace(gap, low=low, high=high, method=f"{gap.method}, to agree with the test")


def _warnings(table: ContingencyTable, min_cases: int) -> Iterator[str]:
    for group, n in (1, table.n_1), (2, table.n_2):
        if n < min_cases:
            yield f"Fewer than {min_cases} cases of group {group} ({n}): too few for a finding."
    if reason := no_margin(table):
        yield f"The table shows no association at all: {reason}."
        return
    if 0 in table.counts:
        yield (
            "A cell is zero: the odds ratio counts it as 0.5. With 0.5 added to all four cells"
            f" (Haldane and Anscombe) it would be {haldane_anscombe(table):.3g}."
        )
    if min(table.counts) < FEW_EXPECTED and table.n <= MAX_CONDITIONAL_CASES:
        yield "A cell is below 5: prefer the conditional odds ratio, whose interval is exact."
    if declared(table) == "fisher":
        yield (
            f"The smallest expected count is {table.min_expected:.3g}, below 5: Fisher's p-value"
            " counts, not that of chi-square."
        )


def _check_min_cases(min_cases: int) -> None:
    try:
        valid = index(min_cases) >= 0
    except TypeError:
        valid = False
    if not valid:
        raise ValueError(f"The minimum of cases is {min_cases!r}, but has to be 0 or more.")
