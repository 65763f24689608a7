"""Which answers to label: drawn with known probabilities, more of them where more is to be learnt.

The draw is sequential Poisson sampling: each answer has a uniform number of its own, and those with
the smallest number over size are taken. So a larger sample holds every smaller one, an answer that
is labelled is never in vain, and the first k of the queue are themselves a sample of k.
"""

from collections.abc import Sequence

import numpy as np

from shared.stats.samples import Vector

LEAST_SHARE = 0.5
"""Of a sample that is drawn evenly: no answer weighs more than twice what it would then."""


def sizes_by_uncertainty(readings: Vector, low: float, high: float) -> Vector:
    """Return how much each answer should count in the draw; their mean is 1.

    Half of it is the same for all; half grows towards the middle of the scale, where an instrument
    is least sure, as the spread of yes and no with that probability does. On a scale on which all
    readings are at an end, all count the same.

    References
    ----------
    Zrnic and Candes (2024), Active statistical inference, section 3: probabilities by uncertainty,
    mixed with even ones so that no weight becomes large.
    """
    shares = np.clip((readings - low) / (high - low), 0.0, 1.0)
    unsure = np.sqrt(shares * (1 - shares))
    if not unsure.sum() > 0:
        return np.ones(len(readings))
    return np.asarray(LEAST_SHARE + (1 - LEAST_SHARE) * unsure / unsure.mean())


def inclusion_probabilities(sizes: Vector, n: int) -> Vector:
    """Return [N], how probable each answer is to be in a sample of n: n sizes / sum, at most 1.

    Answers that would exceed 1 are certain, and the others share what is left.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model assisted survey sampling, 3.6.2.
    """
    if n >= len(sizes):
        return np.ones(len(sizes))
    certain = np.zeros(len(sizes), dtype=bool)
    while True:
        left = n - int(certain.sum())
        found = np.where(certain, 1.0, left * sizes / sizes[~certain].sum())
        if not (beyond := (found > 1) & ~certain).any():
            return np.asarray(np.minimum(found, 1.0))
        certain |= beyond


def drawn(sizes: Vector, uniform: Vector, n: int) -> list[int]:
    """Return the places of n answers, in the order in which they should be labelled.

    Parameters
    ----------
    sizes
        [N], above 0.
    uniform
        [N], in (0, 1): a number for each answer that was drawn once and for all.

    References
    ----------
    Ohlsson (1998), Sequential Poisson sampling, Journal of Official Statistics 14.
    """
    order = np.argsort(uniform / sizes, kind="stable")
    return [int(each) for each in order[:n]]


def shares_of_groups(sizes: Sequence[int], n: int) -> list[int]:
    """Return how many of n labels each group gets: as many for all, small groups whole."""
    found = [0] * len(sizes)
    left, open_ = min(n, sum(sizes)), [place for place, size in enumerate(sizes) if size]
    while left and open_:
        each, more = divmod(left, len(open_))
        for turn, place in enumerate(open_):
            added = min(each + (turn < more), sizes[place] - found[place])
            found[place] += added
            left -= added
        open_ = [place for place in open_ if found[place] < sizes[place]]
    return found
