"""Spread of group values: metrics of many tables at once, outliers and Dixon's Q."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.cells import Codes, Floats, Integers, Reason, with_reasons

MIN_VALUES = 3
"""Values that Dixon's Q needs."""
SIMULATIONS = 10_000
BLOCK_VALUES = 1 << 16
"""Normal values drawn together."""


@dataclass(frozen=True)
class DixonQ:
    """Dixon's Q of each column at both ends, in [0, 1]; nan where it is 0 over 0."""

    low: Floats
    high: Floats

    @property
    def largest(self) -> Floats:
        """The larger of both ends, nan only where neither is defined."""
        return np.asarray(np.fmax(self.low, self.high))


def dixon(ordered: Floats, n: NDArray[np.intp], resolution: Floats | float = 0.0) -> DixonQ:
    """Return Dixon's ratio for columns of ascending values.

    Parameters
    ----------
    ordered
        [k, columns], ascending along the first axis, nan last.
    n
        [columns]: how many values each column has.
    resolution
        [columns] or one number: a span that is not above it is 0.

    Returns
    -------
    DixonQ
        r10 for 3 to 7 values, r11 for 8 to 10, r21 for 11 to 13, r22 from 14 on: the distance to
        the first (r2*: second) neighbour, over the range without the farthest (r*2: two farthest)
        at the other end. Nan for fewer than three values and where the denominator is 0.

    References
    ----------
    Dixon (1950), Analysis of extreme values; Rorabacher (1991) for the ranges of n.
    """
    neighbour = np.where(n <= 10, 1, 2)
    trimmed = np.where(n <= 7, 0, np.where(n <= 13, 1, 2))
    enough = n >= MIN_VALUES

    def at(place: NDArray[np.intp]) -> Floats:
        if len(n) and n.min() == n.max():  # one place in every column
            return np.asarray(ordered[min(max(int(place[0]), 0), len(ordered) - 1)])
        kept = np.clip(place, 0, len(ordered) - 1)[None]
        return np.asarray(np.take_along_axis(ordered, kept, axis=0)[0])

    first, last = at(np.zeros_like(n)), at(n - 1)
    low = _over(at(neighbour) - first, at(n - 1 - trimmed) - first, enough, resolution)
    high = _over(last - at(n - 1 - neighbour), last - at(trimmed), enough, resolution)
    return DixonQ(low, high)


def dixon_p_values(
    largest: Floats, n: NDArray[np.intp], rng: np.random.Generator, simulations: int = SIMULATIONS
) -> Floats:
    """Return two-sided p-values of the larger of both ends; nan where Q is nan.

    p = (b + 1) / (m + 1), where b of m simulated samples of n independent normal values have a Q at
    least as large at either end. Each n is simulated once. The smallest p is 1 / (m + 1); its
    standard error at p is sqrt(p (1 - p) / m).

    Raises
    ------
    ValueError
        For fewer than one simulation.
    """
    p_values = np.full(largest.shape, np.nan)
    known = ~np.isnan(largest)
    for size in np.unique(n[known]):
        null = simulated(int(size), rng, simulations)
        of_size = known & (n == size)
        above = simulations - np.searchsorted(null, largest[of_size], side="left")
        p_values[of_size] = (above + 1) / (simulations + 1)
    return p_values


