"""The confidence curve of a mean of bounded values, which knows what a flat sample cannot show.

One value at the end of the range is added to the sample of n, and the n + 1 are weighted by
Dirichlet(1, ..., 1) at random: the distribution of the weighted mean is Gaffke's confidence bound.
Added at the upper end it gives upper limits that hold for every distribution on the range, as far
as is known; for values of 0 and 1 they are Clopper and Pearson's. The curve is the mean of the two
distributions, added at the upper and at the lower end, which for 0 and 1 is the mid-p version of
Clopper and Pearson's limits: near its level instead of far within it.

The distribution of the weighted mean is computed by a saddlepoint approximation, whose relative
error in the tails is a few per cent; it needs no random numbers and no order of the values.
"""

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.confidence_curve import LADDER, Curve
from biaswatch.shared.stats.samples import ContentCache, Vector

MAX_NODES = 400
"""More distinct values are put into bins of equal counts, which changes the curve by under 1e-3."""
_CURVES = ContentCache[Curve](max_entries=8192)
"""12 MB: a group is compared with many others, and small samples repeat often."""
_MIN_ROOT = 0.05
"""Scores nearer to 0 than this are interpolated: there the approximation divides 0 by 0."""
_FAR = np.geomspace(60.0, 1e-6, 64)
_NEAR = np.array([1e-9, 1e-13, 1e-18, 1e-26, 1e-40, 1e-60, 1e-90, 1e-130, 1e-190, 1e-280])
Nodes = tuple[Vector, Vector]
"""Values and their scores, both increasing."""


def bounded_mean_curve(values: Vector, low: float, high: float) -> Curve:
    """Return the confidence curve of the mean of independent values within [low, high].

    Parameters
    ----------
    values
        [n], at least one, each within the range.
    low, high
        The ends of the range: every value that could have come lies between them.

    Raises
    ------
    ValueError
        A value lies outside the range, or the range is empty.

    References
    ----------
    Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable; Phan, Thomas and Learned-Miller (2021), Towards practical mean bounds for
    small samples; Lugannani and Rice (1980) for the tails; Lancaster (1961) for mid-p.
    """
    if not low <= float(values.min()) <= float(values.max()) <= high:
        raise ValueError(f"a value lies outside the range from {low:g} to {high:g}")
    ordered = np.sort(values)
    return _CURVES.get(ordered, (low, high), lambda: _read_only_curve(ordered, low, high))


def mean_at_least_p(values: Vector, low: float, high: float, edge: float) -> float:
    """Return the p-value of "the mean is at least `edge`", by Gaffke's upper limits themselves.

    One value is added at the upper end alone, so that for 0 and 1 it is the exact binomial tail
    and not its mid-p: it errs nowhere above its level, where `bounded_mean_curve` may by half.

    Parameters
    ----------
    values
        [n], at least one, each within [low, high].
    edge
        Within [low, high].

    References
    ----------
    Gaffke (2005); Clopper and Pearson (1934) for 0 and 1.
    """
    nodes, scores = _weighted_mean(*_condensed(_on_grid(values, low, high)), high)
    return float(special.ndtr(-np.interp(edge, nodes, scores, left=-40.0)))


def _read_only_curve(values: Vector, low: float, high: float) -> Curve:
    curve = _curve(values, low, high)
    curve.flags.writeable = False
    return curve


def _curve(values: Vector, low: float, high: float) -> Curve:
    if low == high:
        return np.full(len(LADDER), low)
    nodes, counts = _condensed(_on_grid(values, low, high))
    below = _weighted_mean(nodes, counts, low)
    above = _weighted_mean(nodes, counts, high)
    positive = _mixed_upper(above, below)
    mirrored_above = (-below[0][::-1], -below[1][::-1])
    mirrored_below = (-above[0][::-1], -above[1][::-1])
    negative = _mixed_upper(mirrored_above, mirrored_below)
    up = LADDER[LADDER >= 0]
    upper = np.interp(up, positive[1], positive[0])
    lower = -np.interp(up, negative[1], negative[0])
    curve = np.concatenate([lower[:0:-1], [(upper[0] + lower[0]) / 2], upper[1:]])
    return np.clip(np.maximum.accumulate(curve), low, high)


