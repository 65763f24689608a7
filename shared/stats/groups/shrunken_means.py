"""Shrunken means: each group's own mean drawn towards what all groups have in common."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from biaswatch.shared.stats.groups.reasons import Floats

TO_THE_MEAN = "empirical Bayes, towards the common mean"
TO_THE_MAIN_EFFECTS = "empirical Bayes, towards the sum of the dimensions' effects"
TOO_FEW = "fewer than four groups with a value: no common mean to shrink towards"
NO_VARIANCE = "nothing shows how much a group's mean varies by chance"

EQUAL = 1e-12
"""Relative to the means: closer ones differ by rounding alone."""


@dataclass(frozen=True)
class ShrunkenMeans:
    """Shrunken means; for looking, never for verdicts."""

    means: Floats
    """[groups]: nan where there is no mean, and everywhere where there is a reason."""
    shrinkage: Floats
    """[groups]: how much of the way towards the common value a mean went, in [0, 1]."""
    between: float
    """The estimated variance between the groups' true means."""
    method: str
    reason: str | None = None


def shrunken_means(means: Floats, variances: Floats, design: Floats | None = None) -> ShrunkenMeans:
    """Return empirical Bayes estimates of group means.

    With V the variance of a mean and A the variance between groups, a mean y with the common value
    m goes to (1 - B) y + B m, B = (k - r - 2) / (k - r) V / (V + A). The common value is the least
    squares fit of `design` with weights 1 / (V + A); A makes the weighted squares of y - m sum to
    k - r, and is 0 where they do not reach it.

    Shrunken means have a smaller squared error over all groups together than raw ones. A single
    group that truly differs is drawn towards the others: intervals around such means cover it too
    rarely, so that none is given.

    Parameters
    ----------
    means
        [groups]: nan for groups without a value, which are left out.
    variances
        [groups]: of each mean, by chance, at least 0.
    design
        [groups, columns]: what the common values are a linear function of; one common mean where
        this is left out, or where too few groups would be left (k - r < 3).

    References
    ----------
    Morris (1983), Parametric empirical Bayes inference; Paule and Mandel (1982) for A. For
    intersections: Evans et al. (2018), MAIHDA, whose main effects are additive too.
    """
    known = np.isfinite(means)
    y, variance = means[known], variances[known]
    none = np.full(len(means), np.nan)
    if not np.isfinite(variance).all():
        return ShrunkenMeans(none, none, np.nan, TO_THE_MEAN, NO_VARIANCE)
    columns, method = np.ones((len(y), 1)), TO_THE_MEAN
    if design is not None and len(y) - np.linalg.matrix_rank(design[known]) >= 3:
        columns, method = design[known], TO_THE_MAIN_EFFECTS
    free = len(y) - int(np.linalg.matrix_rank(columns))
    if free < 3:
        return ShrunkenMeans(none, none, np.nan, method, TOO_FEW)
    scale = np.abs(y).max() or 1.0  # so that no square is too small or too large for a float
    y, variance = y / scale, variance / scale / scale
    between = _between(y, variance, columns, free)
    total = variance + between
    exact = total <= 0  # all known, or all equal
    shrinkage = (free - 2) / free * np.where(exact, 0.0, variance / np.where(exact, 1.0, total))
    fitted = _fitted(y, total, columns)
    found, by = none.copy(), none.copy()
    found[known], by[known] = scale * ((1 - shrinkage) * y + shrinkage * fitted), shrinkage
    return ShrunkenMeans(found, by, between * scale * scale, method)


def _between(y: Floats, variance: Floats, columns: Floats, free: int) -> float:
    """Return the variance between groups that explains what chance does not."""

    def excess(between: float) -> float:
        total = variance + between
        return float(np.sum((y - _fitted(y, total, columns)) ** 2 / total)) - free

    if np.ptp(y) <= EQUAL * np.abs(y).max():
        return 0.0
    spread = float(np.ptp(y)) ** 2
    least = 1e-12 * spread  # so that a mean without error has a weight
    if excess(least) <= 0:
        return 0.0
    return float(brentq(excess, least, len(y) * spread))


def _fitted(y: Floats, total: Floats, columns: Floats) -> Floats:
    """Return the weighted least squares fit of the means."""
    weight = np.sqrt(1 / np.where(total > 0, total, 1.0))
    found = np.linalg.lstsq(columns * weight[:, None], y * weight, rcond=None)[0]
    return np.asarray(columns @ found)
