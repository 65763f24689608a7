"""How many sets a common odds ratio is likely to need, also where sets differ in difficulty."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import binom

from biaswatch.shared.stats.anytime.bets import Floats
from biaswatch.shared.stats.anytime.inversion import threshold
from biaswatch.shared.stats.anytime.odds_grid import GRID, UNIT, beyond, normalisers
from biaswatch.shared.stats.anytime.planning import (
    FURTHEST,
    PlannedUnits,
    check_size,
    fixed_size,
    plan_histograms,
)
from biaswatch.shared.stats.anytime.set_shapes import ONE_AND_ONE, SetShape

NODES = 61
"""Of the distribution of difficulties; beyond 8 deviations nothing is left."""
FARTHEST_LOGIT = 40.0
MOST_CELLS = 2500
"""Outcomes of a set that a plan tells apart: sets of up to 49 answers a side."""


@dataclass(frozen=True)
class _Outcomes:
    """What can come of one set, a number each: how often, how many of each side were selected."""

    shares: Floats
    selected: Floats
    """Of the first side."""
    normalisers: Floats
    """Log normalisers at every odds ratio of the grid, given the outcome's margins."""
    gaps: Floats
    """Of the shares that are selected."""


def plan_odds(
    log_odds: float,
    level: float,
    rng: np.random.Generator,
    *,
    alpha: float,
    tolerance: float = 0.0,
    family: int = 1,
    power: float = 0.8,
    spread: float = 0.0,
    shapes: Sequence[SetShape] = ONE_AND_ONE,
) -> PlannedUnits:
    """Plan for two groups of which one is selected more often, monitored by a common odds ratio.

    Parameters
    ----------
    log_odds
        Within every set: the log odds of the first group being selected less those of the second.
    level
        The share of the second group that is selected, over all sets; in (0, 1).
    spread
        The standard deviation of the sets' log odds. The more sets differ in difficulty, the more
        of them select all or none, and these tell nothing.
    shapes
        How many answers of each group sets have.

    Raises
    ------
    ValueError
        There is no such level or spread, sets are too large, or the gap is too small.
    """
    if not 0 < level < 1 or not 0 <= spread < FARTHEST_LOGIT:
        raise ValueError("a level lies between 0 and 1, and a deviation of log odds below 40")
    outcomes = _outcomes(log_odds, level, spread, shapes)
    mean = float(outcomes.shares @ outcomes.gaps)
    sd = sqrt(float(outcomes.shares @ (outcomes.gaps - mean) ** 2))
    check_size(mean, sd)
    fixed = fixed_size(mean, sd, alpha=alpha / family, power=power, tolerance=0.0)

    def evidence(counts: Floats) -> Floats:
        selected = (counts @ outcomes.selected)[:, None]
        return beyond(selected * GRID - counts @ outcomes.normalisers, tolerance)

    bound = threshold(alpha, family=family)
    sizes = (fixed, FURTHEST * fixed)
    return plan_histograms(outcomes.shares, evidence, sizes, rng, bound, power)


def _outcomes(
    log_odds: float, level: float, spread: float, shapes: Sequence[SetShape]
) -> _Outcomes:
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    centre = float(logit(level))
    if spread:
        ends = (-FARTHEST_LOGIT - 8 * spread, FARTHEST_LOGIT + 8 * spread)
        centre = brentq(lambda at: float(weights @ expit(at + spread * nodes)) - level, *ends)
    odds = centre + spread * nodes
    parts = [_of_shape(shape, expit(odds + log_odds), expit(odds), weights) for shape in shapes]
    shares, selected, sums, gaps = (np.concatenate(each) for each in zip(*parts, strict=True))
    return _Outcomes(shares / shares.sum(), selected, sums, gaps)


def _of_shape(
    shape: SetShape, first: Floats, second: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    n_1, n_2 = shape.first, shape.second
    if (n_1 + 1) * (n_2 + 1) > MOST_CELLS:
        raise ValueError(
            f"sets of {n_1} and {n_2} answers are too large to plan for; up to 49 a side are not"
        )
    a, b = np.arange(n_1 + 1), np.arange(n_2 + 1)
    of_first, of_second = binom.pmf(a[:, None], n_1, first), binom.pmf(b[:, None], n_2, second)
    shares = np.einsum("aw,bw,w->ab", of_first, of_second, weights)
    table = np.array([normalisers(n_1, n_2, total) for total in range(n_1 + n_2 + 1)]) * UNIT
    totals = np.add.outer(a, b).ravel()
    selected = np.repeat(a, n_2 + 1).astype(np.float64)
    gaps = np.subtract.outer(a / n_1, b / n_2).ravel()
    return shape.share * shares.ravel(), selected, table[totals], gaps
