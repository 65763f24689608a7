"""How far group values lie apart, for many tables at once, and how far random labels put them."""

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.outliers import FEWEST, dixon
from biaswatch.shared.stats.groups.reasons import Codes, Floats, Integers, Reason, with_reasons

METRICS = (
    "Max-Min",
    "Min/Max",
    "Std",
    "Max Z-Score",
    "Min Z-Score",
    "Max",
    "Min",
    "Dixon Q",
    "Dixon Q Low",
    "Dixon Q High",
)
GROWING = np.array([True, False, True, True, False, True, False, True, True, True])
"""Whether more disparity makes the metric larger."""
IN_UNITS = np.array([True, False, True, False, False, True, True, False, False, False])
"""Whether the metric has the unit of the values; the others are pure numbers."""
TIES = 1e-10
"""Relative to a feature's spread: closer statistics are equal, and equal ones count as reached."""
ROUNDING = 1e-13
"""Relative to the values: what averaging many equal ones may leave of a difference between them."""


def spreads(values: Floats, centre: Floats, resolution: Floats) -> Floats:
    """Return each metric over the groups of each table; nan where it is undefined.

    Parameters
    ----------
    values
        [tables, groups, features]: a statistic of each group minus `centre`, nan where a group has
        none.
    centre
        [features]: what a ratio needs back.
    resolution
        [features]: smaller differences are rounding.

    Returns
    -------
    Floats
        [metrics, tables, features], as defined in `disparity`; the largest and the smallest value
        have the centre added again.
    """
    present = ~np.isnan(values)
    k = np.asarray(np.count_nonzero(present, axis=1))
    known = values if present.all() else np.where(present, values, 0.0)
    high, low = np.fmax.reduce(values, axis=1), np.fmin.reduce(values, axis=1)
    mean = known.sum(axis=1) / np.maximum(k, 1)
    # Values lie around 0 here, so that the short formula for squared deviations loses nothing.
    squares = np.einsum("tgf,tgf->tf", known, known) - k * mean * mean
    squares = np.maximum(squares, 0.0)
    deviation = np.sqrt(squares / np.maximum(k, 1))
    apart = high - low > resolution
    deviation = np.where(apart & (squares > 0), deviation, np.nan)
    found = np.stack(
        [
            high - low,
            _ratio(low + centre, high + centre, resolution),
            np.sqrt(squares / np.maximum(k - 1, 1)),
            (high - mean) / deviation,
            (low - mean) / deviation,
            high + centre,
            low + centre,
            *_dixon(values, k, apart, resolution),
        ]
    )
    found[:, k < 2] = np.nan
    return found


def _ratio(least: Floats, most: Floats, resolution: Floats) -> Floats:
    """Return the smallest over the largest, where none is below 0 and one is above."""
    least = np.where(np.abs(least) <= resolution, 0.0, least)
    defined = (least >= 0) & (most > resolution)
    return np.asarray(np.where(defined, least, np.nan) / np.where(defined, most, 1.0))


def _dixon(
    values: Floats, k: Integers, apart: NDArray[np.bool_], resolution: Floats
) -> list[Floats]:
    """Return Dixon's Q of the farther end, of the low and of the high one."""
    tables, groups, features = values.shape
    if groups < FEWEST:
        return [np.full((tables, features), np.nan)] * 3
    # Sorting along the last axis is far faster than along another.
    ordered = np.sort(values.transpose(0, 2, 1), axis=2).reshape(-1, groups).T
    smallest = np.broadcast_to(resolution, (tables, features)).ravel()
    q = dixon(ordered, k.ravel(), smallest)
    ends = (each.reshape(tables, features) for each in (q.largest, q.low, q.high))
    return [np.where(apart, each, np.nan) for each in ends]


def why_undefined(values: Floats, centre: Floats, resolution: Floats) -> Codes:
    """Return [metrics, features]: the reason of each undefined metric of one table's values."""
    found = spreads(values[None], centre, resolution)[:, 0]
    k = np.count_nonzero(~np.isnan(values), axis=0)
    low = np.fmin.reduce(values, axis=0) + centre
    codes = np.zeros(found.shape, dtype=np.int8)
    codes[np.isnan(found)] = Reason.EQUAL_GROUPS
    ratio = METRICS.index("Min/Max")
    below = np.where(low < -resolution, Reason.NEGATIVE, Reason.MAXIMUM_ZERO)
    codes[ratio] = np.where(np.isnan(found[ratio]), below, Reason.DEFINED)
    codes[METRICS.index("Dixon Q") :, k == FEWEST - 1] = Reason.TWO_GROUPS
    codes[:, k < 2] = np.where(k[k < 2] == 1, Reason.ONE_GROUP, Reason.NO_GROUPS)
    return codes


def against_null(
    values: Floats, centre: Floats, resolution: Floats, null: Floats
) -> tuple[Floats, Floats, Floats, Codes]:
    """Return each metric, its median under the null, its p and why there is none.

    Parameters
    ----------
    values, centre, resolution
        As `spreads` takes them, of the observed table alone: [groups, features].
    null
        [metrics, exchanges, features]: the metrics of as many tables with exchanged labels.

    Returns
    -------
    tuple
        Four arrays [metrics, features]. p = (b + 1) / (m + 1), towards more disparity. What is
        undefined after an exchange counts as reaching the observed value.
    """
    observed = spreads(values[None], centre, resolution)[:, 0]
    codes = why_undefined(values, centre, resolution)
    rounding = np.where(IN_UNITS[:, None], resolution, TIES)
    towards = np.where(GROWING, 1.0, -1.0)[:, None]
    short = towards[:, None] * null < (towards * observed - rounding)[:, None]
    times = null.shape[1]
    p_values = (times - np.count_nonzero(short, axis=1) + 1) / (times + 1)
    undefined: list[tuple[NDArray[np.bool_], Reason]] = [
        (codes == reason, reason) for reason in Reason if reason != Reason.DEFINED
    ]
    defined = codes == Reason.DEFINED
    observed, median = (np.where(defined, x, np.nan) for x in (observed, _median(null)))
    return observed, median, *with_reasons(p_values, first_of=undefined)


def _median(null: Floats) -> Floats:
    """Return the median over the exchanges that have a value; nan where none has."""
    ordered = np.sort(null, axis=1)
    count = np.count_nonzero(~np.isnan(null), axis=1)[:, None]
    middles = ((count - 1) // 2, count // 2 - (count == 0))
    middle = [np.take_along_axis(ordered, np.maximum(at, 0), 1) for at in middles]
    return np.asarray(((middle[0] + middle[1]) / 2)[:, 0])
