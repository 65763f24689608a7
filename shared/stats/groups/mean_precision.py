"""How precisely the means of groups are known, and how much less so their differences."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.exchange_units import ExchangeUnits, exchange_units
from biaswatch.shared.stats.groups.reasons import Floats, Integers


@dataclass(frozen=True)
class GroupMeans:
    """The means of groups on one feature, with their errors."""

    means: Floats
    """[groups]: over prompts; nan for a group without values."""
    units: Integers
    """[groups]: prompts with a value, a set inside one group counting once."""
    shares: Floats
    """[groups]: the sum of squared shares of its units in a mean, 1/n for n equal ones."""
    covariance: Floats
    """[groups, groups]: of the means, clustered by sets; nan for a group of fewer than two units.
    A shared set makes the means of its groups go together."""
    shared: NDArray[np.bool_]
    """[groups, groups]: whether two groups have a set in common."""
    variance: float
    """Of a unit about its group and its set; nan where nothing is left to estimate it from."""
    freedom: int
    """Degrees of freedom of that variance."""
    total_variance: float
    """Of a unit about its set alone, whatever its group."""


def group_means(
    values: Floats, codes: NDArray[np.integer], sets: NDArray[np.integer], groups: int
) -> GroupMeans:
    """Return the means of groups with their errors.

    The covariance is that of residuals summed within sets (Liang and Zeger 1986), with a factor
    n / (n - 1) for each group's n units: the square of Welch's error where nothing is shared, of
    the paired t test's where each set has one prompt of both groups.

    Parameters
    ----------
    values
        [prompts]: finite.
    codes
        [prompts]: groups, from 0.
    sets
        [prompts]: codes of sets, below 0 for none.
    groups
        How many groups there are; some may have no prompt.
    """
    prompts = np.bincount(codes, minlength=groups)
    sums = np.bincount(codes, weights=values, minlength=groups)
    means = np.where(prompts > 0, sums, np.nan) / np.maximum(prompts, 1)
    units = exchange_units(codes, sets)
    count = np.asarray(np.bincount(units.of_row, minlength=len(units.labels)))
    n = np.bincount(units.labels, minlength=groups)
    residuals: Floats = np.asarray(
        np.bincount(units.of_row, weights=values - means[codes], minlength=len(count)), float
    )
    scale = np.sqrt(n / np.maximum(n - 1, 1)) / np.maximum(prompts, 1)
    residuals *= scale[units.labels]
    shared, covariance = _covariance(residuals, units, groups)
    del residuals  # of a million units, each copy counts
    few = n < 2
    covariance[few, :] = covariance[:, few] = np.nan
    weights = count / np.maximum(prompts, 1)[units.labels]
    weights *= weights
    shares = np.bincount(units.labels, weights=weights, minlength=groups).astype(np.float64)
    del weights
    of_units: Floats = np.asarray(
        np.bincount(units.of_row, weights=values, minlength=len(count)), float
    )
    of_units /= np.maximum(count, 1)
    within = _within(of_units, units.labels, units.strata)
    return GroupMeans(means, np.asarray(n), shares, covariance, shared, *within)


def _covariance(
    influence: Floats, units: ExchangeUnits, groups: int
) -> tuple[NDArray[np.bool_], Floats]:
    """Return which groups share a set, and the sums of products of what their units weigh.

    A set that groups share is one cluster; any other unit is one by itself, and meets no other
    group: with thousands of those, only their squares are summed.
    """
    alone = units.strata < 0
    own = units.labels[alone]
    squares = np.bincount(own, weights=influence[alone] ** 2, minlength=groups)
    sets, cluster = np.unique(units.strata[~alone], return_inverse=True)
    together = np.zeros((len(sets), groups))
    np.add.at(together, (cluster, units.labels[~alone]), influence[~alone])
    occurs = np.zeros(together.shape)
    occurs[cluster, units.labels[~alone]] = 1.0
    meets = occurs.T @ occurs > 0
    meets[own, own] = True
    return meets, together.T @ together + np.diag(squares)


def _within(values: Floats, labels: Integers, strata: Integers) -> tuple[float, int, float]:
    """Return the variance of units about group and block, its freedom, and that about blocks."""
    _, block = np.unique(strata, return_inverse=True)
    blocks, groups = np.bincount(block), np.bincount(labels)
    centred = values - (np.bincount(block, weights=values) / np.maximum(blocks, 1))[block]
    del block
    total = float(centred @ centred) / max(len(values) - len(blocks), 1)
    freedom = len(values) - len(blocks) - int(np.count_nonzero(groups)) + 1
    if freedom < 1:
        return np.nan, 0, total
    centred -= (np.bincount(labels, weights=centred) / np.maximum(groups, 1))[labels]
    return float(centred @ centred) / freedom, freedom, total
