"""How many users of production traffic a gap is likely to need, before a monitor starts."""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from biaswatch.shared.stats.anytime.bets import STAKES, both_ways, log_mean_exp, middles
from biaswatch.shared.stats.anytime.inversion import threshold
from biaswatch.shared.stats.anytime.matching import MAX_WINDOW_USERS, matches_in_time, sides_of
from biaswatch.shared.stats.anytime.planning import (
    MAX_SIZE_RATIO,
    PlannedUnits,
    check_size,
    fixed_size,
    plan_histograms,
)
from biaswatch.shared.stats.anytime.two_groups import VALUE_BINS
from biaswatch.shared.stats.anytime.two_groups_planning import value_shares
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS, binned_differences
from biaswatch.shared.stats.arrays import Floats

SAMPLE_USERS = 30_000
"""Simulated users who are matched once, for the distribution of matches."""
MAX_USERS = 10_000_000
"""Largest plan; more users would take minutes to simulate."""
NEWTON_STEPS = 8
"""The first already comes within a thousandth."""


@dataclass(frozen=True)
class Arrivals:
    """How users come."""

    first_share: float = 0.5
    """The share of the first group among users of both."""
    neighbours: float = MAX_WINDOW_USERS
    """Users of both groups in one stratum within the longest time between neighbours."""

    def __post_init__(self) -> None:
        """Raise ValueError for an impossible share or rate."""
        if not 0 < self.first_share < 1:
            raise ValueError(
                f"the share of the first group lies between 0 and 1, not at {self.first_share:g}"
            )
        if not self.neighbours > 0:
            raise ValueError("without any user, there is no comparison")


def plan_matched(
    effect: float,
    sds: tuple[float, float],
    level: float,
    rng: np.random.Generator,
    *,
    alpha: float,
    arrivals: Arrivals = Arrivals(),
    tolerance: float = 0.0,
    family: int = 1,
    power: float = 0.8,
) -> PlannedUnits:
    """Plan for users of two groups who are matched in time, monitored by fixed bets.

    The plan counts all users of both groups, also those without a neighbour. Simulated users, whose
    values are the group's mean or one of the two ends, are matched once; matches with their
    distribution are then drawn until monitors have alarmed.

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
        A mean outside [0, 1], a deviation that no values in [0, 1] have, an effect within the
        tolerance, or users who come so rarely that hardly any is ever compared.
    """
    shares = [value_shares(m, sd) for m, sd in zip((level + effect, level), sds, strict=True)]
    spread = sqrt(sds[0] ** 2 / arrivals.first_share + sds[1] ** 2 / (1 - arrivals.first_share))
    check_size(effect, spread, tolerance)
    fixed = fixed_size(effect, spread, alpha=alpha / family, power=power, tolerance=tolerance)
    counts = _matches(shares, arrivals, rng)
    matches = int(counts.sum())
    bets = both_ways(STAKES) / (1 + tolerance)
    factors = np.log1p(np.multiply.outer(middles(DIFFERENCE_BINS), bets) - np.abs(bets) * tolerance)
    seen = np.flatnonzero(counts)

    def evidence(drawn: Floats) -> Floats:
        return log_mean_exp(drawn @ factors[seen])

    users_per_match = SAMPLE_USERS / matches
    # However little values vary, a match brings no more than about its gap.
    scale = max(ceil(fixed / users_per_match), ceil(1 / (abs(effect) - tolerance)))
    bound = threshold(alpha, family=family)
    furthest = min(MAX_SIZE_RATIO * scale, ceil(MAX_USERS / users_per_match))
    plan = plan_histograms(
        _with_mean(counts, effect)[seen], evidence, (scale, furthest), rng, bound, power
    )

    def users(needed: int | None) -> int | None:
        return None if needed is None else ceil(needed * users_per_match)

    return PlannedUnits(users(plan.units), users(plan.median), fixed, users(plan.looked) or 0)


def _matches(shares: list[Floats], arrivals: Arrivals, rng: np.random.Generator) -> Floats:
    """Return the histogram of the differences of matches among users with random arrivals."""
    first = rng.random(SAMPLE_USERS) < arrivals.first_share
    drawn = [rng.choice(VALUE_BINS, SAMPLE_USERS, p=share) / (VALUE_BINS - 1) for share in shares]
    times_s, priority = (
        rng.uniform(0, SAMPLE_USERS / arrivals.neighbours, SAMPLE_USERS),
        rng.random(SAMPLE_USERS),
    )
    matches = list(matches_in_time(times_s, first, priority, within_s=1.0))
    if len(matches) < SAMPLE_USERS**0.5:
        raise ValueError(
            "hardly any user has a neighbour of the other group within the longest time between"
            " compared users; allow neighbours to be farther apart"
        )
    a, b = sides_of(matches, np.where(first, *drawn))
    return np.array(binned_differences(a - b, rng.random(len(matches))), dtype=np.float64)


def _with_mean(counts: Floats, mean: float) -> Floats:
    """Return the shares of bins, exponentially tilted to this mean.

    A sample's own mean would miss it by chance, and the units needed depend on its square.
    """
    values, shares = middles(len(counts)), counts / counts.sum()
    for _ in range(NEWTON_STEPS):
        centred = values - shares @ values
        variance = float(shares @ centred**2)
        if not variance:
            break
        shares = shares * np.exp((mean - float(shares @ values)) / variance * centred)
        shares /= shares.sum()
    return np.asarray(shares)
