"""Which answers to label: drawn with known probabilities, more of them where more is to be learnt.

The draw is sequential Poisson sampling: each answer has a uniform number of its own, and those with
the smallest number over size are taken. So a larger sample holds every smaller one, an answer that
is labelled is never in vain, and the first k of the queue are themselves a sample of k.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum, inf

import numpy as np

from biaswatch.shared.stats.samples import Vector

LEAST_SHARE = 0.5
"""Of a sample that is drawn evenly: no answer weighs more than twice what it would then."""
Stretches = Callable[[], Iterable[Vector]]
"""Goes through numbers of many answers, some at a time, each time from the first."""


def uncertainty(readings: Vector, low: float, high: float) -> Vector:
    """Return how unsure an instrument is of each answer: most in the middle of the scale.

    It is the spread of yes and no with the probability that the reading is, so between 0 and 1/2.
    """
    shares = np.clip((readings - low) / (high - low), 0.0, 1.0)
    return np.asarray(np.sqrt(shares * (1 - shares)))


def sizes_by_uncertainty(unsure: Vector, mean: float) -> Vector:
    """Return how much each answer should count in the draw; their mean is 1.

    Half of it is the same for all; half grows with uncertainty. Where an instrument is sure of all
    answers, all count the same.

    Parameters
    ----------
    unsure
        Of some answers, as `uncertainty` returns it.
    mean
        Of all answers that are drawn from.

    References
    ----------
    Zrnic and Candes (2024), Active statistical inference, section 3: probabilities by uncertainty,
    mixed with even ones so that no weight becomes large.
    """
    if not mean > 0:
        return np.ones(len(unsure))
    return np.asarray(LEAST_SHARE + (1 - LEAST_SHARE) * unsure / mean)


def mean_of(stretches: Iterable[Vector]) -> float:
    """Return the mean of numbers that are gone through some at a time."""
    sums, count = [], 0
    for some in stretches:
        sums.append(float(some.sum()))
        count += len(some)
    return fsum(sums) / count


@dataclass(frozen=True)
class Inclusion:
    """How probable each answer is to be in a sample, by its size."""

    least_certain: float
    """Answers of this size, and larger ones, are certain."""
    left: int
    """How many of the sample are drawn from the others."""
    total: float
    """The sum of the sizes of the others."""

    def of(self, sizes: Vector) -> Vector:
        """Return the probabilities of answers of these sizes."""
        found = np.minimum(1.0, self.left * sizes / self.total)
        return np.where(sizes >= self.least_certain, 1.0, found)


def inclusion(sizes: Stretches, n: int) -> Inclusion:
    """Return how probable answers are to be in a sample of n: n sizes / sum, at most 1.

    Answers that would exceed 1 are certain, and the others share what is left.

    Parameters
    ----------
    sizes
        Of all answers, above 0.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model assisted survey sampling, 3.6.2.
    """
    if n >= sum(map(len, sizes())):
        return Inclusion(0.0, 0, 1.0)
    least_certain = inf
    while True:
        certain, sums = 0, []
        for some in sizes():
            others = some[some < least_certain]
            certain += len(some) - len(others)
            sums.append(float(others.sum()))
        left, total = n - certain, fsum(sums)
        beyond = inf
        for some in sizes():
            over = some[(some < least_certain) & (left * some / total > 1)]
            beyond = min(beyond, float(over.min(initial=inf)))
        if beyond == inf:
            return Inclusion(least_certain, left, total)
        least_certain = beyond


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
