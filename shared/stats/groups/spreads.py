"""Metrics of how far group means lie apart, for many relabelled tables at once."""

import numpy as np

from shared.stats.groups.reasons import Codes, Floats, Reason

METRICS = ("Max-Min", "Min/Max", "Std", "Max Z-Score", "Min Z-Score")
GROWING = np.array([True, False, True, True, False])
"""Whether more disparity makes the metric larger."""
IN_UNITS = np.array([True, False, True, False, False])
"""Whether the metric has the feature's unit; the others are pure numbers."""


def spreads(means: Floats, centre: Floats, resolution: Floats) -> Floats:
    """Return each metric over the groups of each table; nan where it is undefined.

    Parameters
    ----------
    means
        [tables, groups, features]: group means minus `centre`, nan for a group without values.
    centre
        [features]: what a ratio needs back.
    resolution
        [features]: smaller differences are rounding.

    Returns
    -------
    Floats
        [metrics, tables, features], as defined in `disparity`.
    """
    present = ~np.isnan(means)
    k = np.count_nonzero(present, axis=1)
    known = means if present.all() else np.where(present, means, 0.0)
    high, low = np.fmax.reduce(means, axis=1), np.fmin.reduce(means, axis=1)
    mean = known.sum(axis=1) / np.maximum(k, 1)
    # Means lie around 0 here, so that the short formula for squared deviations loses nothing.
    squares = np.einsum("tgf,tgf->tf", known, known) - k * mean * mean
    squares = np.maximum(squares, 0.0)
    deviation = np.sqrt(squares / np.maximum(k, 1))
    deviation = np.where((high - low > resolution) & (squares > 0), deviation, np.nan)
    found = np.stack(
        [
            high - low,
            _ratio(low, high, centre, resolution),
            np.sqrt(squares / np.maximum(k - 1, 1)),
            (high - mean) / deviation,
            (low - mean) / deviation,
        ]
    )
    found[:, k < 2] = np.nan
    return found


def why_undefined(means: Floats, centre: Floats, resolution: Floats) -> Codes:
    """Return [metrics, features]: the reason of each undefined metric of one table's means."""
    found = spreads(means[None], centre, resolution)[:, 0]
    k = np.count_nonzero(~np.isnan(means), axis=0)
    low = np.fmin.reduce(means, axis=0) + centre
    codes = np.zeros(found.shape, dtype=np.int8)
    codes[np.isnan(found)] = Reason.EQUAL_GROUPS
    ratio = METRICS.index("Min/Max")
    below = np.where(low < -resolution, Reason.NEGATIVE, Reason.MAXIMUM_ZERO)
    codes[ratio] = np.where(np.isnan(found[ratio]), below, Reason.DEFINED)
    codes[:, k < 2] = np.where(k[k < 2] == 1, Reason.ONE_GROUP, Reason.NO_GROUPS)
    return codes


def _ratio(low: Floats, high: Floats, centre: Floats, resolution: Floats) -> Floats:
    """Return min / max where no mean is below 0 and one is above."""
    low, high = low + centre, high + centre
    low = np.where(np.abs(low) <= resolution, 0.0, low)
    defined = (low >= 0) & (high > resolution)
    return np.where(defined, low, np.nan) / np.where(defined, high, 1.0)