def simulated(n: int, rng: np.random.Generator, simulations: int) -> Floats:
    """Return Q of the larger end of simulated samples of n normal values, ascending."""
    if n < MIN_VALUES:
        raise ValueError(f"Dixon's Q needs three values, not {n}")
    if simulations < 1:
        raise ValueError(f"a null distribution needs at least one simulation, not {simulations}")
    ratios, size = [], max(1, BLOCK_VALUES // n)
    for start in range(0, simulations, size):
        samples = rng.standard_normal((min(size, simulations - start), n))
        samples.sort(axis=1)
        ratios.append(dixon(samples.T, np.full(len(samples), n)).largest)
    return np.sort(np.concatenate(ratios))


def _over(
    gap: Floats, span: Floats, enough: NDArray[np.bool_], resolution: Floats | float
) -> Floats:
    wide = span > resolution
    return np.asarray(np.where(enough & wide, gap, np.nan) / np.where(wide, span, 1.0))


def extreme_z_scores(
    low: Floats, high: Floats, mean: Floats, spread: Floats, k: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the largest and the smallest Z-score, and the bound of their size.

    The standard deviation is that of the population (ddof 0). The
    bound is sqrt(k - 1).

    Parameters
    ----------
    low, high, mean, spread
        The smallest and largest of k values, their mean and their standard deviation with ddof 0.
        Nan where the spread is 0.
    k
        How many values there are.

    References
    ----------
    Shiffler (1988), Maximum Z scores and outliers: |z| <= sqrt(k - 1) with ddof 0. With five groups
    no Z-score exceeds 2, so a threshold of 3 never fires for fewer than eleven.
    """
    divisor = np.where(spread > 0, spread, np.nan)
    bound = np.sqrt(np.maximum(k - 1, 0))
    return (high - mean) / divisor, (low - mean) / divisor, bound


@dataclass(frozen=True)
class SpreadMetric:
    """A number that says how far the values of groups lie apart."""

    name: str
    grows: bool | None = None
    """True where more disparity makes it larger; None where exchanges of labels do not test it."""
    has_unit: bool = False
    """True where it has the unit of the values; the others are pure numbers."""


SPREAD_METRICS = (
    SpreadMetric("Max", grows=True, has_unit=True),
    SpreadMetric("Min", grows=False, has_unit=True),
    SpreadMetric("Min/Max", grows=False),
    SpreadMetric("Max-Min", grows=True, has_unit=True),
    SpreadMetric("Avg"),
    SpreadMetric("Std", grows=True, has_unit=True),
    SpreadMetric("Max Z-Score", grows=True),
    SpreadMetric("Min Z-Score", grows=False),
    SpreadMetric("Z-Score Bound"),
    SpreadMetric("Impact Ratio"),
    SpreadMetric("Dixon Q", grows=True),
    SpreadMetric("Dixon Q Low", grows=True),
    SpreadMetric("Dixon Q High", grows=True),
    SpreadMetric("Dixon p"),
)
METRICS = tuple(metric.name for metric in SPREAD_METRICS)
_TESTED = tuple(metric for metric in SPREAD_METRICS if metric.grows is not None)
NULL_METRICS = tuple(metric.name for metric in _TESTED)
"""Metrics that exchanges of labels test, in the order of `spreads`."""
TIE_RTOL = 1e-10
"""Relative to a feature's spread: closer statistics are equal, and equal ones count as reached."""
MEAN_RTOL = 1e-13
"""Relative to the values: difference that averaging many equal values may leave."""


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
    differ = high - low > resolution
    deviation = np.where(differ & (squares > 0), deviation, np.nan)
    metrics = np.stack(
        [
            high + centre,
            low + centre,
            _ratio(low + centre, high + centre, resolution),
            high - low,
            np.sqrt(squares / np.maximum(k - 1, 1)),
            (high - mean) / deviation,
            (low - mean) / deviation,
            *_dixon(values, k, differ, resolution),
        ]
    )
    metrics[:, k < 2] = np.nan
    return metrics


def _ratio(least: Floats, most: Floats, resolution: Floats) -> Floats:
    """Return the smallest over the largest, where none is below 0 and one is above."""
    least = np.where(np.abs(least) <= resolution, 0.0, least)
    defined = (least >= 0) & (most > resolution)
    return np.asarray(np.where(defined, least, np.nan) / np.where(defined, most, 1.0))


def _dixon(
    values: Floats, k: Integers, differ: NDArray[np.bool_], resolution: Floats
) -> list[Floats]:
    """Return Dixon's Q of the farther end, of the low and of the high one."""
    tables, groups, features = values.shape
    if groups < MIN_VALUES:
        return [np.full((tables, features), np.nan)] * 3
    # Sorting along the last axis is far faster than along another.
    ordered = np.sort(values.transpose(0, 2, 1), axis=2).reshape(-1, groups).T
    smallest = np.broadcast_to(resolution, (tables, features)).ravel()
    q = dixon(ordered, k.ravel(), smallest)
    ends = (ratio.reshape(tables, features) for ratio in (q.largest, q.low, q.high))
    return [np.where(differ, ratio, np.nan) for ratio in ends]


def why_undefined(values: Floats, centre: Floats, resolution: Floats) -> Codes:
    """Return [metrics, features]: the reason of each undefined metric of one table's values."""
    metrics = spreads(values[None], centre, resolution)[:, 0]
    k = np.count_nonzero(~np.isnan(values), axis=0)
    low = np.fmin.reduce(values, axis=0) + centre
    codes = np.zeros(metrics.shape, dtype=np.int8)
    codes[np.isnan(metrics)] = Reason.EQUAL_GROUPS
    ratio = NULL_METRICS.index("Min/Max")
    below = np.where(low < -resolution, Reason.NEGATIVE, Reason.MAXIMUM_ZERO)
    codes[ratio] = np.where(np.isnan(metrics[ratio]), below, Reason.DEFINED)
    codes[NULL_METRICS.index("Dixon Q") :, k == MIN_VALUES - 1] = Reason.TWO_GROUPS
    codes[:, k < 2] = np.where(k[k < 2] == 1, Reason.ONE_GROUP, Reason.NO_GROUPS)
    return codes


def against_null(
    values: Floats, centre: Floats, resolution: Floats, null: Floats
) -> tuple[Floats, Floats, Codes]:
    """Return the median of each metric under the null, its p-value and its reason.

    Parameters
    ----------
    values, centre, resolution
        As `spreads` takes them, of the observed table alone: [groups, features].
    null
        [metrics, exchanges, features]: the metrics of as many tables with exchanged labels.

    Returns
    -------
    tuple
        Three arrays [metrics, features]. p = (b + 1) / (m + 1), towards more disparity. A
        metric that is undefined after an exchange counts as reaching the observed value.
    """
    observed = spreads(values[None], centre, resolution)[:, 0]
    codes = why_undefined(values, centre, resolution)
    has_unit = np.array([[metric.has_unit] for metric in _TESTED])
    rounding = np.where(has_unit, resolution, TIE_RTOL)
    towards = np.array([[1.0 if metric.grows else -1.0] for metric in _TESTED])
    short = towards[:, None] * null < (towards * observed - rounding)[:, None]
    times = null.shape[1]
    p_values = (times - np.count_nonzero(short, axis=1) + 1) / (times + 1)
    undefined: list[tuple[NDArray[np.bool_], Reason]] = [
        (codes == reason, reason) for reason in Reason if reason != Reason.DEFINED
    ]
    median = np.where(codes == Reason.DEFINED, _median(null), np.nan)
    return median, *with_reasons(p_values, first_of=undefined)


def _median(null: Floats) -> Floats:
    """Return the median over the exchanges that have a value; nan where none has."""
    ordered = np.sort(null, axis=1)
    count = np.count_nonzero(~np.isnan(null), axis=1)[:, None]
    middles = ((count - 1) // 2, count // 2 - (count == 0))
    middle = [np.take_along_axis(ordered, np.maximum(at, 0), 1) for at in middles]
    return np.asarray(((middle[0] + middle[1]) / 2)[:, 0])
