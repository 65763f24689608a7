"""The first look at which simulated evidence alarms, with a look after every unit."""

from collections.abc import Callable
from functools import lru_cache
from math import inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from biaswatch.shared.stats.anytime import two_groups
from biaswatch.shared.stats.anytime.bets import STAKES, both_ways, log_mean_exp
from biaswatch.shared.stats.anytime.four_fifths import FOUR_FIFTHS, LEVELS, SelectionShares
from biaswatch.shared.stats.anytime.odds import GRID, NULL, UNIT, beyond, mixed, normalisers
from biaswatch.shared.stats.anytime.two_groups import TwoHistograms
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS
from biaswatch.shared.stats.arrays import Floats

Ints = NDArray[np.int64]


def first_over(evidence: Floats, alpha: float) -> float:
    """Return the number of the first look at which evidence alarms; infinite where none does."""
    over = np.flatnonzero(evidence >= log(1 / alpha))
    return float(over[0] + 1) if over.size else inf


def places(values: Floats, low: float, high: float, bins: int, jitter: Floats) -> Ints:
    """Return the bins that values are rounded to, as the states do it."""
    place = (values - low) * ((bins - 1) / (high - low))
    below = np.floor(place)
    return (below + (jitter < place - below)).astype(np.int64)


def pair_evidence(gaps: Floats, jitter: Floats, tolerance: float = 0.0) -> Floats:
    """Return the log e-value after each pair."""
    where = places(gaps, -1, 1, DIFFERENCE_BINS, jitter)
    return log_mean_exp(np.cumsum(_pair_factors(tolerance)[where], axis=0))


@lru_cache
def _pair_factors(tolerance: float) -> Floats:
    bets = both_ways(STAKES) / (1 + tolerance)
    payoffs = np.multiply.outer(np.linspace(-1, 1, DIFFERENCE_BINS), bets)
    return np.asarray(np.log1p(payoffs - np.abs(bets) * tolerance))


def odds_evidence(
    selected: Ints, n_1: Ints, totals: Ints, size: int, tolerance: float | None = None
) -> Floats:
    """Return the log e-value of the common odds ratio after each batch of one size."""
    sums = _normaliser_table(size)[n_1, totals].cumsum(axis=0)
    logs = selected.cumsum()[:, None] * GRID - sums
    return mixed(logs) - logs[:, NULL] if tolerance is None else beyond(logs, tolerance)


@lru_cache
def _normaliser_table(size: int) -> Floats:
    table = np.zeros((size + 1, size + 1, len(GRID)))
    for n_1 in range(size + 1):
        for total in range(size + 1):
            # Where one group is empty or all are selected, the count is certain.
            table[n_1, total] = np.array(normalisers(n_1, size - n_1, total)) * UNIT
    return table


@lru_cache
def odds_boundary(most: int, alpha: float) -> Ints:
    """Return, per number of discordant batches of one and one, the count that alarms."""
    steps = np.logaddexp(0.0, GRID) - log(2)

    def evidence(first: Ints, discordant: Ints) -> Floats:
        return mixed(first[:, None] * GRID - discordant[:, None] * steps)

    return _boundary(evidence, most, alpha)


@lru_cache
def discordant_boundary(most: int, alpha: float) -> Ints:
    """Return, per number of discordant pairs, the count of one side at which McNemar's alarms."""
    return _boundary(
        lambda first, n: np.asarray(n * log(2) + betaln(1 + first, 1 + n - first)), most, alpha
    )


def _boundary(evidence: Callable[[Ints, Ints], Floats], most: int, alpha: float) -> Ints:
    """Search, for every number at once, the least count above half that alarms."""
    n = np.arange(most + 1)
    low, high = n // 2, n + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        over = evidence(np.minimum(middle, n), n) >= log(1 / alpha)
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return high


def first_beyond(first: Ints, second: Ints, boundary: Ints) -> float:
    """Return the first pair at which a side's count of discordant pairs alarms."""
    ahead, behind = np.cumsum(first > second), np.cumsum(second > first)
    over = np.flatnonzero(np.maximum(ahead, behind) >= boundary[ahead + behind])
    return float(over[0] + 1) if over.size else inf


def two_group_alarm(
    first: Floats, second: Floats, jitter: tuple[Floats, Floats], mean: float, alpha: float
) -> float:
    """Return the first look at which two groups of one known mean alarm.

    The evidence is a lowest over means, so it is at most that at the true one: only where that
    is enough does the lowest have to be found.
    """
    bins = two_groups.VALUE_BINS
    where = [places(x, 0, 1, bins, u) for x, u in zip((first, second), jitter, strict=True)]
    values, stakes = np.linspace(0, 1, bins)[:, None], np.array(two_groups.STAKES)
    above = np.log1p(stakes * (values / mean - 1))
    below = np.log1p(stakes * ((1 - values) / (1 - mean) - 1))
    up, down = (
        log_mean_exp(tables[0][where[0]].cumsum(axis=0))
        + log_mean_exp(tables[1][where[1]].cumsum(axis=0))
        for tables in ((above, below), (below, above))
    )
    for look in np.flatnonzero(np.logaddexp(up, down) - log(2) >= log(1 / alpha)):
        counts = [tuple(np.bincount(place[: look + 1], minlength=bins).tolist()) for place in where]
        if TwoHistograms(*counts).log_e() >= log(1 / alpha):
            return float(look + 1)
    return inf


def selections_of_pairs(both: int, first: int, second: int, neither: int) -> SelectionShares:
    """Return the state of sets of one unit a group: both selected, one alone, neither."""
    counts = np.zeros((LEVELS, LEVELS), dtype=np.int64)
    counts[[-1, -1, 0, 0], [-1, 0, -1, 0]] = both, first, second, neither
    return SelectionShares(tuple(counts.ravel().tolist()))


def four_fifths_evidence(first: Ints, second: Ints) -> Floats:
    """Return the log e-value against four fifths after each pair of selections."""
    payoffs = FOUR_FIFTHS * second - first
    return log_mean_exp(np.log1p(np.multiply.outer(payoffs, np.array(STAKES))).cumsum(axis=0))


def round_evidence(gaps: Floats, jitter: Floats, absent: Ints) -> Floats:
    """Return the log e-value after each round of a bank or population: a row of gaps per round.

    NaN is a set without a gap; `absent` is how many of them count as the worst case.
    """
    there = np.isfinite(gaps)
    where = places(np.where(there, gaps, 0.0), -1, 1, DIFFERENCE_BINS, jitter)
    factors = (_pair_factors(0.0)[where] * there[..., None]).sum(axis=1)
    worst = np.log1p(-np.abs(both_ways(STAKES)))
    return log_mean_exp(np.cumsum(factors + np.multiply.outer(absent, worst), axis=0))
