"""The cluster bootstrap: two groups compared by drawing their prompts again."""

import numpy as np

from shared.stats.comparisons.clusters import (
    AnsweredPrompts,
    Answers,
    Comparison,
    Sums,
    counted,
    error_of,
    gap_of,
    sums_by_prompt,
    too_few,
)
from shared.stats.comparisons.means_and_rates import ROUNDING, MeanDifference
from shared.stats.estimate import IntervalEstimate, Vector, check_alpha, undefined

FLAT = 1e-6
"""Relative to the observed error: a draw with less spread than this has none."""

RESAMPLES = 1999

_CHUNK = 1_000_000
"""Counts of drawn prompts held at once (8 MB, and a few times that in between)."""


def cluster_bootstrap(
    a: Answers,
    b: Answers,
    alpha: float,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare the means of answers by resampling whole prompts: the studentised bootstrap.

    Prompts of both groups together are drawn with replacement, each with all its answers in both;
    each draw's difference is divided by its own clustered standard error (bootstrap-t), and the
    p-value is twice the smaller share of draws beyond the observed t, (b + 1) / (m + 1). Draws in
    which a group has no prompt are left out. Without an interval where a group has fewer than 10
    prompts. The result depends on `rng`, not on the order or the names of prompts.

    References
    ----------
    Efron (1981); Cameron, Gelbach and Miller (2008), Bootstrap-based improvements for inference
    with clustered errors.

    Raises
    ------
    ValueError
        For an alpha outside (0, 1), or no resamples.
    """
    if resamples < 1:
        raise ValueError(f"a bootstrap needs at least one resample, not {resamples}")
    method = "studentised bootstrap of prompts"
    check_alpha(alpha)
    x, y = AnsweredPrompts.of(a), AnsweredPrompts.of(b)
    sums = sums_by_prompt(x, y)
    if stopped := too_few(sums, method):
        return counted(x, y, stopped)
    sums = _in_order(sums)
    gap, error = gap_of(sums), error_of(sums)
    scale = float(np.abs(sums[:, [0, 2]]).max())
    if error <= ROUNDING * scale:
        no_spread = undefined("the prompts do not differ", value=gap, method=method)
        return counted(x, y, MeanDifference(no_spread, None))
    drawn, spread = _drawn(sums, rng, resamples)
    if (spread <= FLAT * error).mean() > alpha / 2:
        reason = "too few answers differ: many draws of prompts have no spread"
        return counted(x, y, MeanDifference(undefined(reason, value=gap, method=method), None))
    t = (drawn - gap) / np.maximum(spread, FLAT * error)
    low, high = (float(q) for q in np.quantile(t, [alpha / 2, 1 - alpha / 2]))
    beyond = min(int((t >= gap / error).sum()), int((t <= gap / error).sum()))
    p_value = min(1.0, 2 * (beyond + 1) / (len(t) + 1))
    estimate = IntervalEstimate(gap, gap - high * error, gap - low * error, method)
    return counted(x, y, MeanDifference(estimate, p_value))


def _in_order(sums: Sums) -> Sums:
    """Sort prompts by what survives renaming, shuffling and adding a constant.

    Random draws then fall on the same prompts however they were given.
    """
    a, n_a, b, n_b = sums.T
    keys = (b - n_b * b.sum() / n_b.sum(), a - n_a * a.sum() / n_a.sum(), n_b, n_a)
    return sums[np.lexsort(keys)]


def _drawn(sums: Sums, rng: np.random.Generator, resamples: int) -> tuple[Vector, Vector]:
    """Draw prompts with replacement, leaving out draws in which a group has none."""
    prompts = len(sums)
    step = max(1, _CHUNK // prompts)
    parts = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        chosen = rng.integers(0, prompts, (size, prompts)) + prompts * np.arange(size)[:, None]
        counts = np.bincount(chosen.reshape(-1), minlength=size * prompts)
        times = counts.reshape(size, prompts).astype(np.float64)
        kept = times[(times @ sums[:, [1, 3]] > 0).all(axis=1)]
        parts.append(_gaps_and_errors(sums, kept))
    return np.concatenate([gaps for gaps, _ in parts]), np.concatenate([e for _, e in parts])


def _gaps_and_errors(sums: Sums, times: Sums) -> tuple[Vector, Vector]:
    """Return for each draw of prompts the difference of means and its clustered standard error.

    A prompt pulls the difference by a linear form of its four sums, so the squared pulls of a draw
    add up to a quadratic form of the draw's sums of products: two matrix products for all draws.
    """
    centre_a, centre_b = sums[:, 0].sum() / sums[:, 1].sum(), sums[:, 2].sum() / sums[:, 3].sum()
    centred = sums.copy()  # products of large means would lose the digits that differ
    centred[:, 0] -= centre_a * sums[:, 1]
    centred[:, 2] -= centre_b * sums[:, 3]
    totals = times @ centred
    mean_a, mean_b = totals[:, 0] / totals[:, 1], totals[:, 2] / totals[:, 3]
    prompts = len(sums)
    products = (times @ (centred[:, :, None] * centred[:, None]).reshape(prompts, 16)).reshape(
        -1, 4, 4
    )
    form = np.stack(
        [1 / totals[:, 1], -mean_a / totals[:, 1], -1 / totals[:, 3], mean_b / totals[:, 3]], axis=1
    )
    variance = np.einsum("di,dij,dj->d", form, products, form) * prompts / (prompts - 1)
    gaps = mean_a - mean_b + (centre_a - centre_b)
    return np.asarray(gaps), np.sqrt(np.maximum(variance, 0.0))
