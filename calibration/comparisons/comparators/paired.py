"""Comparators of pairs: t, sign flips, bets on differences, and tests of discordant pairs."""

from functools import lru_cache

import numpy as np
from scipy import special, stats

from calibration.comparisons.comparators.betting import betting_on_pairs
from calibration.comparisons.comparators.tails import Comparators, Tails
from calibration.comparisons.study import Bounds, Floats

FLIPS = 999
SLACK = 1e-9


def paired(pairs: Floats, bounds: Bounds | None, *, binary: bool) -> Comparators:
    """Return all comparators of pairs."""
    differences = pairs[:, 0] - pairs[:, 1]
    result: dict[str, Tails] = {"paired t": paired_t(differences), **flips(differences)}
    if bounds is not None:
        width = bounds[1] - bounds[0]
        result["bets on differences"] = betting_on_pairs(differences, bounds)
        result["paired t with both ends added"] = paired_t(np.append(differences, (-width, width)))
    if binary:
        up, down = int((differences > 0).sum()), int((differences < 0).sum())
        result["McNemar exact"] = mcnemar(up, down)
        result["Tango"] = tango(up, down, len(differences))
    return result


def paired_t(differences: Floats) -> Tails:
    """Return Student's test of the mean difference; without spread it says nothing."""
    n = len(differences)
    if n < 2 or np.ptp(differences) <= SLACK * float(np.abs(differences).max()):
        return lambda _gap: (1.0, 1.0)
    error, result = differences.std(ddof=1) / np.sqrt(n), differences.mean()

    def tails(gap: float) -> tuple[float, float]:
        below = float(special.stdtr(n - 1, (result - gap) / error))
        return 1 - below, below

    return tails


def flips(differences: Floats) -> dict[str, Tails]:
    """Return sign flips, alone and with t; the differences are shifted by the tested gap.

    Flips of t are flips of the sum: squares stay, so that one grows with the other.
    """

    def shares(gap: float) -> tuple[float, float]:
        shifted, n = differences - gap, len(differences)
        shifted = np.where(np.abs(shifted) <= SLACK, 0.0, shifted)
        if n < 2 or not shifted.any():
            return 1.0, 1.0
        sums = np.append(_signs(n) @ shifted, shifted.sum())
        slack = SLACK * max(1.0, abs(float(sums[-1])))
        above = float((sums >= sums[-1] - slack).mean())
        return above, float((sums <= sums[-1] + slack).mean())

    def larger(gap: float) -> tuple[float, float]:
        t, flipped = paired_t(differences)(gap), shares(gap)
        if t == (1.0, 1.0):
            return flipped
        return max(t[0], flipped[0]), max(t[1], flipped[1])

    return {"sign flips": shares, "max(t, sign flips)": larger}


def mcnemar(up: int, down: int) -> Tails:
    """Return the exact test of discordant pairs; it knows no other gap than 0."""

    def tails(gap: float) -> tuple[float, float]:
        if gap != 0 or up + down == 0:
            return 1.0, 1.0
        law = stats.binom(up + down, 0.5)
        return float(law.sf(up - 1)), float(law.cdf(up))

    return tails


def tango(up: int, down: int, n: int) -> Tails:
    """Return Tango's score test of the gap of two rates of pairs (1998)."""

    def tails(gap: float) -> tuple[float, float]:
        a, b = 2 * n, -up - down + (2 * n - up + down) * gap
        c = -down * gap * (1 - gap)
        q = (np.sqrt(max(b * b - 4 * a * c, 0)) - b) / (2 * a)
        variance = n * (2 * q + gap * (1 - gap))
        if variance <= SLACK:
            return 1.0, 1.0
        below = float(special.ndtr((up - down - n * gap) / np.sqrt(variance)))
        return 1 - below, below

    return tails


@lru_cache(maxsize=32)
def _signs(n: int) -> Floats:
    return np.random.default_rng(n).choice([-1.0, 1.0], (FLIPS, n))
