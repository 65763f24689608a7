"""Shares of answer pairs that agree or are flagged, and McNemar's tests of two models."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.studies.clusters import jackknife_t
from biaswatch.shared.stats.tables.risks import selection_rate

NO_DISCORDANT = "no pair differs in the outcome"


def mcnemar_p(first: int, second: int) -> float | None:
    """Return McNemar's exact p-value of pairs with the outcome in one member only.

    Given their number, under the null `first` is binomial with p = 1/2. None without such a pair.
    Pairs are independent units; repeats of a pair are not.

    References
    ----------
    McNemar (1947), Note on the sampling error of the difference between correlated proportions.
    """
    if not first + second:
        return None
    from scipy import stats  # slow to load

    return float(stats.binomtest(first, first + second).pvalue)


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


def pair_differences(
    a: Mapping[str, Statements],
    b: Mapping[str, Statements],
    names: Sequence[str],
    clusters: Mapping[str, str | None] | None = None,
) -> list[PairDifference]:
    """Compare two models on the pairs for which both have a verdict; p-values are uncorrected.

    By sign flips of the differences of templates; without templates, McNemar's exact test.
    """
    return [_difference(a, b, name, clusters or {}) for name in names]


def _difference(
    a: Mapping[str, Statements],
    b: Mapping[str, Statements],
    name: str,
    templates: Mapping[str, str | None],
) -> PairDifference:
    both = {key: (a[key].get(name), b[key].get(name)) for key in a.keys() & b.keys()}
    known = {key: (x, y) for key, (x, y) in both.items() if x is not None and y is not None}
    pairs = list(known.values())
    first, second = pairs.count((True, False)), pairs.count((False, True))
    difference = (first - second) / len(pairs) if pairs else None
    p_value = mcnemar_p(first, second)
    if p_value is None:
        return PairDifference(name, len(pairs), difference, None, NO_DISCORDANT)
    if all(templates.get(key) is not None for key in known):
        sums = Counter[str | None]()
        for key, (x, y) in sorted(known.items()):
            sums[templates[key]] += int(x) - int(y)
        p_value = sign_flip_p(np.array(list(sums.values()), dtype=np.float64))
    return PairDifference(name, len(pairs), difference, p_value, None)
