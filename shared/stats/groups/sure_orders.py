"""Which groups' means lie surely above which, by the confidence curves of gaps.

Where the range of values is known, ranks rest on the same curves as comparisons: a small group
whose answers happen to be equal is as uncertain there as here.
"""

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.comparisons.compared_samples import (
    LEAST_CLUSTERS,
    LEAST_UNITS,
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
from biaswatch.shared.stats.comparisons.mean_interval import holding, independent_units, mean_curve
from biaswatch.shared.stats.groups.reasons import Floats, Integers

Order = NDArray[np.bool_]
"""[groups, groups]: whether the row's mean lies surely above the column's."""
_SetMeans = tuple[Integers, Floats, Floats]
"""The sets of a group, their means, and the values that have no set."""


def sure_orders(
    values: Floats,
    codes: NDArray[np.integer],
    sets: NDArray[np.integer],
    shared: Order,
    bounds: Bounds,
    alpha: float,
) -> Order:
    """Return which means lie surely above which, all at once with probability 1 - alpha.

    The limits of all k (k - 1) / 2 gaps cover together (Bonferroni). Groups that share sets are
    compared within them. A group of one unit, or of fewer than five families of prompts, is surely
    above or below none.

    Parameters
    ----------
    values
        [prompts]: finite, within the bounds.
    codes
        [prompts]: groups, from 0.
    sets
        [prompts]: codes of sets, below 0 for none.
    shared
        [groups, groups]: whether two groups have a set in common.
    bounds
        The range of values.
    alpha
        1 minus the probability that all are right.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks; Zou and Donner (2008).
    """
    groups = len(shared)
    curves = [_curve(values[codes == g], sets[codes == g], bounds) for g in range(groups)]
    known = [place for place, curve in enumerate(curves) if curve is not None]
    each_alpha = alpha / max(len(known) * (len(known) - 1) // 2, 1)
    surely = np.zeros((groups, groups), dtype=np.bool_)
    if known:
        lowest = lowest_gaps([curve for curve in curves if curve is not None], each_alpha)
        surely[np.ix_(known, known)] = lowest > 0
    # Within shared sets the errors of two means go together: their differences decide.
    means: dict[int, _SetMeans] = {}
    for a, b in np.argwhere(np.triu(shared, 1)).tolist():
        if curves[a] is not None and curves[b] is not None:
            for g in {a, b} - means.keys():
                means[g] = _means(values[codes == g], sets[codes == g])
            low, high = _within_sets(means[a], means[b], bounds, each_alpha)
            surely[a, b], surely[b, a] = low > 0, high < 0
    return surely


def _curve(values: Floats, sets: Integers, bounds: Bounds) -> Curve | None:
    units = independent_units(values, sets)
    least = LEAST_UNITS if len(units) == len(values) else LEAST_CLUSTERS
    if len(units) < least:
        return None
    wide = holding(units, bounds)
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


def _means(values: Floats, sets: Integers) -> _SetMeans:
    """Return the sets of a group, their means, and the values that have no set."""
    has = sets >= 0
    keys, of_value, sizes = np.unique(sets[has], return_inverse=True, return_counts=True)
    means = np.bincount(of_value, weights=values[has], minlength=len(keys)) / sizes
    return keys, np.asarray(means, dtype=np.float64), values[~has]
