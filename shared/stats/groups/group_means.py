"""Means of groups: their precision, and empirical Bayes estimates."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.arrays import Bools, Floats, Indices
from biaswatch.shared.stats.groups.exchanges import ExchangeUnits, exchange_units


@dataclass(frozen=True)
class GroupMeans:
    """The means of groups on one feature, with their errors."""

    means: Floats
    """[groups]: over prompts; nan for a group without values."""
    units: Indices
    """[groups]: prompts with a value, a set inside one group counting once."""
    shares: Floats
    """[groups]: the sum of squared shares of its units in a mean, 1/n for n equal ones."""
    covariance: Floats
    """[groups, groups]: of the means, clustered by sets; nan for a group of fewer than two units.
    Groups that share a set have correlated means."""
    shared: Bools
    """[groups, groups]: a mask of pairs of groups with a set in common."""
    variance: float
    """Variance of a unit about its group and its set; nan without degrees of freedom."""
    freedom: int
    """Degrees of freedom of that variance."""
    total_variance: float
    """Variance of a unit about its set alone."""


def group_means(
    values: Floats, codes: NDArray[np.integer], sets: NDArray[np.integer], groups: int
) -> GroupMeans:
    """Return the means of groups with their errors.

    The covariance is that of residuals summed within sets (Liang and Zeger 1986), with a factor
    n / (n - 1) for each group's n units: the square of Welch's error where nothing is shared, of
    the paired t test's where each set has one prompt of both groups.

    Parameters
    ----------
    values
        [prompts]: finite.
    codes
        [prompts]: groups, from 0.
    sets
        [prompts]: codes of sets, below 0 for none.
    groups
        How many groups there are; some may have no prompt.
    """
    prompts = np.bincount(codes, minlength=groups)
    sums = np.bincount(codes, weights=values, minlength=groups)
    means = np.where(prompts > 0, sums, np.nan) / np.maximum(prompts, 1)
    units = exchange_units(codes, sets)
    count = np.asarray(np.bincount(units.of_row, minlength=len(units.labels)))
    n = np.bincount(units.labels, minlength=groups)
    residuals: Floats = np.asarray(
        np.bincount(units.of_row, weights=values - means[codes], minlength=len(count)), float
    )
    scale = np.sqrt(n / np.maximum(n - 1, 1)) / np.maximum(prompts, 1)
    residuals *= scale[units.labels]
    shared, covariance = _covariance(residuals, units, groups)
    del residuals  # of a million units, each copy counts
    few = n < 2
    covariance[few, :] = covariance[:, few] = np.nan
    weights = count / np.maximum(prompts, 1)[units.labels]
    weights *= weights
    shares = np.bincount(units.labels, weights=weights, minlength=groups).astype(np.float64)
    del weights
    of_units: Floats = np.asarray(
        np.bincount(units.of_row, weights=values, minlength=len(count)), float
    )
    of_units /= np.maximum(count, 1)
    within = _within(of_units, units.labels, units.strata)
    return GroupMeans(means, np.asarray(n), shares, covariance, shared, *within)


def _covariance(influence: Floats, units: ExchangeUnits, groups: int) -> tuple[Bools, Floats]:
    """Return a mask of groups that share a set, and the clustered covariance of their means.

    A set that groups share is one cluster; any other unit is its own cluster, of one group: with
    thousands of those, only their squares are summed.
    """
    alone = units.strata < 0
    own = units.labels[alone]
    squares = np.bincount(own, weights=influence[alone] ** 2, minlength=groups)
    sets, cluster = np.unique(units.strata[~alone], return_inverse=True)
    by_cluster = np.zeros((len(sets), groups))
    np.add.at(by_cluster, (cluster, units.labels[~alone]), influence[~alone])
    occurs = np.zeros(by_cluster.shape)
    occurs[cluster, units.labels[~alone]] = 1.0
    meets = occurs.T @ occurs > 0
    meets[own, own] = True
    return meets, by_cluster.T @ by_cluster + np.diag(squares)


def _within(values: Floats, labels: Indices, strata: Indices) -> tuple[float, int, float]:
    """Return the variance of units about group and block, its freedom, and that about blocks."""
    _, block = np.unique(strata, return_inverse=True)
    blocks, groups = np.bincount(block), np.bincount(labels)
    centred = values - (np.bincount(block, weights=values) / np.maximum(blocks, 1))[block]
    del block
    total = float(centred @ centred) / max(len(values) - len(blocks), 1)
    freedom = len(values) - len(blocks) - int(np.count_nonzero(groups)) + 1
    if freedom < 1:
        return np.nan, 0, total
    centred -= (np.bincount(labels, weights=centred) / np.maximum(groups, 1))[labels]
    return float(centred @ centred) / freedom, freedom, total


TO_THE_MEAN = "empirical Bayes, towards the common mean"
TO_THE_MAIN_EFFECTS = "empirical Bayes, towards the sum of the dimensions' effects"
TOO_FEW = "fewer than four groups with a value: no common mean to shrink towards"
NO_VARIANCE = "nothing shows how much a group's mean varies by chance"

EQUAL = 1e-12
"""Relative to the means: closer ones differ by rounding alone."""


@dataclass(frozen=True)
class ShrunkenMeans:
    """Shrunken means; for display, never for verdicts."""

    means: Floats
    """[groups]: nan for a group without a mean, and for all where there is a reason."""
    shrinkage: Floats
    """[groups]: movement of a mean, as a share of its distance to the common value, in [0, 1]."""
    between: float
    """The estimated variance between the groups' true means."""
    method: str
    reason: str | None = None
    errors: Floats | None = None
    """[groups]: the root of the variance of a shrunken mean and its squared movement."""

    def reach(self, alpha: float, freedom: int) -> Floats:
        """Return half the width of each group's interval; nan without one.

        It covers the true mean in 1 - alpha of groups, on average over all groups: in 0.93 or more
        at alpha .05, whatever the distribution of their means (`calibration/shrunken_means.py`).
        A single group that alone differs is covered in 0.8 or more: no verdict is read from it.
        """
        if self.errors is None or freedom < 1:
            return np.full(len(self.means), np.nan)
        return np.asarray(special.stdtrit(freedom, 1 - alpha / 2) * self.errors)


