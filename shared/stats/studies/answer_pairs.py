"""Shares of answer pairs that agree or are flagged, and McNemar's tests of two models."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from biaswatch.shared.stats.comparisons.multiplicity import holm
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.studies.clusters import jackknife_t
from biaswatch.shared.stats.tables.contingency import contingency_table
from biaswatch.shared.stats.tables.risks import selection_rate

NO_DISCORDANT = "no pair differs in the outcome"


@dataclass(frozen=True)
class PairedTable:
    """The statistics of pairs with two binary outcomes."""

    n: int
    difference: float | None
    """First member's rate minus the second's; None without pairs."""
    odds_ratio: Estimate
    """Pairs with the outcome in the first only, over those in the second only."""
    exact_p_value: float | None
    """McNemar's exact binomial test."""
    statistic: float | None
    """McNemar's chi-square, one degree of freedom, uncorrected."""
    p_value: float | None
    """P-value of the uncorrected chi-square."""
    corrected_statistic: float | None
    """McNemar's chi-square with Edwards' continuity correction."""
    corrected_p_value: float | None
    reason: str | None


def paired_table(both: int, first: int, second: int, neither: int, *, alpha: float) -> PairedTable:
    """Return McNemar's tests of counts of pairs: both, only the first, only the second, neither.

    Only discordant pairs are informative: given their number, under the null `first` is binomial
    with p = 1/2. The odds ratio first / second has the exact interval derived from Clopper and
    Pearson's. Pairs are independent units; repeats of a pair are not.

    Parameters
    ----------
    both, first, second, neither
        Counts of pairs with the outcome in both members, in one alone, in none.
    alpha
        1 minus the coverage, in (0, 1).

    Raises
    ------
    ValueError
        For a count that is negative or not an integer, and for alpha outside (0, 1).

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions;
    Edwards (1948) for the correction.
    """
    table = contingency_table(both, first, second, neither)
    check_alpha(alpha)
    difference = (table.b - table.c) / table.n if table.n else None
    odds_ratio = _odds_ratio(table.b, table.c, alpha)
    if not table.b + table.c:
        undefined_tests = (None, None, None, None, None)
        return PairedTable(table.n, difference, odds_ratio, *undefined_tests, NO_DISCORDANT)
    exact = stats.binomtest(table.b, table.b + table.c)
    plain, corrected = (_chi_square(table.b, table.c, by) for by in (0, 1))
    tests = (float(exact.pvalue), *plain, *corrected)
    return PairedTable(table.n, difference, odds_ratio, *tests, None)


def _chi_square(first: int, second: int, correction: int) -> tuple[float, float]:
    """Return (|b - c| - correction)^2 / (b + c), the correction not reaching beyond zero.

    Not the library's: it takes 1 off also where b equals c, so that no difference at all gets a
    statistic above zero.
    """
    statistic = max(0, abs(first - second) - correction) ** 2 / (first + second)
    return statistic, float(stats.chi2.sf(statistic, 1))


def _odds_ratio(first: int, second: int, alpha: float) -> Estimate:
    method = "discordant pairs, Clopper-Pearson"
    if not first + second:
        return undefined(NO_DISCORDANT, method=method)
    share = stats.binomtest(first, first + second).proportion_ci(1 - alpha, method="exact")
    low, high = float(share.low), float(share.high)
    lower = low / (1 - low)
    if not second:
        return Estimate(None, lower, None, method, "infinite: no pair has it in the second only")
    return Estimate(first / second, lower, high / (1 - high), method)


@dataclass(frozen=True)
class PairShare:
    """Share of pairs for which a statement is true."""

    count: int
    of: int
    """Pairs with a verdict."""
    without: int
    """Pairs without a verdict."""
    share: Estimate
    """In [0, 1], of pairs with a verdict."""


@dataclass(frozen=True)
class PairDifference:
    """One statement about the pairs of two models, on the pairs both have."""

    name: str
    pairs: int
    difference: float | None
    p_value: float | None
    p_adjusted: float | None
    reason: str | None


Statements = Mapping[str, bool | None]
"""Verdicts on one pair, by name; None where unknown."""


