"""Sampling of answers to label, with known probabilities, and the precision to expect of labels.

The draw is sequential Poisson sampling: each answer has a uniform number of its own, and those with
the smallest number over size are taken. So a larger sample holds every smaller one, no label is
wasted, and the first k of the queue are themselves a sample of k.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, fsum, inf, log, log1p, sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.estimate import check_alpha
from biaswatch.shared.stats.samples import Vector

EVEN_SHARE = 0.5
"""Share of a sample that is drawn evenly: no answer weighs more than twice what it would then."""
SizeChunks = Callable[[], Iterable[Vector]]
"""Returns the sizes of all answers, chunk by chunk, from the first at each call."""


def uncertainty(readings: Vector, low: float, high: float) -> Vector:
    """Return the uncertainty of each reading, largest in the middle of the scale.

    It is the standard deviation of a yes or no with the reading as its probability, in [0, 1/2].
    """
    shares = np.clip((readings - low) / (high - low), 0.0, 1.0)
    return np.asarray(np.sqrt(shares * (1 - shares)))


def sizes_by_uncertainty(unsure: Vector, mean: float) -> Vector:
    """Return the size of each answer in the draw; their mean is 1.

    Half of it is equal for all; half grows with uncertainty. Where an instrument is certain of all
    answers, all sizes are equal.

    Parameters
    ----------
    unsure
        The `uncertainty` of some answers.
    mean
        The mean uncertainty of all answers of the draw.

    References
    ----------
    Zrnic and Candes (2024), Active statistical inference, section 3: probabilities by uncertainty,
    mixed with even ones so that no weight becomes large.
    """
    if not mean > 0:
        return np.ones(len(unsure))
    return np.asarray(EVEN_SHARE + (1 - EVEN_SHARE) * unsure / mean)


def mean_of(chunks: Iterable[Vector]) -> float:
    """Return the mean of numbers that come in chunks."""
    sums, count = [], 0
    for chunk in chunks:
        sums.append(float(chunk.sum()))
        count += len(chunk)
    return fsum(sums) / count


@dataclass(frozen=True)
class Inclusion:
    """The inclusion probability of each answer, by its size."""

    least_certain: float
    """Least size of answers that are certain to be in the sample."""
    left: int
    """Answers of the sample that are drawn from the others."""
    total: float
    """The sum of the sizes of the others."""

    def of(self, sizes: Vector) -> Vector:
        """Return the probabilities of answers of these sizes."""
        probabilities = np.minimum(1.0, self.left * sizes / self.total)
        return np.where(sizes >= self.least_certain, 1.0, probabilities)


def inclusion(sizes: SizeChunks, n: int) -> Inclusion:
    """Return the inclusion probabilities of a sample of n: n sizes / sum, at most 1.

    Answers that would exceed 1 are certain, and the others share the rest of the sample.

    Parameters
    ----------
    sizes
        The sizes of all answers, above 0.
    n
        The size of the sample.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model assisted survey sampling, 3.6.2.
    """
    if n >= sum(map(len, sizes())):
        return Inclusion(0.0, 0, 1.0)
    least_certain = inf
    while True:
        certain, sums = 0, []
        for chunk in sizes():
            uncertain = chunk[chunk < least_certain]
            certain += len(chunk) - len(uncertain)
            sums.append(float(uncertain.sum()))
        left, total = n - certain, fsum(sums)
        beyond = inf
        for chunk in sizes():
            over = chunk[(chunk < least_certain) & (left * chunk / total > 1)]
            beyond = min(beyond, float(over.min(initial=inf)))
        if beyond == inf:
            return Inclusion(least_certain, left, total)
        least_certain = beyond


def drawn(sizes: Vector, uniform: Vector, n: int) -> list[int]:
    """Return the places of n answers, in the order of the queue of labels.

    Parameters
    ----------
    sizes
        [N], above 0.
    uniform
        [N], in (0, 1): a number for each answer, drawn once and never again.

    References
    ----------
    Ohlsson (1998), Sequential Poisson sampling, Journal of Official Statistics 14.
    """
    order = np.argsort(uniform / sizes, kind="stable")
    return [int(place) for place in order[:n]]


def shares_of_groups(sizes: Sequence[int], n: int) -> list[int]:
    """Return the number of n labels for each group: equal numbers, small groups whole.

    Examples
    --------
    >>> shares_of_groups([100, 3], 20)
    [17, 3]
    """
    shares = [0] * len(sizes)
    left, open_ = min(n, sum(sizes)), [place for place, size in enumerate(sizes) if size]
    while left and open_:
        share, more = divmod(left, len(open_))
        for turn, place in enumerate(open_):
            added = min(share + (turn < more), sizes[place] - shares[place])
            shares[place] += added
            left -= added
        open_ = [place for place in open_ if shares[place] < sizes[place]]
    return shares


POWER = 0.8


@dataclass(frozen=True)
class PlannedLabels:
    """Precision to expect from a number of labels of each of two groups."""

    labels_of_a_group: int
    correlation: float
    """Correlation of labels and readings; 0 is labels alone."""
    half_width: float
    """Half of the interval of a gap of two groups, in the unit of the labels."""
    smallest_gap: float
    """The gap that is detected four times in five."""


def planned_labels(
    spread: float, answers: int, labels: int, correlation: float, alpha: float
) -> PlannedLabels:
    """Return the precision to expect from labels of two groups, before any is made.

    The variance of a corrected mean is s^2 (1 - r^2) / n + s^2 r^2 / N, with n of N answers
    labelled, as in prediction-powered inference with the best tuning.

    Parameters
    ----------
    spread
        Standard deviation of labels within a group; before there are any, that of readings.
    answers, labels
        Answers N and labels n of each group, at least 1.
    correlation
        Correlation of labels and readings, from 0 to 1.
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
    """Return the one-sided width of a corrected mean's interval where labels hardly vary.

    As a share of the scale, at most 1. Labels that all agree do not show that the others do: each
    labelled answer represents answers / labels others, and the mean over prompts, which could each
    be off by that much, is known to within their Clopper-Pearson limit.

    Parameters
    ----------
    answers, units, labels
        Answers of each group, their prompts, and labels; at least 1.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Clopper and Pearson (1934), mid-p; Gaffke (2005), as `bounded_mean` has it.
    """
    check_alpha(alpha)
    n = min(labels, answers)
    return float(min(1.0, answers / n * (1 - alpha ** (1 / units))))


def labels_needed(share: float, answers: int, units: int, alpha: float) -> int | None:
    """Return the least number of labels of a group with a `widest_share` of at most this share.

    None where not even labels of all answers are enough: it takes more prompts.
    """
    if widest_share(answers, units, answers, alpha) > share:
        return None
    return min(answers, ceil(answers * float(1 - alpha ** (1 / units)) / share))


def units_needed(share: float, labelled_share: float, alpha: float) -> int:
    """Return the least number of prompts of a group with a `widest_share` of at most this share.

    Parameters
    ----------
    share
        Share of the scale, in (0, 1).
    labelled_share
        Share of the answers that are labelled, in (0, 1], also with more prompts.
    alpha
        1 minus the coverage, in (0, 1).
    """
    check_alpha(alpha)
    return ceil(log(alpha) / log1p(-share * labelled_share))
