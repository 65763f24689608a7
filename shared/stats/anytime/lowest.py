"""The lowest value of a function on an interval, bounded from below rather than sampled."""

from collections.abc import Callable

import numpy as np

from shared.stats.anytime.stakes import Floats

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
        lows, highs = _split(lows[bounds < best], highs[bounds < best])
    raise ArithmeticError("the lowest evidence was not found: the values lie too close to an end")


def _split(lows: Floats, highs: Floats) -> tuple[Floats, Floats]:
    parts = np.linspace(lows, highs, PARTS + 1)
    return parts[:-1].ravel(), parts[1:].ravel()
