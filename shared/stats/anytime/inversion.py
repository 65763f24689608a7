"""Confidence sequences from e-values: the nulls not rejected, with ends rounded outwards."""

from collections.abc import Callable
from math import log

import numpy as np

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.estimate import check_alpha

CELLS = 64
PARTS = 4
MAX_LOSS = 0.01
"""Log evidence that a lower bound may give away."""
MAX_ROUNDS = 40
BLOCK_NULLS = 32
"""Nulls evaluated together."""
DOUBLING_HALVINGS = 6
"""Halvings of the first step to which an end is located by `invert` with `doubling`."""
STEP_HALVINGS = 20
"""Halvings of the step that holds the end, by `invert`."""
CellBound = Callable[[Floats, Floats], Floats]
"""A lower bound on cells, from their low and high ends, tight where these are equal."""
LogE = Callable[[Floats], Floats]
"""The log e-value against each of some nulls."""
Limits = tuple[float, float]


def threshold(alpha: float, *, family: int = 1) -> float:
    """Return the log e-value that rejects: ln(1/alpha), Bonferroni's share for a family."""
    check_alpha(alpha)
    return log(family / alpha)


def lowest(bound: CellBound, low: float, high: float) -> float:
    """Return a lower bound of a function that comes within 0.01 of its minimum.

    Cells are split while their bound lies below an observed value. A fixed grid would miss the dip
    between two of its points: evidence too high, 7.5 % false alarms where 5 are allowed.

    Parameters
    ----------
    bound
        Lower bounds of the function on cells.
    low, high
        The interval of its argument.

    Raises
    ------
    ArithmeticError
        Where the function is steeper than floating point can follow.
    """
    edges = np.linspace(low, high, CELLS + 1)
    lows, highs = edges[:-1], edges[1:]
    best = np.inf
    for _ in range(MAX_ROUNDS):
        bounds = bound(lows, highs)
        middles = (lows + highs) / 2
        best = min(best, float(bound(middles, middles).min()))
        least = float(bounds.min())
        if best - least <= MAX_LOSS:
            return least
        parts = np.linspace(lows[bounds < best], highs[bounds < best], PARTS + 1)
        lows, highs = parts[:-1].ravel(), parts[1:].ravel()
    raise ArithmeticError("the lowest evidence was not found: the values lie too close to an end")


def invert(
    log_e: LogE, centre: float, step: float, limits: Limits, alpha: float, *, doubling: bool = False
) -> tuple[float, float]:
    """Return the interval of nulls that are not rejected, around a centre that is not.

    The ends are nulls that *are* rejected, or the limits, so nothing is left out by rounding.

    Parameters
    ----------
    log_e
        Log e-values of an array of nulls; the nulls it does not reject have to be an interval.
    centre
        A null that is not rejected, such as the estimate.
    step
        Distance of the nulls tried, on the scale of a standard error.
    limits
        The range of nulls.
    alpha
        In (0, 1).
    doubling
        Whether steps double, and the end is located to 1/64 of the first step: few evaluations,
        for evidence that is expensive to compute.
    """
    bound = threshold(alpha)
    low, high = (
        _end(log_e, centre, sign * step, limits, bound, doubling=doubling) for sign in (-1, 1)
    )
    return low, high


def _end(
    log_e: LogE, centre: float, step: float, limits: Limits, bound: float, *, doubling: bool
) -> float:
    """Return the first rejected null on one side, located by halving, or the limit."""
    search = _doubling_bracket if doubling else bracket
    accepted, rejected = search(log_e, centre, step, limits, bound)
    # Half a halving more than the target keeps rounding from adding or dropping the last one.
    width = abs(step) / 2**DOUBLING_HALVINGS
    if not doubling:
        width = 1.5 * abs(rejected - accepted) / 2**STEP_HALVINGS
    while abs(rejected - accepted) > width:
        middle = (accepted + rejected) / 2
        if log_e(np.array([middle]))[0] >= bound:
            rejected = middle
        else:
            accepted = middle
    return rejected


def bracket(
    log_e: LogE, centre: float, step: float, limits: Limits, bound: float
) -> tuple[float, float]:
    """Return the last accepted null and the first rejected one, in steps from the centre.

    Both are the limit where no null up to it is rejected.
    """
    limit = limits[1] if step > 0 else limits[0]
    accepted = centre
    for start in range(1, int(abs(limit - centre) / abs(step)) + 2, BLOCK_NULLS):
        nulls = np.clip(centre + step * np.arange(start, start + BLOCK_NULLS), *limits)
        over = np.flatnonzero(log_e(nulls) >= bound)
        if over.size:
            first = int(over[0])
            return float(nulls[first - 1]) if first else accepted, float(nulls[first])
        accepted = float(nulls[-1])
    return limit, limit


def _doubling_bracket(
    log_e: LogE, centre: float, step: float, limits: Limits, bound: float
) -> tuple[float, float]:
    """Return what `bracket` does, in steps that double."""
    accepted, distance = centre, step
    while True:
        null = float(np.clip(centre + distance, *limits))
        if log_e(np.array([null]))[0] >= bound:
            return accepted, null
        if null in limits:
            return null, null
        accepted, distance = null, 2 * distance
