"""Ranks of groups by their means, with simultaneous confidence sets."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biaswatch.shared.stats.arrays import Bools, Floats, Indices
from biaswatch.shared.stats.comparisons.compared_samples import (
    MIN_FAMILIES,
    MIN_UNITS,
    Bounds,
    ComparedSamples,
    SamplePart,
)
from biaswatch.shared.stats.comparisons.confidence_curve import (
    Curve,
    confidence_limits,
    lowest_gaps,
)
from biaswatch.shared.stats.comparisons.gap_test import sample_curve
from biaswatch.shared.stats.comparisons.mean_interval import (
    independent_units,
    mean_curve,
    widened_bounds,
)
from biaswatch.shared.stats.estimate import check_alpha
from biaswatch.shared.stats.groups.group_means import GroupMeans
from biaswatch.shared.stats.samples import FLAT_RTOL

_SetMeans = tuple[Indices, Floats, Floats]
"""The sets of a group, their means, and the values that have no set."""


def simultaneous_order(
    values: Floats,
    codes: NDArray[np.integer],
    sets: NDArray[np.integer],
    shared: Bools,
    bounds: Bounds,
    alpha: float,
) -> Bools:
    """Return the order of means that holds for all pairs at once with probability 1 - alpha.

    The limits of all k (k - 1) / 2 gaps cover jointly (Bonferroni). Groups that share sets are
    compared within them. A group of one unit, or of fewer than five families of prompts, is ordered
    with respect to no other.

    Parameters
    ----------
    values
        [prompts]: finite, within the bounds.
    codes
        [prompts]: groups, from 0.
    sets
        [prompts]: codes of sets, below 0 for none.
    shared
        [groups, groups]: a mask of pairs of groups with a set in common.
    bounds
        The range of values.
    alpha
        1 minus the probability that all are right, in (0, 1).

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks; Zou and Donner (2008).
    """
    groups = len(shared)
    curves = [_curve(values[codes == g], sets[codes == g], bounds) for g in range(groups)]
    known = [place for place, curve in enumerate(curves) if curve is not None]
    gap_alpha = alpha / max(len(known) * (len(known) - 1) // 2, 1)
    order = np.zeros((groups, groups), dtype=np.bool_)
    if known:
        lowest = lowest_gaps([curve for curve in curves if curve is not None], gap_alpha)
        order[np.ix_(known, known)] = lowest > 0
    # Within shared sets the errors of two means are correlated: their differences decide.
    means: dict[int, _SetMeans] = {}
    for a, b in np.argwhere(np.triu(shared, 1)).tolist():
        if curves[a] is not None and curves[b] is not None:
            for g in {a, b} - means.keys():
                means[g] = _means(values[codes == g], sets[codes == g])
            low, high = _within_sets(means[a], means[b], bounds, gap_alpha)
            order[a, b], order[b, a] = low > 0, high < 0
    return order


def _curve(values: Floats, sets: Indices, bounds: Bounds) -> Curve | None:
    units = independent_units(values, sets)
    least = MIN_UNITS if len(units) == len(values) else MIN_FAMILIES
    if len(units) < least:
        return None
    wide = widened_bounds(units, bounds)
    return mean_curve(SamplePart.of(units, wide), wide)


def _within_sets(
    of_one: _SetMeans, of_other: _SetMeans, bounds: Bounds, alpha: float
) -> tuple[float, float]:
    """Return the limits of the gap of two groups, by the sets that both have and by the others."""
    (keys_a, means_a, alone_a), (keys_b, means_b, alone_b) = of_one, of_other
    _, of_a, of_b = np.intersect1d(keys_a, keys_b, assume_unique=True, return_indices=True)
    samples = ComparedSamples(
        means_a[of_a],
        means_b[of_b],
        np.concatenate([np.delete(means_a, of_a), alone_a]),
        np.concatenate([np.delete(means_b, of_b), alone_b]),
        bounds,
    )
    return confidence_limits(sample_curve(samples), alpha) if samples.testable else (-1.0, 1.0)


def _means(values: Floats, sets: Indices) -> _SetMeans:
    """Return the sets of a group, their means, and the values that have no set."""
    has = sets >= 0
    keys, of_value, sizes = np.unique(sets[has], return_inverse=True, return_counts=True)
    means = np.bincount(of_value, weights=values[has], minlength=len(keys)) / sizes
    return keys, np.asarray(means, dtype=np.float64), values[~has]


METHOD = "simultaneous intervals of all differences, Bonferroni"
BY_RANGE = f"{METHOD}, by the range of values"


@dataclass(frozen=True)
class Ranks:
    """The rank of each group, 1 for the largest mean; 0 for a group without a value."""

    ranks: Indices
    """[groups]: equal means share the smallest rank."""
    low: Indices
    """[groups]: 1 and the number of groups whose means are surely larger."""
    high: Indices
    """[groups]: the number of groups, less those whose means are surely smaller."""


def ranks_of_means(means: GroupMeans, alpha: float, surely: Bools | None = None) -> Ranks:
    """Return ranks with their confidence sets, which hold for all groups at once.

    The intervals of all k (k - 1) / 2 differences cover together with probability 1 - alpha
    (Bonferroni, t). A group's rank is at least 1 and the groups surely above it, at most k less
    those surely below. With them all ranges hold the true ranks, whatever the order.

    The error of a difference is the larger of two, each with its own quantile: that of these two
    groups (Welch, or paired where they share sets), and one from the variance within all groups,
    because a small group whose answers happen to be equal is not known exactly; where no group
    varies at all, the variance between units counts as that of one more. A group of one unit may
    have any rank.

    Raises
    ------
    ValueError
        For an alpha outside (0, 1).

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks, section 3.
    """
    check_alpha(alpha)
    known = np.isfinite(means.means)
    k = int(np.count_nonzero(known))
    gaps = means.means[:, None] - means.means[None, :]
    if surely is None:
        with np.errstate(invalid="ignore"):  # a group without a value is above and below none
            surely = gaps - _reach(means, alpha / max(k * (k - 1) // 2, 1)) > 0
    rounding = FLAT_RTOL * float(np.abs(means.means[known]).max(initial=0.0))
    above, below = surely.sum(axis=0), surely.sum(axis=1)
    with np.errstate(invalid="ignore"):
        larger = np.count_nonzero(gaps < -rounding, axis=1)
    columns = (1 + larger, 1 + above, k - below)
    return Ranks(*(np.where(known, column, 0) for column in columns))


def _reach(means: GroupMeans, alpha: float) -> Floats:
    """Return half the width of each difference's interval, or infinity."""
    own = np.diag(means.covariance)
    variance = np.maximum(own[:, None] + own[None, :] - 2 * means.covariance, 0.0)
    last = np.maximum(means.units - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        squared = own**2 / last
        welch = (own[:, None] + own[None, :]) ** 2 / (squared[:, None] + squared[None, :])
    least = np.minimum(last[:, None], last[None, :]).astype(np.float64)
    freedom = np.where(means.shared | ~np.isfinite(welch), least, welch)
    alone = special.stdtrit(freedom, 1 - alpha / 2) * np.sqrt(variance)
    pooled = np.full_like(alone, np.nan)
    if means.freedom:
        quantile = special.stdtrit(means.freedom, 1 - alpha / 2)
        squares = means.variance * means.freedom + means.total_variance
        combined = squares / (means.freedom + 1) * (means.shares[:, None] + means.shares[None, :])
        pooled = quantile * np.sqrt(combined)
    reach = np.maximum(alone, pooled)
    return np.where(np.isnan(reach), np.inf, reach)
