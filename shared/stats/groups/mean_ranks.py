"""Ranks of groups by their means, with all ranks that the data leave possible."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from biaswatch.shared.stats.comparisons.means_and_rates import ROUNDING
from biaswatch.shared.stats.estimate import check_alpha
from biaswatch.shared.stats.groups.mean_precision import GroupMeans
from biaswatch.shared.stats.groups.reasons import Floats, Integers
from biaswatch.shared.stats.groups.sure_orders import Order

METHOD = "simultaneous intervals of all differences, Bonferroni"
BY_RANGE = f"{METHOD}, by the range of values"


@dataclass(frozen=True)
class Ranks:
    """The rank of each group, 1 for the largest mean; 0 for a group without a value."""

    ranks: Integers
    """[groups]: equal means share the smallest rank."""
    low: Integers
    """[groups]: 1 and the number of groups whose means are surely larger."""
    high: Integers
    """[groups]: the number of groups, less those whose means are surely smaller."""


def ranks_of_means(found: GroupMeans, alpha: float, surely: Order | None = None) -> Ranks:
    """Return ranks with their confidence sets, which hold for all groups at once.

    The intervals of all k (k - 1) / 2 differences cover together with probability 1 - alpha
    (Bonferroni, t). A group's rank is at least 1 and the groups surely above it, at most k less
    those surely below. With them all ranges hold the true ranks, whatever the order.

    The error of a difference is the larger of two, each with its own quantile: that of these two
    groups (Welch, or paired where they share sets), and one from the variance within all groups,
    because a small group whose answers happen to be equal is not known exactly; where no group
    varies at all, the variance between units counts as that of one more. A group of one unit may
    have any rank.

    Raises
    ------
    ValueError
        For an alpha outside (0, 1).

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks, section 3.
    """
    check_alpha(alpha)
    known = np.isfinite(found.means)
    k = int(np.count_nonzero(known))
    gaps = found.means[:, None] - found.means[None, :]
    if surely is None:
        with np.errstate(invalid="ignore"):  # a group without a value is above and below none
            surely = gaps - _reach(found, alpha / max(k * (k - 1) // 2, 1)) > 0
    rounding = ROUNDING * float(np.abs(found.means[known]).max(initial=0.0))
    above, below = surely.sum(axis=0), surely.sum(axis=1)
    with np.errstate(invalid="ignore"):
        larger = np.count_nonzero(gaps < -rounding, axis=1)
    columns = (1 + larger, 1 + above, k - below)
    return Ranks(*(np.where(known, column, 0) for column in columns))


def _reach(found: GroupMeans, alpha: float) -> Floats:
    """Return half the width of each difference's interval; infinite where there is none."""
    own = np.diag(found.covariance)
    variance = np.maximum(own[:, None] + own[None, :] - 2 * found.covariance, 0.0)
    last = np.maximum(found.units - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        each = own**2 / last
        welch = (own[:, None] + own[None, :]) ** 2 / (each[:, None] + each[None, :])
    least = np.minimum(last[:, None], last[None, :]).astype(np.float64)
    freedom = np.where(found.shared | ~np.isfinite(welch), least, welch)
    alone = stats.t.ppf(1 - alpha / 2, freedom) * np.sqrt(variance)
    pooled = np.full_like(alone, np.nan)
    if found.freedom:
        quantile = stats.t.ppf(1 - alpha / 2, found.freedom)
        squares = found.variance * found.freedom + found.total_variance
        together = squares / (found.freedom + 1) * (found.shares[:, None] + found.shares[None, :])
        pooled = quantile * np.sqrt(together)
    reach = np.maximum(alone, pooled)
    return np.where(np.isnan(reach), np.inf, reach)
