"""How many units a monitor is likely to need for an effect, before it starts: by simulation."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.stats import norm

from shared.stats.anytime.bets import STAKES, Floats, both_ways, log_mean_exp
from shared.stats.anytime.inversion import threshold
from shared.stats.anytime.odds_grid import GRID, beyond

RUNS = 400
LOOKS = 400
FURTHEST = 4096
"""Times the fixed size: what takes longer is not planned for."""
SMALLEST_GAP = 1e-9
WIDEST = 1e6
"""Deviations in a gap: beyond them no number of units is worth giving, nor can it be counted."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class PlannedUnits:
    """Units until a monitor has alarmed, if the effect is what was said."""

    units: int | None
    """By which the asked share of runs has alarmed; None beyond what is planned for."""
    median: int | None
    fixed: int
    """Units of the test that looks once and knows the effect: the price of looking is the ratio."""
    looked: int
    """Units of the last look at runs that had not alarmed."""


def fixed_size(effect: float, sd: float, *, alpha: float, power: float, tolerance: float) -> int:
    """Return the pairs that a two-sided test needs that looks once and knows the effect.

    ((z of 1 - alpha/2) + (z of power))^2 sd^2 / (|effect| - tolerance)^2.
    """
    if not abs(effect) > tolerance:
        raise ValueError("an effect within the tolerance is none that an alarm waits for")
    quantiles = float(norm.isf(alpha / 2) + norm.ppf(power))
    return max(1, ceil((quantiles * sd / (abs(effect) - tolerance)) ** 2))


def check_size(effect: float, sd: float, tolerance: float = 0.0) -> None:
    """Refuse a gap of which nobody can say how many units it takes.

    Raises
    ------
    ValueError
        The effect exceeds the tolerance by next to nothing.
    """
    gap = abs(effect) - tolerance
    if 0 < gap < max(SMALLEST_GAP, sd / WIDEST):
        raise ValueError(
            "the gap to be found is so small that no number of units can be given;"
            " plan for a larger one"
        )


def plan_gap(
    effect: float,
    sd: float,
    rng: np.random.Generator,
    *,
    alpha: float,
    tolerance: float = 0.0,
    family: int = 1,
    power: float = 0.8,
    binary: bool = False,
) -> PlannedUnits:
    """Plan for a mean difference of bounded pairs, monitored by fixed bets.

    Parameters
    ----------
    effect
        The mean of the differences, in [-1, 1].
    sd
        Their standard deviation. Two binary outcomes have sqrt(p1 (1 - p1) + p2 (1 - p2)), less
        where pairs agree.
    binary
        Every difference is -1, 0 or 1.
    """
    check_size(effect, sd, tolerance)
    fixed = fixed_size(effect, sd, alpha=alpha / family, power=power, tolerance=tolerance)
    values, shares = _like(effect, sd, binary=binary)
    bets = both_ways(STAKES) / (1 + tolerance)
    factors = np.log1p(np.multiply.outer(values, bets) - np.abs(bets) * tolerance)

    def evidence(counts: Floats) -> Floats:
        return log_mean_exp(counts @ factors)

    # However little values vary, a unit brings no more than about its gap.
    scale = max(fixed, ceil(1 / (abs(effect) - tolerance)))
    bound = threshold(alpha, family=family)
    return _plan(shares, evidence, (fixed, FURTHEST * scale), rng, bound, power)


def plan_rates(
    p_1: float,
    p_2: float,
    rng: np.random.Generator,
    *,
    alpha: float,
    tolerance: float = 0.0,
    family: int = 1,
    power: float = 0.8,
) -> PlannedUnits:
    """Plan for two selection rates, monitored as an odds ratio over batches of one and one.

    The tolerance is that of the logarithm of the odds ratio; the fixed size knows of none.
    """
    sd = (p_1 * (1 - p_1) + p_2 * (1 - p_2)) ** 0.5
    check_size(p_1 - p_2, sd)
    fixed = fixed_size(p_1 - p_2, sd, alpha=alpha / family, power=power, tolerance=0.0)
    shares = np.array([p_1 * (1 - p_2), p_2 * (1 - p_1)])
    normalisers = np.logaddexp(0.0, GRID) - np.log(2)

    def evidence(counts: Floats) -> Floats:
        first, discordant = counts[..., :1], counts[..., :2].sum(axis=-1, keepdims=True)
        return beyond(first * GRID - discordant * normalisers, tolerance)

    agreeing = np.append(shares, 1 - shares.sum())
    bound = threshold(alpha, family=family)
    return _plan(agreeing, evidence, (fixed, FURTHEST * fixed), rng, bound, power)


def _plan(
    shares: Floats,
    evidence: Callable[[Floats], Floats],
    sizes: tuple[int, int],
    rng: np.random.Generator,
    bound: float,
    power: float,
) -> PlannedUnits:
    """Let runs go on, with more looks the longer they last, until enough of them have alarmed.

    The sizes are the fixed one, and the furthest that is looked at.
    """
    fixed, furthest = sizes
    pace = max(1, fixed // LOOKS)
    counts, alarmed = np.zeros((RUNS, len(shares))), np.full(RUNS, np.inf)
    units = 0
    while np.isfinite(alarmed).mean() < power and units < furthest:
        pace = max(pace, units // LOOKS)
        units += pace
        counts += rng.multinomial(pace, shares, RUNS)
        over = (evidence(counts) >= bound) & np.isinf(alarmed)
        alarmed[over] = units
    needed, median = (reached(alarmed, share) for share in (power, 0.5))
    return PlannedUnits(needed, median, fixed, units)


def reached(alarmed: Floats, share: float) -> int | None:
    """Return the units by which this share of runs has alarmed; None where it never has."""
    units = np.sort(alarmed)[ceil(share * len(alarmed)) - 1]
    return int(units) if np.isfinite(units) else None


def _like(effect: float, sd: float, *, binary: bool) -> tuple[Floats, Floats]:
    """Return values in [-1, 1] and their shares, with this mean and standard deviation."""
    if not sd >= 0 or not -1 <= effect <= 1:
        raise ValueError("an effect lies in [-1, 1], and its standard deviation is at least 0")
    if not binary and abs(effect) + sd <= 1:
        return np.array([effect - sd, effect + sd]), np.array([0.5, 0.5])
    differing = sd**2 + effect**2
    if differing > 1 + ROUNDING:
        raise ValueError(f"differences in [-1, 1] have no mean {effect:g} and deviation {sd:g}")
    both = np.array([differing - effect, differing + effect]) / 2
    if binary and both.min() < -ROUNDING:
        raise ValueError(f"differences of -1, 0 and 1 have no deviation as small as {sd:g}")
    below, above = np.clip(both, 0.0, 1.0)
    return np.array([-1.0, 0.0, 1.0]), np.array([below, max(0.0, 1 - below - above), above])