def shares_of(
    pairs: Sequence[Statements],
    names: Iterable[str],
    alpha: float,
    clusters: Sequence[str | None] = (),
    bounded: Collection[str] = (),
) -> dict[str, PairShare]:
    """Return the share of pairs for each statement, with its interval over templates.

    Pairs without a verdict are counted apart, in no numerator and no denominator. Without templates
    pairs are the units (Wilson); where no pair, or every pair, has the statement, templates are.

    Parameters
    ----------
    pairs, names, alpha
        The verdicts on each pair, the statements, and 1 minus the coverage.
    clusters
        The template of each pair; none where any is unknown.
    bounded
        Statements whose missing verdicts depend on the others: where any is missing, bounds over
        all pairs take the place of the share.
    """
    check_alpha(alpha)
    known = clusters if all(cluster is not None for cluster in clusters) else ()
    shares = {name: _share([pair.get(name) for pair in pairs], known, alpha) for name in names}
    return {name: _bounds(row) if name in bounded else row for name, row in shares.items()}


def _bounds(share: PairShare) -> PairShare:
    """Return the share with bounds over all pairs, where some have no verdict."""
    if not share.of or not share.without:
        return share
    pairs = share.of + share.without
    low, high = share.count / pairs, (share.count + share.without) / pairs
    reason = f"between {low:.1%} and {high:.1%}: {share.without} of {pairs} pairs lack a verdict"
    bounds = Estimate(None, low, high, "bounds over all pairs", reason)
    return PairShare(share.count, share.of, share.without, bounds)


def _share(
    values: Sequence[bool | None], clusters: Sequence[str | None], alpha: float
) -> PairShare:
    known = [value for value in values if value is not None]
    count, of = sum(known), len(known)
    if not of:
        share = undefined("no pair has a verdict", method="Wilson")
    elif clusters:
        share = _clustered_share(values, clusters, alpha)
    else:
        share = selection_rate(count, of, alpha)
    return PairShare(count, of, len(values) - of, share)


def _clustered_share(
    values: Sequence[bool | None], clusters: Sequence[str | None], alpha: float
) -> Estimate:
    sums = defaultdict[str | None, list[int]](lambda: [0, 0])
    for value, cluster in zip(values, clusters, strict=True):
        if value is not None:
            sums[cluster][0] += value
            sums[cluster][1] += 1
    table = np.array(list(sums.values()), dtype=np.float64)
    if table[:, 0].sum() in (0, table[:, 1].sum()):
        return selection_rate(len(sums) if table[:, 0].any() else 0, len(sums), alpha)
    return jackknife_t(table, lambda rows: rows[:, 0] / rows[:, 1], alpha, share=True)


def compared(
    a: Mapping[str, Statements],
    b: Mapping[str, Statements],
    names: Sequence[str],
    alpha: float,
    clusters: Mapping[str, str | None] | None = None,
) -> list[PairDifference]:
    """Compare two models on the pairs both have a verdict for, Holm-corrected.

    By sign flips of the differences of templates; without templates, McNemar's exact test.
    """
    templates = clusters or {}
    differences = [_difference(a, b, name, alpha, templates) for name in names]
    adjusted = holm([difference.p_value for difference in differences])
    return [
        replace(difference, p_adjusted=p)
        for difference, p in zip(differences, adjusted, strict=True)
    ]


def _difference(
    a: Mapping[str, Statements],
    b: Mapping[str, Statements],
    name: str,
    alpha: float,
    templates: Mapping[str, str | None],
) -> PairDifference:
    both = {key: (a[key].get(name), b[key].get(name)) for key in a.keys() & b.keys()}
    known = {key: (x, y) for key, (x, y) in both.items() if x is not None and y is not None}
    kinds = ((True, True), (True, False), (False, True), (False, False))
    pairs = list(known.values())
    table = paired_table(*(pairs.count(kind) for kind in kinds), alpha=alpha)
    p_value = table.exact_p_value
    if p_value is not None and all(templates.get(key) is not None for key in known):
        sums = Counter[str | None]()
        for key, (x, y) in sorted(known.items()):
            sums[templates[key]] += int(x) - int(y)
        p_value = sign_flip_p(np.array(list(sums.values()), dtype=np.float64))
    return PairDifference(name, len(known), table.difference, p_value, None, table.reason)
