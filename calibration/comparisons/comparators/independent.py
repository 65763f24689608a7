"""Comparators of two independent samples: Welch, and permutations of the labels."""

from functools import lru_cache

import numpy as np
from scipy import special

from calibration.comparisons.comparators.tails import Comparators, Tails
from calibration.comparisons.study import Bounds, Floats

RELABELLINGS = 999
SLACK = 1e-9


def welch(x: Floats, y: Floats) -> Tails:
    """Return Welch's test; without any spread it says nothing."""
    if min(len(x), len(y)) < 2:
        return lambda _gap: (1.0, 1.0)
    v, w = x.var(ddof=1) / len(x), y.var(ddof=1) / len(y)
    if v + w <= (SLACK * max(np.abs(x).max(), np.abs(y).max(), 1e-300)) ** 2:
        return lambda _gap: (1.0, 1.0)
    dof = (v + w) ** 2 / (v**2 / (len(x) - 1) + w**2 / (len(y) - 1))
    error, result = np.sqrt(v + w), x.mean() - y.mean()

    def tails(gap: float) -> tuple[float, float]:
        below = float(special.stdtr(dof, (result - gap) / error))
        return 1 - below, below

    return tails


def welch_with_ends(x: Floats, y: Floats, bounds: Bounds) -> Tails:
    """Return Welch's test with an answer at each end of the range added to both samples.

    Agresti and Caffo (2000) add a success and a failure to each group; so does this, on a range.
    """
    return welch(np.append(x, bounds), np.append(y, bounds))


def permutations(x: Floats, y: Floats) -> dict[str, Tails]:
    """Return the permutation of means, of Welch's statistic, and the larger p of Welch and means.

    The first sample is shifted by the gap that is tested, as if the two differed by it alone.
    """
    by_t = welch(x, y)
    known: dict[float, tuple[tuple[float, float], tuple[float, float]]] = {}

    def both(gap: float) -> tuple[tuple[float, float], tuple[float, float]]:
        if gap not in known:
            known[gap] = _relabelled(x - gap, y)
        return known[gap]

    def larger(gap: float) -> tuple[float, float]:
        t, means = by_t(gap), both(gap)[0]
        # Without any spread within the groups there is no t, and the permutation decides alone.
        if t == (1.0, 1.0):
            return means
        return max(t[0], means[0]), max(t[1], means[1])

    return {
        "permutation of means": lambda gap: both(gap)[0],
        "studentised permutation": lambda gap: both(gap)[1],
        "max(Welch, permutation)": larger,
    }


def independent(x: Floats, y: Floats, bounds: Bounds | None) -> Comparators:
    """Return all comparators of samples on any scale."""
    result: dict[str, Tails] = {"Welch": welch(x, y), **permutations(x, y)}
    if bounds is not None:
        result["Welch with both ends added"] = welch_with_ends(x, y, bounds)
    return result


@lru_cache(maxsize=32)
def _choices(n: int, chosen: int) -> np.ndarray[tuple[int, int], np.dtype[np.intp]]:
    """Return random subsets, the same for every table of one size."""
    rng = np.random.default_rng([n, chosen])
    return np.array([rng.permutation(n)[:chosen] for _ in range(RELABELLINGS)])


def _relabelled(x: Floats, y: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return both tails' p-values, of the difference of means and of Welch's statistic."""
    small, large, sign = (x, y, 1.0) if len(x) <= len(y) else (y, x, -1.0)
    n, m = len(small), len(large)
    if n < 2:
        return (1.0, 1.0), (1.0, 1.0)
    units = np.concatenate([small, large])
    units = units - units.mean()
    scale = float(np.abs(units).max())
    if scale <= SLACK * float(np.abs(np.concatenate([x, y])).max()):
        return (1.0, 1.0), (1.0, 1.0)
    units = units / scale
    chosen = units[_choices(n + m, n)]
    sums = np.append(chosen.sum(axis=1), units[:n].sum())
    squares = np.append((chosen**2).sum(axis=1), (units[:n] ** 2).sum())
    total, square_total = units.sum(), (units**2).sum()
    gaps = sums / n - (total - sums) / m
    variance = (squares - sums**2 / n) / (n * (n - 1))
    variance = variance + (square_total - squares - (total - sums) ** 2 / m) / (m * (m - 1))
    t = gaps / np.sqrt(np.maximum(variance, SLACK**2))
    return _shares(sign * gaps), _shares(sign * t)


def _shares(statistics: Floats) -> tuple[float, float]:
    """Return the shares at least and at most the last, which counts itself."""
    slack = SLACK * max(1.0, abs(float(statistics[-1])))
    above = float((statistics >= statistics[-1] - slack).mean())
    return above, float((statistics <= statistics[-1] + slack).mean())
