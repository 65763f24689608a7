"""The grid of odds ratios of a conditional mixture, and what is read off it."""

from functools import lru_cache
from math import log

import numpy as np
from scipy.special import gammaln

from biaswatch.shared.stats.anytime.bets import Floats

WIDEST = 4.0
POINTS = 161
GRID = np.linspace(-WIDEST, WIDEST, POINTS)
"""Logarithms of odds ratios, .05 apart: from 1/55 to 55."""
WEIGHTS = -(GRID**2) / 2 - log(float(np.exp(-(GRID**2) / 2).sum()))
"""Logarithms of the weights: a standard normal one, chosen before any data."""
STEP = float(GRID[1] - GRID[0])
UNIT = 2.0**-44
"""Of the kept sums: whole numbers of it add up exactly, in any order."""
NULL = POINTS // 2


def mixed(logs: Floats) -> Floats:
    """Return the logarithm of the mixed likelihood of log likelihoods on the grid, per row."""
    weighted = logs + WEIGHTS
    largest = weighted.max(axis=-1, keepdims=True)
    total = np.exp(weighted - largest).sum(axis=-1)  # several times as fast as logaddexp
    return np.asarray(np.log(total) + largest[..., 0], dtype=np.float64)


def beyond(logs: Floats, tolerance: float) -> Floats:
    """Return the log e-value of log likelihoods on the grid against the tolerance, per row."""
    above = index_of(tolerance_used(tolerance))
    below = POINTS - 1 - above
    up = _part(logs, slice(above + 1, None)) - logs[..., above]
    down = _part(logs, slice(None, below)) - logs[..., below]
    return np.asarray(np.logaddexp(up, down) - log(2), dtype=np.float64)


def _part(logs: Floats, part: slice) -> Floats:
    """Mix the likelihoods of a part of the grid, its weights summing to 1."""
    weights = WEIGHTS[part]
    mixed_part = np.logaddexp.reduce(logs[..., part] + weights, axis=-1)
    return np.asarray(mixed_part - np.logaddexp.reduce(weights), dtype=np.float64)


def tolerance_used(tolerance: float) -> float:
    """Return the tolerance of a log odds ratio, rounded outwards to a point of the grid."""
    if not 0 <= tolerance < WIDEST:
        raise ValueError(f"a tolerance of a log odds ratio lies in [0, 4), not at {tolerance:g}")
    return float(GRID[int(np.flatnonzero(tolerance - 1e-12 <= GRID)[0])])


def index_of(log_odds: float) -> int:
    """Return the place on the grid of one of its log odds ratios."""
    place = int(np.argmin(np.abs(GRID - log_odds)))
    if abs(GRID[place] - log_odds) > 1e-9:
        raise ValueError(
            f"{log_odds:g} is not one of the log odds ratios kept: take {GRID[place]:g}"
        )
    return place


def last_accepted(evidence: Floats, bound: float) -> float | None:
    """Return the upper end of what is not rejected, never inside of it.

    Between two points of the grid the evidence is convex, so it lies above the lines through its
    two neighbours on either side: it is surely above the bound where one of them is.
    """
    last = int(np.flatnonzero(evidence < bound)[-1])
    if last == POINTS - 1:
        return None
    reach = 1.0
    if last and (rise := evidence[last] - evidence[last - 1]) > 0:
        reach = min(reach, (bound - evidence[last]) / rise)
    if last + 2 < POINTS and (rise := evidence[last + 2] - evidence[last + 1]) > 0:
        reach = min(reach, 1 - (evidence[last + 1] - bound) / rise)
    return float(GRID[last] + STEP * reach)


@lru_cache(maxsize=4096)
def normalisers(n_1: int, n_2: int, total: int) -> tuple[int, ...]:
    """Return the log normaliser of a batch at every odds ratio of the grid, in whole units."""
    counts = np.arange(max(0, total - n_2), min(n_1, total) + 1, dtype=np.float64)
    chances = (
        _log_choose(n_1, counts)
        + _log_choose(n_2, total - counts)
        - _log_choose(n_1 + n_2, np.array([float(total)]))
    )
    # Point by point: a table of all would not fit where a batch is large.
    logs = [float(np.logaddexp.reduce(chances + counts * log_odds)) for log_odds in GRID]
    logs[NULL] = 0.0  # the chances sum to 1, exactly
    return tuple(round(value / UNIT) for value in logs)


def _log_choose(n: int, k: Floats) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)
