"""2x2 tables by stratum: one odds ratio for all, its tests, and Simpson's paradox."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from shared.stats.cells import Cells, cells, check_alpha, no_margin
from shared.stats.estimate import Estimate, undefined
from shared.stats.homogeneity import Homogeneity, breslow_day
from shared.stats.independence import ChiSquare, chi_square, declared, fisher
from shared.stats.odds import sample_odds_ratio

NO_STRATUM = "no stratum has both groups, with and without the outcome"
INFINITE = "infinite: no stratum has both B and C"
ZERO = "no interval: no stratum has both A and D"


@dataclass(frozen=True)
class Stratified:
    """What strata say together, and what their sum would say."""

    odds_ratio: Estimate
    """Mantel and Haenszel's, within strata."""

    relative_risk: float | None
    """Mantel and Haenszel's, within strata."""

    cmh: ChiSquare
    """Cochran, Mantel and Haenszel's test; `min_expected` is that of the pooled table."""

    breslow_day: Homogeneity
    tarone: Homogeneity
    pooled: Estimate
    """The odds ratio of the sum of all strata, which ignores them."""

    strata: int
    """Strata that say something."""

    dropped: int
    """Strata where a group is empty, or all or none have the outcome."""

    note: str | None
    """A sentence where strata and sum disagree."""


def stratified(
    tables: Iterable[Sequence[int]], *, alpha: float = 0.05, correction: bool = False
) -> Stratified:
    """Give the statistics of 2x2 tables, one (A, B, C, D) per stratum.

    The Mantel-Haenszel odds ratio is (sum of AD/n) / (sum of BC/n) with Robins, Breslow and
    Greenland's interval; zero cells need no correction. `correction` takes 0.5 off the CMH test.
    Strata with a zero margin tell nothing of an association: they are dropped and counted, but stay
    in the pooled table.

    Assumes independent cases, and for the one odds ratio to mean something, strata alike in it
    (Breslow and Day's test).

    Raises
    ------
    ValueError
        For a table that is not four counts, and for alpha outside (0, 1).

    References
    ----------
    Mantel and Haenszel (1959); Robins, Breslow and Greenland (1986), Estimators of the
    Mantel-Haenszel variance consistent in both sparse data and large-strata limiting models.
    """
    check_alpha(alpha)
    every = [_stratum(table) for table in tables]
    useful = [table for table in every if not no_margin(table)]
    total = Cells(*(sum(column) for column in zip(*(t.counts for t in every), strict=True)))
    odds_ratio = _mantel_haenszel(useful, alpha)
    cmh = _cmh(useful, total, correction=correction)
    pooled = sample_odds_ratio(total, alpha)
    return Stratified(
        odds_ratio=odds_ratio,
        relative_risk=_relative_risk(useful),
        cmh=cmh,
        breslow_day=breslow_day(useful, odds_ratio.value),
        tarone=breslow_day(useful, odds_ratio.value, tarone=True),
        pooled=pooled,
        strata=len(useful),
        dropped=len(every) - len(useful),
        note=_note(odds_ratio, cmh.p_value, pooled, _pooled_p_value(total), alpha),
    )


def _stratum(table: Sequence[int]) -> Cells:
    if len(table) != 4:
        raise ValueError(f"A stratum is four counts A, B, C, D, but one has {len(table)}.")
    return cells(*table)


def _library(strata: Sequence[Cells]) -> Any:
    return StratifiedTable([table.rows for table in strata])


def _mantel_haenszel(strata: Sequence[Cells], alpha: float) -> Estimate:
    method = "Mantel-Haenszel, Robins-Breslow-Greenland"
    if not strata:
        return undefined(NO_STRATUM, method=method)
    if not any(table.b * table.c for table in strata):
        return undefined(INFINITE, method=method)
    if not any(table.a * table.d for table in strata):
        return undefined(ZERO, value=0.0, method=method)
    found = _library(strata)
    low, high = found.oddsratio_pooled_confint(alpha)
    return Estimate(float(found.oddsratio_pooled), float(low), float(high), method)


def _relative_risk(strata: Sequence[Cells]) -> float | None:
    if not any(table.c for table in strata):
        return None
    return float(_library(strata).riskratio_pooled)


def _cmh(strata: Sequence[Cells], total: Cells, *, correction: bool) -> ChiSquare:
    if not strata:
        return ChiSquare(None, None, correction, total.min_expected, NO_STRATUM)
    statistic = float(_library(strata).test_null_odds(correction=correction).statistic)
    # Not the library's p-value: it takes 1 - cdf, which is 0 where sf still is a number.
    return ChiSquare(statistic, float(stats.chi2.sf(statistic, 1)), correction, total.min_expected)


def _pooled_p_value(total: Cells) -> float | None:
    if declared(total) == "fisher":
        return fisher(total).p_value
    return chi_square(total).p_value


def _note(
    within: Estimate, p_within: float | None, pooled: Estimate, p_pooled: float | None, alpha: float
) -> str | None:
    """Say where the sum of the strata would mislead."""
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
