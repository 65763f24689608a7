"""Reach of a search: the smallest gap that a number of sets would have found."""

from math import ceil, log

import numpy as np
from scipy import special

from biaswatch.shared.stats.anytime.merged import PRIOR_SETS, PRIOR_VARIANCE
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.search.evidence import BETS, STAKES

POWER = 0.8
"""Probability with which a smallest gap would have been found."""
GAPS = np.geomspace(0.004, 1.0, 80)
"""Gaps that are tried, as shares of the range."""


def fewest_sets(log_threshold: float) -> int:
    """Return the number of sets below which no gap can be found.

    Examples
    --------
    >>> fewest_sets(float(np.log(200 / (0.05 * 0.5))))
    13
    """
    return ceil(log_threshold / log(2))


def smallest_gap(sets: int, contrasts: Floats, log_threshold: float) -> float | None:
    """Return the smallest gap that these sets would have found with a probability of 0.8.

    The log factors of a set have the mean and the variance of the observed contrasts, shifted by
    the gap; their sum is taken as normal. The best single bet of the mixture counts with its share.
    With more than two groups, a set counts as one difference from the mean of the others.

    Parameters
    ----------
    sets
        Number of sets of the region.
    contrasts
        [n], in [-1, 1]: contrasts of the search's sets as shares of the range, whose spread is
        that of a region without an effect.
    log_threshold
        The log e-value that the region needs.

    Returns
    -------
    float or None
        As a share of the range; None if these sets find no gap up to the whole range.

    Examples
    --------
    >>> noise = np.tile([-0.25, 0.25], 50)
    >>> smallest_gap(12, noise, 9.0) is None
    True
    >>> gaps = [smallest_gap(sets, noise, 9.0) for sets in (20, 40, 400)]
    >>> [round(gap, 2) for gap in gaps if gap]
    [0.38, 0.25, 0.08]
    """
    if sets < fewest_sets(log_threshold):
        return None
    prior = np.sqrt(PRIOR_VARIANCE) * np.tile([-1.0, 1.0], int(PRIOR_SETS) // 2)
    noise = np.concatenate([contrasts - contrasts.mean() if len(contrasts) else [], prior])
    shifted = noise + GAPS[:, None]
    learned = GAPS / (shifted**2).mean(axis=1)
    bets = np.column_stack([np.broadcast_to(STAKES, (len(GAPS), len(STAKES))), learned])
    scores = bets[:, :, None] * shifted[:, None, :]
    factors = scores - np.logaddexp(scores, -scores) + log(2)
    reached = sets * factors.mean(axis=2) - special.ndtri(POWER) * np.sqrt(
        sets * factors.var(axis=2)
    )
    enough = reached.max(axis=1) - log(BETS) >= log_threshold
    return float(GAPS[enough.argmax()]) if enough.any() else None
