"""Confidence sequences from e-values: what is not rejected, with its ends rounded outwards."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import Floats
from biaswatch.shared.stats.estimate import check_alpha

CELLS = 64
PARTS = 4
GAP = 0.01
"""Of a log e-value: what the bound may give away."""
ROUNDS = 40
Bound = Callable[[Floats, Floats], Floats]
"""A lower bound on cells, from their low and high ends, tight where these are equal."""


def lowest(bound: Bound, low: float, high: float) -> float:
    """Return a number that the function nowhere falls below, and comes within 0.01 of.

    Cells are split while their bound lies below a value that was seen. A fixed grid would miss
    the dip between two of its points: evidence too high, 7.5 % false alarms where 5 are allowed.

    Raises
    ------
    ArithmeticError
        Where the function is steeper than numbers can follow.
    """
    edges = np.linspace(low, high, CELLS + 1)
    lows, highs = edges[:-1], edges[1:]
    best = np.inf
    for _ in range(ROUNDS):
        bounds = bound(lows, highs)
        middles = (lows + highs) / 2
        best = min(best, float(bound(middles, middles).min()))
        least = float(bounds.min())
        if best - least <= GAP:
            return least
        parts = np.linspace(lows[bounds < best], highs[bounds < best], PARTS + 1)
        lows, highs = parts[:-1].ravel(), parts[1:].ravel()
    raise ArithmeticError("the lowest evidence was not found: the values lie too close to an end")


BLOCK = 32
"""Nulls looked at together."""
FINEST = 64
"""Part of a step to which an end is known that is dear to compute."""
GRID_NULLS, FILLS = 48, 2
"""Nulls of a grid, and how often the step with the end is filled by another."""
HALVINGS = 20
"""Of the step in which the end lies."""
LogE = Callable[[Floats], Floats]
"""The log e-value against each of some nulls."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Bracket:
    """The last null that is not rejected and the next one, which is."""

    accepted: float
    rejected: float


def threshold(alpha: float, *, family: int = 1) -> float:
    """Return the log e-value that rejects: ln(1/alpha), Bonferroni's share for a family."""
    check_alpha(alpha)
    return log(family / alpha)


def invert(
    log_e: LogE, centre: float, step: float, limits: tuple[float, float], alpha: float
) -> tuple[float, float]:
    """Return the nulls that are not rejected: an interval around a centre that is not.

    The ends are nulls that *are* rejected, or the limits, so nothing is left out by rounding.

    Parameters
    ----------
    log_e
        Of an array of nulls; what it does not reject has to be an interval.
    centre
        A null that is not rejected, such as the estimate.
    step
        The distance of the nulls tried, on the scale of a standard error.
    limits
        Beyond which there is no null.
    alpha
        In (0, 1).
    """
    bound = threshold(alpha)
    ends = (bracket(log_e, centre, step * sign, limits, bound) for sign in (-1, 1))
    low, high = (_refined(log_e, end, bound) for end in ends)
    return low, high


def invert_on_grids(
    log_es: LogE, centres: Floats, steps: Floats, limits: tuple[float, float], bounds: Floats
) -> tuple[Floats, Floats]:
    """Return what `invert` does, for many intervals at once.

    A grid on each side reaches as far as it has to; two finer ones fill the step with the end.

    Parameters
    ----------
    log_es
        The log e-value of each interval against its null, an array of one null each.
    centres, steps, bounds
        Of each interval: a null that is not rejected, the distance of the nulls tried, and the log
        e-value that rejects.
    """
    low, high = (
        _ends_on_grids(log_es, centres, sign * steps, limits, bounds) for sign in (-1.0, 1.0)
    )
    return low, high


def _ends_on_grids(
    log_es: LogE, centres: Floats, steps: Floats, limits: tuple[float, float], bounds: Floats
) -> Floats:
    accepted, steps = centres.copy(), steps.copy()
    while True:
        far = np.clip(centres + steps * GRID_NULLS, *limits)
        over = log_es(far) >= bounds
        short = ~(over | (far == limits[0]) | (far == limits[1]))
        if not short.any():
            break
        accepted[short], steps[short] = far[short], steps[short] * GRID_NULLS

    def coarse(places: Ints) -> Floats:
        return np.clip(centres + steps * places, *limits)

    accepted, rejected = _first_rejected(log_es, coarse, accepted, far, bounds)
    for _ in range(FILLS):
        near, width, last = accepted, rejected - accepted, rejected

        def filled(places: Ints, near: Floats = near, width: Floats = width) -> Floats:
            return np.asarray(near + width * places / GRID_NULLS, dtype=np.float64)

        accepted, rejected = _first_rejected(log_es, filled, near, last, bounds)
    return np.where(over, rejected, far)


def _first_rejected(
    log_es: LogE, null_at: Callable[[Ints], Floats], before: Floats, last: Floats, bounds: Floats
) -> tuple[Floats, Floats]:
    """Return the null before the first of a grid that is rejected, and that one: by halving."""
    inside, outside = (np.full(len(bounds), each) for each in (0, GRID_NULLS))
    while (wide := outside - inside > 1).any():
        middle = (inside + outside) // 2
        over = log_es(null_at(middle)) >= bounds
        inside = np.where(wide & ~over, middle, inside)
        outside = np.where(wide & over, middle, outside)
    accepted = np.where(inside == 0, before, null_at(inside))
    return accepted, np.where(outside == GRID_NULLS, last, null_at(outside))


def invert_dearly(
    log_e: LogE, centre: float, step: float, limits: tuple[float, float], alpha: float
) -> tuple[float, float]:
    """Return what `invert` does, looking at few nulls: for evidence that is dear to compute.

    The steps double, and the last is halved down to the size of the first over 2^6.
    """
    bound = threshold(alpha)
    low, high = (_end(log_e, centre, sign * step, limits, bound) for sign in (-1, 1))
    return low, high


def _end(
    log_e: LogE, centre: float, step: float, limits: tuple[float, float], bound: float
) -> float:
    accepted, tried, finest = centre, step, abs(step) / FINEST
    while True:
        null = float(np.clip(centre + tried, *limits))
        if log_e(np.array([null]))[0] >= bound:
            break
        if null in limits:
            return null
        accepted, tried = null, 2 * tried
    while abs(null - accepted) > finest:
        middle = (accepted + null) / 2
        if log_e(np.array([middle]))[0] >= bound:
            null = middle
        else:
            accepted = middle
    return null


def bracket(
    log_e: LogE, centre: float, step: float, limits: tuple[float, float], bound: float
) -> Bracket:
    """Walk in steps from the centre to the first null that is rejected, or to the limit."""
    limit = limits[1] if step > 0 else limits[0]
    accepted = centre
    for start in range(1, int(abs(limit - centre) / abs(step)) + 2, BLOCK):
        nulls = np.clip(centre + step * np.arange(start, start + BLOCK), *limits)
        over = np.flatnonzero(log_e(nulls) >= bound)
        if over.size:
            first = int(over[0])
            return Bracket(float(nulls[first - 1]) if first else accepted, float(nulls[first]))
        accepted = float(nulls[-1])
    return Bracket(limit, limit)


def _refined(log_e: LogE, ends: Bracket, bound: float) -> float:
    """Halve the step in which the end lies and give its outer side."""
    accepted, rejected = ends.accepted, ends.rejected
    for _ in range(HALVINGS if accepted != rejected else 0):
        middle = (accepted + rejected) / 2
        if float(log_e(np.array([middle]))[0]) >= bound:
            rejected = middle
        else:
            accepted = middle
    return rejected
