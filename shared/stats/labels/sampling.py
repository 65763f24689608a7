"""Which answers to label: drawn with known probabilities, more of them where more is to be learnt.

The draw is sequential Poisson sampling: each answer has a uniform number of its own, and those with
the smallest number over size are taken. So a larger sample holds every smaller one, an answer that
is labelled is never in vain, and the first k of the queue are themselves a sample of k.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, fsum, inf, log, log1p, sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.estimate import check_alpha
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


POWER = 0.8


@dataclass(frozen=True)
class PlannedLabels:
    """What is to be expected of so many labels of each of two groups."""

    labels_of_a_group: int
    correlation: float
    """Of labels and readings; 0 is labels alone."""
    half_width: float
    """Half of the interval of a gap of two groups, in the number's units."""
    smallest_gap: float
    """The gap that is found four times in five."""


def planned_labels(
    spread: float, answers: int, labels: int, correlation: float, alpha: float
) -> PlannedLabels:
    """Return what so many labels of each of two groups are to bring, before any is made.

    The variance of a corrected mean is s^2 (1 - r^2) / n + s^2 r^2 / N, with n of N answers
    labelled, as in prediction-powered inference with the best tuning.

    Parameters
    ----------
    spread
        Standard deviation of labels within a group; before there are any, that of readings.
    answers, labels
        Of each group: N and n, at least 1.
    correlation
        Of labels and readings, from 0 to 1.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference, 6.
    """
    check_alpha(alpha)
    n = min(labels, answers)
    explained = correlation**2
    error = spread * sqrt(2 * ((1 - explained) / n + explained / answers))
    reach = -float(special.ndtri(alpha / 2))
    return PlannedLabels(
        n, correlation, reach * error, (reach + float(special.ndtri(POWER))) * error
    )


def widest_share(answers: int, units: int, labels: int, alpha: float) -> float:
    """Return how far a corrected mean's interval reaches on one side where labels hardly vary.

    As a share of the scale, at most 1. Labels that all agree do not show that the others do: each
    labelled answer stands for answers / labels others, and the mean of so many prompts, which could
    each be as far off as that, is known to within their Clopper-Pearson limit.

    Parameters
    ----------
    answers, units, labels
        Of each group: answers, the prompts that they are answers to, and labels; at least 1.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Clopper and Pearson (1934), mid-p; Gaffke (2005), as `bounded_mean` has it.
    """
    check_alpha(alpha)
    n = min(labels, answers)
    return float(min(1.0, answers / n * (1 - alpha ** (1 / units))))


def labels_for_share(share: float, answers: int, units: int, alpha: float) -> int | None:
    """Return the labels of a group from which on `widest_share` is at most a share.

    None where not even all answers labelled are enough: it takes more prompts.
    """
    if widest_share(answers, units, answers, alpha) > share:
        return None
    return min(answers, ceil(answers * float(1 - alpha ** (1 / units)) / share))


def units_for_share(share: float, labelled_share: float, alpha: float) -> int:
    """Return the prompts of a group from which on `widest_share` is at most a share.

    Parameters
    ----------
    share
        Of the scale, in (0, 1).
    labelled_share
        Of the answers that are labelled, in (0, 1]: as many of those to more prompts.
    alpha
        1 minus the coverage, in (0, 1).
    """
    check_alpha(alpha)
    return ceil(log(alpha) / log1p(-share * labelled_share))
