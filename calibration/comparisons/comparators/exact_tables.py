"""Exact tests of two rates: Fisher's, and unconditional ones over all tables of given sizes."""

from functools import lru_cache

import numpy as np
from scipy import stats

from calibration.comparisons.comparators.tails import Tails
from calibration.comparisons.study import Floats

NUISANCE = 120
"""Rates at which the chance of the tables is looked at, densest near 0 and 1."""
MOST_TABLES = 700_000
SLACK = 1e-9


def rate_tests(x: Floats, y: Floats) -> dict[str, Tails]:
    """Return the exact tests of the counts of two samples of 0 and 1."""
    k, n, j, m = int(x.sum()), len(x), int(y.sum()), len(y)

    def fisher(gap: float) -> tuple[float, float]:
        return _fisher(k, n, j, m) if gap == 0 else (1.0, 1.0)

    result: dict[str, Tails] = {"Fisher": fisher}
    if (n + 1) * (m + 1) > MOST_TABLES:
        return result | dict.fromkeys(("Boschloo", "exact unconditional score"), fisher)

    def boschloo(gap: float) -> tuple[float, float]:
        if gap != 0:
            return 1.0, 1.0
        return float(_boschloo(n, m)[k, j]), float(_boschloo(m, n)[j, k])

    def score(gap: float) -> tuple[float, float]:
        return float(_by_score(n, m, gap)[k, j]), float(_by_score(m, n, -gap)[j, k])

    return result | {"Boschloo": boschloo, "exact unconditional score": score}


@lru_cache(maxsize=4096)
def _fisher(k: int, n: int, j: int, m: int) -> tuple[float, float]:
    law = stats.hypergeom(n + m, k + j, n)
    return min(1.0, float(law.sf(k - 1))), min(1.0, float(law.cdf(k)))


@lru_cache(maxsize=64)
def _boschloo(n: int, m: int) -> Floats:
    """Return, of every table, the p-value of "the first rate is at most the second"."""
    k, j = np.ogrid[: n + 1, : m + 1]
    return _unconditional(stats.hypergeom.sf(k - 1, n + m, k + j, n), n, m, 0.0)


@lru_cache(maxsize=64)
def _by_score(n: int, m: int, gap: float) -> Floats:
    """Return the same of "the gap is at most this", tables in the order of the score statistic."""
    k, j = np.ogrid[: n + 1, : m + 1]
    return _unconditional(-score_statistic(k / n, n, j / m, m, gap), n, m, gap)


def score_statistic(p: Floats, n: int, q: Floats, m: int, gap: float) -> Floats:
    """Return Miettinen and Nurminen's statistic, with rates that fit the gap best (1985)."""
    p, q = np.broadcast_arrays(p, q)
    theta = m / n
    a, b = 1 + theta, -(1 + theta + p + theta * q + gap * (theta + 2))
    c, d = gap**2 + gap * (2 * p + theta + 1) + p + theta * q, -p * gap * (1 + gap)
    v = b**3 / (3 * a) ** 3 - b * c / (6 * a**2) + d / (2 * a)
    u = np.sign(v + (v == 0)) * np.sqrt(np.maximum(b**2 / (3 * a) ** 2 - c / (3 * a), 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(u == 0, 0.0, v / u**3)
    w = (np.pi + np.arccos(np.clip(ratio, -1, 1))) / 3
    first = np.clip(2 * u * np.cos(w) - b / (3 * a), max(0.0, gap), min(1.0, 1 + gap))
    second = np.clip(first - gap, 0, 1)
    variance = first * (1 - first) / n + second * (1 - second) / m
    return np.asarray((p - q - gap) / np.sqrt(np.maximum(variance, 1e-12)))


def _unconditional(order: Floats, n: int, m: int, gap: float) -> Floats:
    """Return the largest chance, over the rates, of the tables at least as early in the order."""
    flat = np.round(order.ravel(), 10)
    ranked = np.argsort(flat, kind="stable")
    ends = np.searchsorted(flat[ranked], flat[ranked], side="right") - 1
    largest = np.zeros(flat.size)
    for second in _nuisance(gap):
        first = min(1.0, max(0.0, second + gap))
        chance = np.outer(_binomial(n, first), _binomial(m, second)).ravel()[ranked]
        np.maximum(largest, np.cumsum(chance)[ends], out=largest)
    result = np.empty(flat.size)
    result[ranked] = np.minimum(largest, 1.0)
    return result.reshape(order.shape)


def _nuisance(gap: float) -> Floats:
    low, high = max(0.0, -gap), min(1.0, 1.0 - gap)
    return np.asarray(low + (high - low) * np.sin(np.linspace(0, np.pi / 2, NUISANCE)) ** 2)


def _binomial(n: int, rate: float) -> Floats:
    return np.asarray(stats.binom.pmf(np.arange(n + 1), n, rate))
