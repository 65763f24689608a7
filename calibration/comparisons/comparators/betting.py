"""Betting intervals of bounded means, combined to intervals of their difference.

Evidence is a mixture of fixed bets (Waudby-Smith and Ramdas 2024); the limits of two means make
those of the difference by MOVER (Zou and Donner 2008).
"""

from collections.abc import Callable
from math import hypot, log

import numpy as np

from calibration.comparisons.comparators.tails import Tails
from calibration.comparisons.study import Bounds, Floats

BETS = np.array([0.01, 0.03, 0.06, 0.1, 0.16, 0.24, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])
"""Shares of what a bet may be at most."""
NEARNESS = np.append(np.geomspace(1e-3, 0.98, 28), 0.999)
"""How far below the sample mean, as a share of it."""
HALVINGS = 24
MOST_EVIDENCE = 40.0


class LowerLimit:
    """The lower limits of a mean of values in [0, 1], by the evidence they need."""

    def __init__(self, values: Floats) -> None:
        self.mean = float(values.mean())
        steps, counts = np.unique(values, return_counts=True)
        means = self.mean * (1 - NEARNESS)
        if self.mean <= 0:
            self._means, self._evidence = np.zeros(1), np.zeros(1)
            return
        wins = 1 + BETS[:, None, None] / means[:, None] * (steps - means[:, None])
        logs = np.log(wins) @ counts
        top = logs.max(axis=0)
        evidence = top + np.log(np.exp(logs - top).mean(axis=0))
        self._means = np.append(self.mean, means)
        self._evidence = np.maximum.accumulate(np.append(0.0, evidence))

    def at(self, alpha: float) -> float:
        """Return the lower limit; 0 where even the lowest mean has too little evidence against."""
        if -log(alpha) > self._evidence[-1]:
            return 0.0
        return float(np.interp(-log(alpha), self._evidence, self._means))


def betting(x: Floats, y: Floats, bounds: Bounds) -> Tails:
    """Return the tests that invert MOVER's limits of the difference of two bounded means."""
    low, width = bounds[0], bounds[1] - bounds[0]
    x, y = (x - low) / width, (y - low) / width
    (lx, ux), (ly, uy) = ((LowerLimit(v), LowerLimit(1 - v)) for v in (x, y))
    result = lx.mean - ly.mean

    def lowest(alpha: float) -> float:
        return result - hypot(lx.mean - lx.at(alpha), uy.mean - uy.at(alpha))

    def highest(alpha: float) -> float:
        return result + hypot(ux.mean - ux.at(alpha), ly.mean - ly.at(alpha))

    def tails(gap: float) -> tuple[float, float]:
        at_most = _smallest(lambda alpha: lowest(alpha) > gap / width)
        return at_most, _smallest(lambda alpha: highest(alpha) < gap / width)

    return tails


def betting_on_pairs(differences: Floats, bounds: Bounds) -> Tails:
    """Return the same for pairs, whose differences have a range twice as wide."""
    width = bounds[1] - bounds[0]
    shares = (differences / width + 1) / 2
    lower, upper = LowerLimit(shares), LowerLimit(1 - shares)

    def tails(gap: float) -> tuple[float, float]:
        share = (gap / width + 1) / 2
        at_most = _smallest(lambda alpha: lower.at(alpha) > share)
        return at_most, _smallest(lambda alpha: 1 - upper.at(alpha) < share)

    return tails


def _smallest(rejects: Callable[[float], bool]) -> float:
    """Return the smallest level that rejects, by halving the evidence."""
    if not rejects(0.9999):
        return 1.0
    low, high = 0.0, MOST_EVIDENCE
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if rejects(np.exp(-middle)) else (low, middle)
    return float(np.exp(-low))
