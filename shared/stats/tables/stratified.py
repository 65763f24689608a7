"""2x2 tables by stratum: one odds ratio for all, its tests, and Simpson's paradox."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from biaswatch.shared.stats.estimate import IntervalEstimate, check_alpha
from biaswatch.shared.stats.tables.contingency import ContingencyTable, contingency_table, no_margin
from biaswatch.shared.stats.tables.independence import chi_square, declared, fisher
from biaswatch.shared.stats.tables.odds_ratio import sample_odds_ratio
from biaswatch.shared.stats.tables.strata import (
    StrataTest,
    breslow_day,
    cmh_test,
    common_odds_ratio,
    common_relative_risk,
)


@dataclass(frozen=True)
class Stratified:
    """The statistics of several strata, and of their sum."""

    odds_ratio: IntervalEstimate
    """Mantel and Haenszel's, within strata."""
    relative_risk: float | None
    """Mantel and Haenszel's, within strata."""
    cmh: StrataTest
    """Cochran, Mantel and Haenszel's test."""
    breslow_day: StrataTest
    tarone: StrataTest
    """Breslow and Day's test with Tarone's correction."""
    pooled: IntervalEstimate
    """The odds ratio of the sum of all strata, which ignores them."""
    strata: int
    """Strata that are informative."""
    dropped: int
    """Strata where a group is empty, or all or none have the outcome."""
    note: str | None
    """A sentence where strata and sum disagree."""


def stratified(
    tables: Iterable[Sequence[int]], *, alpha: float = 0.05, correction: bool = False
) -> Stratified:
    """Return the statistics of 2x2 tables, one (A, B, C, D) per stratum.

    `correction` applies the continuity correction to the CMH test. Strata with a zero margin tell
    nothing of an association: they are dropped and counted, but stay in the pooled table.

    Assumes independent cases, and for the one odds ratio to mean something, strata alike in it
    (Breslow and Day's test).

    Raises
    ------
    ValueError
        For a table that is not four counts, and for alpha outside (0, 1).

    References
    ----------
    Simpson (1951), The interpretation of interaction in contingency tables; Bickel, Hammel and
    O'Connell (1975), Sex bias in graduate admissions.
    """
    check_alpha(alpha)
    every = [_stratum(table) for table in tables]
    useful = [table for table in every if not no_margin(table)]
    total = ContingencyTable(*(sum(table.counts[place] for table in every) for place in range(4)))
    test = fisher(total) if declared(total) == "fisher" else chi_square(total)
    odds_ratio = common_odds_ratio(useful, alpha)
    cmh = cmh_test(useful, correction=correction)
    pooled = sample_odds_ratio(total, alpha)
    return Stratified(
        odds_ratio=odds_ratio,
        relative_risk=common_relative_risk(useful),
        cmh=cmh,
        breslow_day=breslow_day(useful, odds_ratio.value),
        tarone=breslow_day(useful, odds_ratio.value, tarone=True),
        pooled=pooled,
        strata=len(useful),
        dropped=len(every) - len(useful),
        note=_note(odds_ratio, cmh.p_value, pooled, test.p_value, alpha),
    )


def _stratum(table: Sequence[int]) -> ContingencyTable:
    if len(table) != 4:
        raise ValueError(f"A stratum is four counts A, B, C, D, but one has {len(table)}.")
    return contingency_table(*table)


def _note(
    within: IntervalEstimate,
    p_within: float | None,
    pooled: IntervalEstimate,
    p_pooled: float | None,
    alpha: float,
) -> str | None:
    """Return a sentence where the sum of the strata would mislead."""
    if within.value is None or pooled.value is None or p_within is None or p_pooled is None:
        return None
    numbers = f"odds ratio {pooled.value:.3g} pooled, {within.value:.3g} within strata"
    shown, shown_within = p_pooled <= alpha, p_within <= alpha
    if (within.value - 1) * (pooled.value - 1) < 0 and (shown or shown_within):
        return f"Simpson's paradox: the association turns round when strata are kept ({numbers})."
    if shown and not shown_within:
        return f"The pooled association is not shown within strata ({numbers})."
    if shown_within and not shown:
        return f"Strata show an association that the pooled table hides ({numbers})."
    return None
