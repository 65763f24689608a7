"""How many units two groups without twins are likely to need, before a monitor starts."""

from bisect import bisect_left
from math import ceil, inf, sqrt

import numpy as np

from biaswatch.shared.stats.anytime.inversion import threshold
from biaswatch.shared.stats.anytime.planning import (
    ROUNDING_TOL,
    PlannedUnits,
    check_size,
    fixed_size,
    reached,
)
from biaswatch.shared.stats.anytime.two_groups import VALUE_BINS, TwoHistograms
from biaswatch.shared.stats.arrays import Floats, Ints

RUNS = 200
LOOKS = 240
LOOK_GROWTH = 1.025
"""Growth from one look to the next; all looks reach from 1/16 to 23 times the scale."""
FIRST_LOOK = 1 / 16
MAX_GROUP_UNITS = 400_000
"""Units of each group; more would take minutes to simulate."""


def plan_two_groups(
    effect: float,
    sds: tuple[float, float],
    level: float,
    rng: np.random.Generator,
    *,
    alpha: float,
    tolerance: float = 0.0,
    family: int = 1,
    power: float = 0.8,
) -> PlannedUnits:
    """Plan for two groups of the same size, monitored by two histograms.

    The plan counts the units of both groups. Values are simulated as the group's mean, or one of
    the two ends, with the given standard deviation.

    Parameters
    ----------
    effect
        The mean of the first group less that of the second, both in [0, 1].
    sds
        The standard deviations within the first group, and within the second.
    level
        The mean of the second group.

    Raises
    ------
    ValueError
        A mean outside [0, 1], a deviation that no values in [0, 1] have, or an effect within the
        tolerance.
    """
    means = level + effect, level
    shares = [value_shares(mean, sd) for mean, sd in zip(means, sds, strict=True)]
    spread = sqrt(sds[0] ** 2 + sds[1] ** 2)
    check_size(effect, spread, tolerance)
    group_size = fixed_size(effect, spread, alpha=alpha / family, power=power, tolerance=tolerance)
    bound = threshold(alpha, family=family)
    # However little values vary, a unit brings no more than about its gap.
    scale = max(group_size, ceil(bound / (abs(effect) - tolerance)))
    sizes = np.unique(
        np.ceil(scale * FIRST_LOOK * LOOK_GROWTH ** np.arange(LOOKS)).astype(np.int64)
    )
    sizes = sizes[sizes <= MAX_GROUP_UNITS]
    if group_size > MAX_GROUP_UNITS or not len(sizes):
        return PlannedUnits(None, None, 2 * group_size, 2 * MAX_GROUP_UNITS)
    alarmed = np.array([_alarmed(shares, sizes, tolerance, bound, rng) for _ in range(RUNS)])
    units, median = (reached(alarmed, share) for share in (power, 0.5))
    return PlannedUnits(units, median, 2 * group_size, 2 * int(sizes[-1]))


def _alarmed(
    shares: list[Floats], sizes: Ints, tolerance: float, bound: float, rng: np.random.Generator
) -> float:
    """Return the units of both groups at the alarm of one simulated run.

    The look is located by bisection: after the first alarm, the evidence of an effect rarely falls
    back, and then the alarm is taken to come later than it would.
    """
    steps = np.diff(sizes, prepend=0)
    first, second = (np.cumsum(rng.multinomial(steps, one), axis=0) for one in shares)

    def alarms(look: int) -> bool:
        state = TwoHistograms(tuple(first[look].tolist()), tuple(second[look].tolist()))
        try:
            return state.log_e_beyond(tolerance) >= bound
        except ArithmeticError as error:
            raise ValueError(str(error)) from None

    look = bisect_left(range(len(sizes)), True, key=alarms)
    return inf if look == len(sizes) else 2.0 * sizes[look]


def value_shares(mean: float, sd: float) -> Floats:
    """Return the share of values in each bin, for this mean and standard deviation."""
    if not -ROUNDING_TOL <= mean <= 1 + ROUNDING_TOL:
        raise ValueError(f"a group's mean lies within the range, not at {mean:g} of it")
    mean = min(max(mean, 0.0), 1.0)
    largest = mean * (1 - mean)
    if sd < 0 or sd**2 > largest + ROUNDING_TOL:
        raise ValueError(f"values with the mean {mean:g} of the range have no deviation {sd:g}")
    extreme = min(sd**2 / largest, 1.0) if largest else 0.0
    place = mean * (VALUE_BINS - 1)
    shares = np.zeros(VALUE_BINS)
    below = min(int(place), VALUE_BINS - 2)
    shares[below : below + 2] = (1 - extreme) * np.array([below + 1 - place, place - below])
    shares[[0, -1]] += extreme * np.array([1 - mean, mean])
    return shares
