"""Mann-Whitney's rank test of two groups."""

from dataclasses import dataclass
from math import comb, sqrt
from typing import Literal

import numpy as np
from scipy import special, stats

from biaswatch.shared.stats.comparisons.relabelling import MAX_ENUMERATED, RESAMPLES, Stratum, tails
from biaswatch.shared.stats.samples import Sample, Vector, present

EMPTY = "a group has no values"
IDENTICAL = "all values are identical: there is no order to test"
MAX_EXACT_VALUES = 8
"""Values of the smaller group up to which the normal approximation is not used."""
MannWhitneyMethod = Literal["auto", "exact", "asymptotic", "permutation"]


@dataclass(frozen=True)
class MannWhitney:
    """Result of a rank test of two groups."""

    u_a: float | None
    """Pairs (one of a, one of b) with the larger value in a; equal ones count a half."""
    u_b: float | None
    superiority: float | None
    """u_a over all pairs: P(a > b) + P(a = b) / 2, in [0, 1], .5 without a tendency."""
    p_value: float | None
    method: str
    n_a: int
    n_b: int
    missing_a: int
    missing_b: int
    reason: str | None = None


def mann_whitney(
    a: Sample,
    b: Sample,
    *,
    method: MannWhitneyMethod = "auto",
    continuity: bool = True,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
) -> MannWhitney:
    """Test whether a's values tend to be larger or smaller than b's, two-sided.

    Parameters
    ----------
    a, b
        One value per unit, units independent; missing ones are left out and counted.
    method
        "exact" is the distribution without ties, "asymptotic" the normal one with the correction
        for ties, "permutation" relabels the ranks, ties included. "auto" is exact where the smaller
        group has at most 8 values without ties, permutation with at most 8 values and ties, else
        asymptotic.
    continuity
        Whether the normal approximation is corrected for continuity by 1/2.
    rng, resamples
        For a permutation with more than 10,000 relabellings. Without `rng`, "auto" uses the normal
        approximation there; `method` of the result names it.

    Returns
    -------
    MannWhitney
        Without p-value, and with a reason, where a group is empty or all values are identical.

    Raises
    ------
    ValueError
        For "exact" with ties, for an unknown method, and for a "permutation" that needs an `rng`.

    References
    ----------
    Mann and Whitney (1947); ties: Lehmann (1975), Nonparametrics.
    """
    if method not in ("auto", "exact", "asymptotic", "permutation"):
        raise ValueError(f"there is no Mann-Whitney method called {method!r}")
    (x, missing_a), (y, missing_b) = present(a), present(b)
    counts = (len(x), len(y), missing_a, missing_b)
    if not len(x) or not len(y):
        return MannWhitney(None, None, None, None, "Mann-Whitney", *counts, EMPTY)
    ranks, ties = _ranked(np.concatenate([x, y]))
    u_a = float(ranks[: len(x)].sum()) - len(x) * (len(x) + 1) / 2
    statistics = (u_a, len(x) * len(y) - u_a, u_a / (len(x) * len(y)))
    if np.ptp(ranks) == 0:
        return MannWhitney(*statistics, None, "Mann-Whitney", *counts, IDENTICAL)
    tied = bool((ties > 1).any())
    chosen = method if method != "auto" else _automatic(len(ranks), tied, len(x), rng)
    if chosen == "exact" and tied:
        raise ValueError("the exact Mann-Whitney distribution knows no ties: use permutation")
    p_value, name = _mann_whitney_p(x, y, ranks, ties, chosen, continuity, rng, resamples)
    return MannWhitney(*statistics, p_value, name, *counts)


def _ranked(values: Vector) -> tuple[Vector, Vector]:
    """Return ranks from 1, the mean of their places for equal values; and how many are equal."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse.reshape(-1)]
    return np.asarray(ranks), counts.astype(np.float64)


def _automatic(n: int, tied: bool, n_a: int, rng: np.random.Generator | None) -> str:
    if min(n_a, n - n_a) > MAX_EXACT_VALUES:
        return "asymptotic"
    if not tied:
        return "exact"
    feasible = rng is not None or comb(n, n_a) <= MAX_ENUMERATED
    return "permutation" if feasible else "asymptotic"


def _mann_whitney_p(
    x: Vector,
    y: Vector,
    ranks: Vector,
    ties: Vector,
    method: str,
    continuity: bool,
    rng: np.random.Generator | None,
    resamples: int,
) -> tuple[float, str]:
    if method == "permutation":
        permuted = tails([Stratum(ranks[: len(x)], ranks[len(x) :])], rng, resamples)
        kind = "all" if permuted.exact else "random"
        return permuted.p_value, f"Mann-Whitney, {kind} relabellings"
    if method == "asymptotic":
        p_value = _normal_p(ranks, ties, len(x), 0.5 if continuity else 0.0)
    else:
        p_value = float(stats.mannwhitneyu(x, y, method=method).pvalue)
    ending = ", ties and continuity corrected" if continuity else ", ties corrected"
    name = "Mann-Whitney, exact" if method == "exact" else f"Mann-Whitney, normal{ending}"
    return p_value, name


def _normal_p(ranks: Vector, ties: Vector, n_a: int, continuity: float) -> float:
    """Return the two-sided normal p-value; scipy's costs ten times as much for one pair."""
    n, n_b = len(ranks), len(ranks) - n_a
    shrunk = (n + 1) - float((ties**3 - ties).sum()) / (n * (n - 1))
    distance = abs(float(ranks[:n_a].sum()) - n_a * (n + 1) / 2) - continuity
    return min(1.0, 2 * float(special.ndtr(-distance / sqrt(n_a * n_b / 12 * shrunk))))
