"""Intervals of scores over clusters of answers: the templates of a benchmark, or its contexts."""

from collections.abc import Callable
from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.samples import FLAT_RTOL

MIN_CLUSTERS = 5
"""Clusters that an interval needs."""
MIN_SURE_CLUSTERS = 15
"""Clusters under which the interval is about these alone."""
Score = Callable[[Floats], Floats]
"""From sums of counts [n, counts] to scores [n]; nan where undefined."""


def jackknife_t(
    sums: Floats, score: Score, alpha: float, *, clusters: str = "templates", share: bool = False
) -> Estimate:
    """Return a score with the t interval of the jackknife that leaves out one cluster at a time.

    Parameters
    ----------
    sums
        [clusters, counts]: the counts of each cluster, which the score takes the ratio of.
    score
        The score of sums of counts.
    alpha
        1 minus the coverage, in (0, 1).
    clusters
        What the clusters are, in the plural.
    share
        Whether the score is a share in (0, 1): its interval is then made on the logit, which holds
        near the ends too. Sums are successes and trials; half a success and half a failure are
        added.

    Returns
    -------
    Estimate
        Without an interval, and with a reason, for fewer than 5 clusters or without a spread.

    References
    ----------
    Tukey (1958), Bias and confidence in not-quite large samples; Efron and Stein (1981).

    Examples
    --------
    >>> sums = np.array([[4.0, 10], [6, 10], [5, 10], [7, 10], [3, 10]])
    >>> estimate = jackknife_t(sums, lambda s: s[:, 0] / s[:, 1], 0.05, share=True)
    >>> estimate.value, round(estimate.low, 2), round(estimate.high, 2)
    (0.5, 0.32, 0.68)
    """
    check_alpha(alpha)
    count = len(sums)
    method = f"jackknife t over {count} {clusters}"
    if count < MIN_SURE_CLUSTERS:
        method += f", about these {clusters}"
    total = sums.sum(axis=0)
    value = float(score(total[None])[0]) if count else np.nan
    if not np.isfinite(value):
        return undefined("no answer counts", method=method)
    if count < MIN_CLUSTERS:
        return undefined(f"fewer than {MIN_CLUSTERS} {clusters}", value=value, method=method)
    scale = _logit if share else score
    left_out = scale(total - sums)
    if not np.isfinite(left_out).all():
        reason = f"without one of the {clusters} no answer counts"
        return undefined(reason, value=value, method=method)
    variance = float(np.square(left_out - left_out.mean()).sum()) * (count - 1) / count
    centre = float(scale(total[None])[0])
    if variance <= (FLAT_RTOL * max(1.0, abs(centre))) ** 2:
        return undefined(f"the {clusters} do not differ", value=value, method=method)
    reach = -float(special.stdtrit(count - 1, alpha / 2)) * sqrt(variance)
    low, high = centre - reach, centre + reach
    if share:
        low, high = min(value, float(special.expit(low))), max(value, float(special.expit(high)))
    return Estimate(value, low, high, method)


def _logit(sums: Floats) -> Floats:
    return np.asarray(np.log(sums[:, 0] + 0.5) - np.log(sums[:, 1] - sums[:, 0] + 0.5))