def shrunken_means(means: Floats, variances: Floats, design: Floats | None = None) -> ShrunkenMeans:
    """Return empirical Bayes estimates of group means.

    With V the variance of a mean and A the variance between groups, a mean y with the common value
    m goes to (1 - B) y + B m, B = (k - r - 2) / (k - r) V / (V + A). The common value is the least
    squares fit of `design` with weights 1 / (V + A); A makes the weighted squares of y - m sum to
    k - r, and is 0 where they do not reach it.

    Shrunken means have a smaller squared error over all groups together than raw ones. A single
    group that truly differs is drawn towards the others. The distance that a mean has moved is
    therefore taken as a possible bias: its square is added to the variance (1 - B) V + B^2 h, with
    h the variance of the common value.

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
    errors = np.sqrt(
        (1 - shrinkage) * variance
        + shrinkage**2 * (_fit_variance(total, columns) + (y - fitted) ** 2)
    )
    shrunken, by, error = none.copy(), none.copy(), none.copy()
    shrunken[known], by[known] = scale * ((1 - shrinkage) * y + shrinkage * fitted), shrinkage
    error[known] = scale * errors
    return ShrunkenMeans(shrunken, by, between * scale * scale, method, errors=error)


def _between(y: Floats, variance: Floats, columns: Floats, free: int) -> float:
    """Return the variance between groups that explains what chance does not."""
    from scipy.optimize import brentq  # slow to load

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


def _fit_variance(total: Floats, columns: Floats) -> Floats:
    """Return the variance of each fitted value."""
    weight = 1 / np.where(total > 0, total, np.inf)
    inverse = np.linalg.pinv(columns.T @ (weight[:, None] * columns), hermitian=True)
    return np.asarray(np.einsum("kp,pq,kq->k", columns, inverse, columns))


def _fitted(y: Floats, total: Floats, columns: Floats) -> Floats:
    """Return the weighted least squares fit of the means."""
    weight = np.sqrt(1 / np.where(total > 0, total, 1.0))
    coefficients = np.linalg.lstsq(columns * weight[:, None], y * weight, rcond=None)[0]
    return np.asarray(columns @ coefficients)