def _on_grid(values: Vector, low: float, high: float) -> Vector:
    # Values that arithmetic alone made different are one value: their spread says nothing.
    return np.asarray(low + np.round((values - low) / (high - low), 12) * (high - low))


def _condensed(values: Vector) -> Nodes:
    """Return the different values and their counts; many are put into bins, each by its mean."""
    different, counts = np.unique(values, return_counts=True)
    nodes: Vector = different.reshape(-1)
    weights: Vector = counts.astype(np.float64)
    if len(nodes) <= MAX_NODES:
        return nodes, weights
    places = np.cumsum(weights) - weights / 2
    bins = np.minimum((places / weights.sum() * MAX_NODES).astype(np.intp), MAX_NODES - 1)
    in_bin: Vector = np.bincount(bins, weights, MAX_NODES).astype(np.float64)
    sums = np.bincount(bins, weights * nodes, MAX_NODES)
    filled = in_bin > 0
    means: Vector = sums[filled] / in_bin[filled]
    return means, in_bin[filled]


def _weighted_mean(nodes: Vector, counts: Vector, added: float) -> Nodes:
    """Return nodes of the distribution of the weighted mean, with one more value."""
    place = int(np.searchsorted(nodes, added))
    if place < len(nodes) and nodes[place] == added:
        weights = counts.copy()
        weights[place] += 1
    else:
        nodes, weights = np.insert(nodes, place, added), np.insert(counts, place, 1.0)
    if len(nodes) == 1:
        return np.array([added, added]), np.array([-np.inf, np.inf])
    top = _upper_nodes(nodes[-1] - nodes, weights)
    bottom = _upper_nodes(nodes - nodes[0], weights)
    values = np.concatenate([nodes[0] + bottom[0][::-1], nodes[-1] - top[0]])
    scores = np.concatenate([-bottom[1][::-1], top[1]])
    return values, np.maximum.accumulate(scores)


def _upper_nodes(distance: Vector, weights: Vector) -> Nodes:
    """Return values, as distances from the largest, and their scores, from 0 upwards.

    The tilt s of the saddlepoint for the mean at m solves sum w c / (1 - s c) = 0 with
    c = x - m. Written with e = m + 1/s it gives m in closed form: m = e - n / sum w / (e - x). So
    the nodes are chosen by e, beyond the largest value, and nothing is solved.
    """
    n = weights.sum()
    mean = float(weights @ distance) / n
    spread = float(np.sqrt(weights @ (distance - mean) ** 2 / n))
    beyond = np.concatenate([_FAR * spread * np.sqrt(n), _NEAR * spread])[:, None]
    reach = beyond + distance[None, :]
    tilt_inverse = n / (weights / reach).sum(axis=1, keepdims=True)
    ratio = reach / tilt_inverse
    cumulants = -(np.log(ratio) @ weights)
    second = ((1 / ratio - 1) ** 2) @ weights
    root = np.sqrt(np.maximum(-2 * cumulants, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = root + np.log(np.sqrt(second) / root) / root
    values = (tilt_inverse - beyond)[:, 0]
    good = (root > _MIN_ROOT) & np.isfinite(scores)
    return values[good], scores[good]


def _mixed_upper(above: Nodes, below: Nodes) -> Nodes:
    """Return the upper half of the mean of two distributions, the first nowhere before the second.

    Its nodes are those of the first, whose tail is the larger.
    """
    values, scores = above
    if not np.isfinite(scores).all():
        return np.array([values[0], values[0]]), np.array([0.0, LADDER[-1]])
    other = np.interp(values, *below, left=-40.0, right=40.0)
    tail = np.logaddexp(special.log_ndtr(-scores), special.log_ndtr(-other)) - np.log(2)
    mixed = -special.ndtri_exp(tail)
    return values, np.maximum.accumulate(mixed)
